"""What the looks at a page showed, the first of each round, to try rules on."""

from collections.abc import Sequence

from freshet.core.types import DomRows
from freshet.measure.noise.learning_limits import WorkBudget
from freshet.measure.noise.mask import Mask, hidden_spans
from freshet.measure.noise.mask_pattern import TextSpan
from freshet.measure.noise.observed_looks import NoiseLook, burst_indices
from freshet.measure.noise.page_lines import hidden_lines
from freshet.measure.noise.persistence import LASTING_BURSTS, lasting_texts

MAX_HIDDEN_SHARE = 0.5


class RuleEvaluator:
    """The looks that a rule is tried on."""

    def __init__(self, looks: Sequence[NoiseLook]) -> None:
        self.looks = looks
        self.bursts = burst_indices(looks)
        self._texts = [_lines(look) for look in looks]
        self._lines = [self._texts[places[0]] for places in self.bursts]
        self._chars = sum(len(look.view.text) for look in looks)
        self._work = WorkBudget()
        self._hidden: dict[Mask, list[frozenset[str]]] = {}

    @property
    def doms(self) -> list[DomRows]:
        """Return the DOM rows of the looks that have any."""
        return [look.view.dom for look in self.looks if look.view.dom is not None]

    def hides_lasting_text(self, mask: Mask) -> bool:
        """Say whether anything that a mask hides stayed on the page."""
        return bool(self.lasting_lines(mask))

    def lasting_lines(
        self, mask: Mask, *, only_new: bool = False, min_bursts: int = LASTING_BURSTS
    ) -> list[str]:
        """Return what a mask hides and what stayed on the page; only what came, if ``only_new``.

        A text that stays may move about, so that it counts wherever on the page it is.
        """
        found = [frozenset(self.hidden_lines(mask, places[0])) for places in self.bursts]
        shown = [lines | texts for lines, texts in zip(self._lines, found, strict=True)]
        return lasting_texts(
            frozenset().union(*found), shown, only_new=only_new, min_bursts=min_bursts
        )

    def hidden_lines(self, mask: Mask, place: int) -> list[str]:
        """Return what a mask hides of a look, line by line."""
        return hidden_lines(self.looks[place].view, mask)

    def leaves_visible(self, text: str, mask: Mask) -> bool:
        """Say whether a mask leaves a line at any look that has it."""
        hidden_texts = self._hidden_texts(mask)
        return any(
            text in texts and text not in hidden_texts[place]
            for place, texts in enumerate(self._texts)
        )

    def _hidden_texts(self, mask: Mask) -> list[frozenset[str]]:
        """Return what a mask hides of every look; only that of the last mask is remembered."""
        if mask not in self._hidden:
            self.spend_work()
            places = range(len(self.looks))
            self._hidden = {mask: [frozenset(self.hidden_lines(mask, place)) for place in places]}
        return self._hidden[mask]

    @property
    def is_exhausted(self) -> bool:
        """Whether all the work is spent that learning one mask may take."""
        return self._work.is_exhausted

    def spend_work(self, chars: int | None = None, *, passes: int = 1) -> None:
        """Take off the work of going over some characters; over all looks unless said."""
        self._work.spend(passes * (self._chars if chars is None else chars))

    def hides_most(self, mask: Mask) -> bool:
        """Say whether a mask hides most of what any look showed."""
        return any(
            sum(end - start for start, end in hidden_spans(look.view, mask))
            > MAX_HIDDEN_SHARE * len(look.view.text)
            for look in self.looks
        )

    def masks_overlap(self, one: Mask, other: Mask) -> bool:
        """Say whether two masks hide any of the same text."""
        return bool(one.rules and other.rules) and any(
            _overlap(hidden_spans(look.view, one), hidden_spans(look.view, other))
            for look in self.looks
        )


def _overlap(some: Sequence[TextSpan], others: Sequence[TextSpan]) -> bool:
    """Say whether any span of one kind shares characters with one of the other kind."""
    edges = sorted([
        *((start, end, 0) for start, end in some),
        *((start, end, 1) for start, end in others),
    ])
    reach = [-1, -1]
    for start, end, kind in edges:
        if start < reach[1 - kind]:
            return True
        reach[kind] = max(reach[kind], end)
    return False


def _lines(look: NoiseLook) -> frozenset[str]:
    return frozenset(line.strip() for line in look.view.text.split("\n"))
