"""Which texts stay: what was there at several rounds of looks on end is no noise."""

from collections.abc import Sequence
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
    every = list(runs.values())
    return [
        text
        for text, each in runs.items()
        if any(
            length >= max(least, _too_long(each, every, rotating=rotating))
            and (start > 0 or not new)
            for start, length in each
        )
    ]


def _too_long(runs: Runs, all_runs: Sequence[Runs], *, rotating: bool) -> int:
    """Return how many rounds a text must be there on end to be one that stays.

    Of a rotating choice some text stays for a while by chance, as does one that comes and goes: so
    long as the other texts' staying makes it likely.
    """
    if not rotating:
        return LASTS if len(runs) == 1 else LASTS_IN_ROTATION
    others = [length for each in all_runs if each is not runs for _, length in each]
    again = sum(length - 1 for length in others) / max(sum(others), 1)
    by_chance = log(UNLIKELY / len(others)) / log(again) if 0 < again < 1 and others else 0.0
    return min(max(LASTS_IN_ROTATION, ceil(by_chance) + 1), LONGEST_BY_CHANCE)
