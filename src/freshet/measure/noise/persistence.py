"""Which texts stay: what was there at several rounds of looks on end is no noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log

LASTS = 3
LASTS_IN_ROTATION = 5
LONGEST_BY_CHANCE = 9
UNLIKELY = 0.01
FEWEST_RETURNS = 2

Runs = list[tuple[int, int]]
Shown = Sequence[frozenset[str]]
"""The texts that were there at each round of looks."""


def runs_of(text: str, shown: Shown) -> Runs:
    """Return from which round on a text was there, and for how many, each time that it came.

    >>> runs_of("a", [frozenset("a"), frozenset("a"), frozenset(), frozenset("a")])
    [(0, 2), (3, 1)]
    """
    runs: Runs = []
    for place, texts in enumerate(shown):
        if text not in texts:
            continue
        if runs and sum(runs[-1]) == place:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((place, 1))
    return runs


def lasting(
    texts: frozenset[str], shown: Shown, *, new: bool = False, least: int = LASTS
) -> list[str]:
    """Return those of some texts that stayed, for so many rounds at least.

    ``new`` asks only for what came after the first round.

    >>> lasting(frozenset("a"), [frozenset("ab"), frozenset("a"), frozenset("ac")])
    ['a']
    """
    runs = {text: runs_of(text, shown) for text in sorted(texts)}
    rotating = sum(len(each) > 1 for each in runs.values()) >= FEWEST_RETURNS
    every = _Stays.of([length for each in runs.values() for _, length in each])

    def stayed(runs: Runs) -> bool:
        needed = max(least, _too_long(runs, every, rotating=rotating))
        return any(length >= needed and (start > 0 or not new) for start, length in runs)

    return [text for text, each in runs.items() if stayed(each)]


@dataclass(frozen=True, slots=True)
class _Stays:
    """How many runs there are, and how many rounds they last together."""

    runs: int
    rounds: int

    @staticmethod
    def of(lengths: Sequence[int]) -> "_Stays":
        return _Stays(len(lengths), sum(lengths))


def _too_long(runs: Runs, every: _Stays, *, rotating: bool) -> int:
    """Return how many rounds a text must be there on end to be one that stays.

    Of a rotating choice some text stays for a while by chance, as does one that comes and goes: so
    long as the other texts' staying makes it likely.
    """
    if not rotating:
        return LASTS if len(runs) == 1 else LASTS_IN_ROTATION
    own = _Stays.of([length for _, length in runs])
    others, rounds = every.runs - own.runs, every.rounds - own.rounds
    again = (rounds - others) / max(rounds, 1)
    by_chance = log(UNLIKELY / others) / log(again) if 0 < again < 1 and others else 0.0
    return min(max(LASTS_IN_ROTATION, ceil(by_chance) + 1), LONGEST_BY_CHANCE)
