"""Find texts that stay on a page for several bursts in a row, and therefore are not noise."""

from collections.abc import Mapping, Sequence
from math import ceil, log

LASTING_BURSTS = 3
LASTING_BURSTS_IN_ROTATION = 5
MAX_BURSTS_BY_CHANCE = 9
# A mask is checked every few looks, so the probability of an error must be small in one check.
CHANCE_LEVEL = 0.001
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
    runs_by_text = {text: text_runs(text, shown) for text in sorted(texts)}
    is_rotating = _is_rotation(runs_by_text)
    run_count = sum(map(len, runs_by_text.values()))
    burst_count = sum(length for runs in runs_by_text.values() for _, length in runs)

    def stayed(runs: BurstRuns) -> bool:
        needed = LASTING_BURSTS if len(runs) == 1 else LASTING_BURSTS_IN_ROTATION
        if is_rotating:
            other_bursts = burst_count - sum(length for _, length in runs)
            needed = _min_bursts_in_rotation(run_count - len(runs), other_bursts)
        needed = max(needed, min_bursts)
        return any(length >= needed and (start > 0 or not only_new) for start, length in runs)

    return [text for text, runs in runs_by_text.items() if stayed(runs)]


def returning_texts(texts: frozenset[str], shown: ShownTexts) -> list[str]:
    """Return the texts of a rotating choice that came and went, and stayed at no time.

    >>> returning_texts(frozenset("abc"), [*map(frozenset, ("ac", "b", "a", "b"))])
    ['a', 'b']
    """
    runs_by_text = {text: text_runs(text, shown) for text in sorted(texts)}
    if not _is_rotation(runs_by_text):
        return []
    lasting = lasting_texts(texts, shown)
    return [text for text, runs in runs_by_text.items() if len(runs) > 1 and text not in lasting]


def _is_rotation(runs_by_text: Mapping[str, BurstRuns]) -> bool:
    """Return whether several texts disappear and return."""
    return sum(len(runs) > 1 for runs in runs_by_text.values()) >= MIN_RETURNING_TEXTS


def _min_bursts_in_rotation(other_runs: int, other_bursts: int) -> int:
    """Return for how many bursts a text must be present to count as one that stays.

    In a rotating choice a text can stay for a while by chance. The number of runs of the other
    texts, and their length in bursts, give the probability of that.
    """
    repeat_probability = (other_bursts - other_runs) / max(other_bursts, 1)
    bursts_by_chance = 0
    if 0 < repeat_probability < 1 and other_runs:
        bursts_by_chance = ceil(log(CHANCE_LEVEL / other_runs) / log(repeat_probability))
    return min(max(LASTING_BURSTS_IN_ROTATION, bursts_by_chance + 1), MAX_BURSTS_BY_CHANCE)
