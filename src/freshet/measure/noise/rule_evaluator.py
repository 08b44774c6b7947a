"""Try mask rules on the looks at a page."""

from collections.abc import Sequence

from freshet.core.types import DomRows
from freshet.measure.noise.learning_limits import WorkBudget
from freshet.measure.noise.mask import Mask, hidden_spans
from freshet.measure.noise.mask_pattern import TextSpan
from freshet.measure.noise.observed_looks import NoiseLook, burst_indices
from freshet.measure.noise.page_lines import hidden_lines
from freshet.measure.noise.persistence import (
    LASTING_BURSTS,
    ShownTexts,
    lasting_texts,
    returning_texts,
)

MAX_HIDDEN_SHARE = 0.5


class RuleEvaluator:
    """The looks on which rules are tried, and the work that may still be done."""

    def __init__(self, looks: Sequence[NoiseLook]) -> None:
        self.looks = looks
        self.bursts = burst_indices(looks)
        self._texts = [_lines(look) for look in looks]
        self._lines = [self._texts[look_indices[0]] for look_indices in self.bursts]
        self._chars = sum(len(look.view.text) for look in looks)
        self._work = WorkBudget()
        self._hidden: dict[Mask, list[frozenset[str]]] = {}

    @property
    def doms(self) -> list[DomRows]:
        """Return the DOM rows of the looks that have any."""
        return [look.view.dom for look in self.looks if look.view.dom is not None]

    def hides_lasting_text(self, mask: Mask) -> bool:
        """Return whether a mask hides any text that stayed on the page."""
        return bool(self.lasting_lines(mask))

    def lasting_lines(
        self, mask: Mask, *, only_new: bool = False, min_bursts: int = LASTING_BURSTS
    ) -> list[str]:
        """Return hidden lines that stayed on the page; only new ones with ``only_new``.

        A text that stays may move, so it counts anywhere on the page.
        """
        return lasting_texts(
            *self._hidden_and_shown(mask), only_new=only_new, min_bursts=min_bursts
        )

    def returning_lines(self, mask: Mask) -> list[str]:
        """Return hidden lines of a rotating choice that came and went, and did not stay."""
        return returning_texts(*self._hidden_and_shown(mask))

    def _hidden_and_shown(self, mask: Mask) -> tuple[frozenset[str], ShownTexts]:
        """Return all lines that a mask hides, and the lines of the page at each burst."""
        hidden_texts = [
            frozenset(self.hidden_lines(mask, look_indices[0])) for look_indices in self.bursts
        ]
        shown = [lines | texts for lines, texts in zip(self._lines, hidden_texts, strict=True)]
        return frozenset().union(*hidden_texts), shown

    def hidden_lines(self, mask: Mask, look_index: int) -> list[str]:
        """Return the lines that a mask hides at a look."""
        return hidden_lines(self.looks[look_index].view, mask)

    def leaves_visible(self, text: str, mask: Mask) -> bool:
        """Return whether a mask leaves a line visible at any look that has it."""
        hidden_texts = self._hidden_texts(mask)
        return any(
            text in texts and text not in hidden_texts[look_index]
            for look_index, texts in enumerate(self._texts)
        )

    def _hidden_texts(self, mask: Mask) -> list[frozenset[str]]:
        """Return the lines that a mask hides at each look; the last mask's are cached."""
        if mask not in self._hidden:
            self.spend_work()
            look_indices = range(len(self.looks))
            self._hidden = {
                mask: [
                    frozenset(self.hidden_lines(mask, look_index)) for look_index in look_indices
                ]
            }
        return self._hidden[mask]

    @property
    def is_exhausted(self) -> bool:
        """Whether the work limit of learning one mask is reached."""
        return self._work.is_exhausted

    def spend_work(self, chars: int | None = None, *, passes: int = 1) -> None:
        """Count the work of reading some characters, by default those of all looks."""
        self._work.spend(passes * (self._chars if chars is None else chars))

    def hides_most(self, mask: Mask) -> bool:
        """Return whether a mask hides most of the text of any look."""
        return any(
            sum(end - start for start, end in hidden_spans(look.view, mask))
            > MAX_HIDDEN_SHARE * len(look.view.text)
            for look in self.looks
        )

    def masks_overlap(self, first: Mask, second: Mask) -> bool:
        """Return whether two masks hide any of the same text."""
        return bool(first.rules and second.rules) and any(
            _spans_overlap(hidden_spans(look.view, first), hidden_spans(look.view, second))
            for look in self.looks
        )


def _spans_overlap(first: Sequence[TextSpan], second: Sequence[TextSpan]) -> bool:
    """Return whether any span of the first list overlaps one of the second."""
    edges = sorted([
        *((start, end, 0) for start, end in first),
        *((start, end, 1) for start, end in second),
    ])
    reach = [-1, -1]
    for start, end, kind in edges:
        if start < reach[1 - kind]:
            return True
        reach[kind] = max(reach[kind], end)
    return False


def _lines(look: NoiseLook) -> frozenset[str]:
    return frozenset(line.strip() for line in look.view.text.split("\n"))
