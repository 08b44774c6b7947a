"""Find texts that stay on a page for several bursts in a row, which are no noise."""

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
"""The texts that each burst of looks showed."""


def text_runs(text: str, shown: ShownTexts) -> BurstRuns:
    """Return the runs of bursts that show a text, each as its start and its length.

    >>> text_runs("a", [frozenset("a"), frozenset("a"), frozenset(), frozenset("a")])
    [(0, 2), (3, 1)]
    """
    runs: BurstRuns = []
    for burst_index, texts in enumerate(shown):
        if text not in texts:
            continue
        if runs and sum(runs[-1]) == burst_index:
            runs[-1] = runs[-1][0], runs[-1][1] + 1
        else:
            runs.append((burst_index, 1))
    return runs


def lasting_texts(
    texts: frozenset[str],
    shown: ShownTexts,
    *,
    only_new: bool = False,
    min_bursts: int = LASTING_BURSTS,
) -> list[str]:
    """Return the texts that stayed for a minimum number of bursts.

    ``only_new`` leaves out texts that stayed from the first burst on.

    >>> lasting_texts(frozenset("a"), [frozenset("ab"), frozenset("a"), frozenset("ac")])
    ['a']
    """
    runs = {text: text_runs(text, shown) for text in sorted(texts)}
    is_rotating = (
        sum(len(text_run_list) > 1 for text_run_list in runs.values()) >= MIN_RETURNING_TEXTS
    )
    all_runs = _RunCount.of([
        length for text_run_list in runs.values() for _, length in text_run_list
    ])

    def stayed(runs: BurstRuns) -> bool:
        needed = max(min_bursts, _min_lasting_bursts(runs, all_runs, rotating=is_rotating))
        return any(length >= needed and (start > 0 or not only_new) for start, length in runs)

    return [text for text, text_run_list in runs.items() if stayed(text_run_list)]


@dataclass(frozen=True, slots=True)
class _RunCount:
    """The number of runs, and their total length in bursts."""

    runs: int
    bursts: int

    @staticmethod
    def of(lengths: Sequence[int]) -> "_RunCount":
        return _RunCount(len(lengths), sum(lengths))


def _min_lasting_bursts(runs: BurstRuns, all_runs: _RunCount, *, rotating: bool) -> int:
    """Return for how many bursts a text must be present to count as one that stays.

    In a rotating choice a text can stay for a while by chance. The other texts tell how long that
    is likely.
    """
    if not rotating:
        return LASTING_BURSTS if len(runs) == 1 else LASTING_BURSTS_IN_ROTATION
    own_runs = _RunCount.of([length for _, length in runs])
    other_runs, other_bursts = all_runs.runs - own_runs.runs, all_runs.bursts - own_runs.bursts
    repeat_probability = (other_bursts - other_runs) / max(other_bursts, 1)
    bursts_by_chance = (
        log(CHANCE_LEVEL / other_runs) / log(repeat_probability)
        if 0 < repeat_probability < 1 and other_runs
        else 0.0
    )
    return min(max(LASTING_BURSTS_IN_ROTATION, ceil(bursts_by_chance) + 1), MAX_BURSTS_BY_CHANCE)
