"""What the looks at a page showed, the first of each round, to try rules on."""

from collections.abc import Sequence

from freshet.core.types import DomRows
from freshet.measure.mask import Mask, hidden
from freshet.measure.noise.lasting import LASTS, lasting
from freshet.measure.noise.lines import hidden_lines
from freshet.measure.noise.looks import Look, rounds_of

LARGEST_HIDDEN = 0.5


class Past:
    """The looks that a rule is tried on."""

    def __init__(self, looks: Sequence[Look]) -> None:
        self.looks = looks
        self.rounds = rounds_of(looks)
        self._lines = [_lines(looks[places[0]]) for places in self.rounds]

    @property
    def doms(self) -> list[DomRows]:
        """Return the DOM rows of the looks that have any."""
        return [look.view.dom for look in self.looks if look.view.dom is not None]

    def stays(self, mask: Mask) -> bool:
        """Say whether anything that a mask hides stayed on the page."""
        return bool(self.lasting(mask))

    def lasting(self, mask: Mask, *, new: bool = False, least: int = LASTS) -> list[str]:
        """Return what a mask hides and what stayed on the page; only what came, if ``new``.

        A text that stays may move about, so that it counts wherever on the page it is.
        """
        found = [frozenset(self.hidden_lines(mask, places[0])) for places in self.rounds]
        shown = [lines | texts for lines, texts in zip(self._lines, found, strict=True)]
        return lasting(frozenset().union(*found), shown, new=new, least=least)

    def hidden_lines(self, mask: Mask, place: int) -> list[str]:
        """Return what a mask hides of a look, line by line."""
        return hidden_lines(self.looks[place].view, mask)

    def shows(self, text: str, mask: Mask) -> bool:
        """Say whether a mask leaves a line at any look that has it."""
        return any(
            text in _lines(look) and text not in self.hidden_lines(mask, place)
            for place, look in enumerate(self.looks)
        )

    def is_most(self, mask: Mask) -> bool:
        """Say whether a mask hides most of what any look showed."""
        return any(
            sum(end - start for start, end in hidden(look.view, mask))
            > LARGEST_HIDDEN * len(look.view.text)
            for look in self.looks
        )

    def overlap(self, one: Mask, other: Mask) -> bool:
        """Say whether two masks hide any of the same text."""
        return bool(one.rules and other.rules) and any(
            start < last and first < end
            for look in self.looks
            for start, end in hidden(look.view, one)
            for first, last in hidden(look.view, other)
        )


def _lines(look: Look) -> frozenset[str]:
    return frozenset(line.strip() for line in look.view.text.split("\n"))
