"""Which texts stay: what was there at several rounds of looks on end is no noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log

LASTING_BURSTS = 3
LASTING_BURSTS_IN_ROTATION = 5
MAX_BURSTS_BY_CHANCE = 9
CHANCE_LEVEL = 0.01
MIN_RETURNING_TEXTS = 2

BurstRuns = list[tuple[int, int]]
ShownTexts = Sequence[frozenset[str]]
"""The texts that were there at each round of looks."""


def text_runs(text: str, shown: ShownTexts) -> BurstRuns:
    """Return from which round on a text was there, and for how many, each time that it came.

    >>> text_runs("a", [frozenset("a"), frozenset("a"), frozenset(), frozenset("a")])
    [(0, 2), (3, 1)]
    """
    runs: BurstRuns = []
    for place, texts in enumerate(shown):
        if text not in texts:
            continue
        if runs and sum(runs[-1]) == place:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((place, 1))
    return runs


def lasting_texts(
    texts: frozenset[str],
    shown: ShownTexts,
    *,
    only_new: bool = False,
    min_bursts: int = LASTING_BURSTS,
) -> list[str]:
    """Return those of some texts that stayed, for so many rounds at least.

    ``only_new`` asks only for what came after the first round.

    >>> lasting_texts(frozenset("a"), [frozenset("ab"), frozenset("a"), frozenset("ac")])
    ['a']
    """
    runs = {text: text_runs(text, shown) for text in sorted(texts)}
    rotating = sum(len(each) > 1 for each in runs.values()) >= MIN_RETURNING_TEXTS
    every = _RunTotals.of([length for each in runs.values() for _, length in each])

    def stayed(runs: BurstRuns) -> bool:
        needed = max(min_bursts, _too_long(runs, every, rotating=rotating))
        return any(length >= needed and (start > 0 or not only_new) for start, length in runs)

    return [text for text, each in runs.items() if stayed(each)]


@dataclass(frozen=True, slots=True)
class _RunTotals:
    """How many runs there are, and how many rounds they last together."""

    runs: int
    rounds: int

    @staticmethod
    def of(lengths: Sequence[int]) -> "_RunTotals":
        return _RunTotals(len(lengths), sum(lengths))


def _too_long(runs: BurstRuns, every: _RunTotals, *, rotating: bool) -> int:
    """Return how many rounds a text must be there on end to be one that stays.

    Of a rotating choice some text stays for a while by chance, as does one that comes and goes: so
    long as the other texts' staying makes it likely.
    """
    if not rotating:
        return LASTING_BURSTS if len(runs) == 1 else LASTING_BURSTS_IN_ROTATION
    own = _RunTotals.of([length for _, length in runs])
    others, rounds = every.runs - own.runs, every.rounds - own.rounds
    again = (rounds - others) / max(rounds, 1)
    by_chance = log(CHANCE_LEVEL / others) / log(again) if 0 < again < 1 and others else 0.0
    return min(max(LASTING_BURSTS_IN_ROTATION, ceil(by_chance) + 1), MAX_BURSTS_BY_CHANCE)
