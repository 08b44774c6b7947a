"""Match the equal items of two sequences in nearly linear time.

Patience matching: an item that occurs once on both sides is an anchor. The longest increasing chain
of anchors is matched, and the gaps between the anchors are matched in the same way. Only small gaps
without an anchor go to difflib, whose time is quadratic or worse.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_MAX_DEPTH = 10
_MAX_SMALL_GAP = 20_000


@dataclass(frozen=True, slots=True)
class SequenceGap:
    """Unmatched ranges of both sequences, half open; ``depth`` is the depth of recursion."""

    a: int
    a_end: int
    b: int
    b_end: int
    depth: int = 0


IndexPair = tuple[int, int]


def match_sequences(a: Sequence[str], b: Sequence[str]) -> list[IndexPair]:
    """Return the index pairs (i, j) with a[i] = b[j], increasing in both sequences.

    >>> match_sequences(["x", "a", "b"], ["a", "b", "c"])
    [(1, 0), (2, 1)]
    """
    pairs: list[IndexPair] = []
    gaps = [SequenceGap(0, len(a), 0, len(b))]
    while gaps:
        end_pairs, inner_gap = _match_ends(a, b, gaps.pop())
        pairs += end_pairs
        anchors = _anchors(a, b, inner_gap)
        if anchors:
            pairs += anchors
            gaps += _gaps_between(anchors, inner_gap)
        else:
            pairs += _match_small_gap(a, b, inner_gap)
    return sorted(pairs)


def _match_ends(
    a: Sequence[str], b: Sequence[str], gap: SequenceGap
) -> tuple[list[IndexPair], SequenceGap]:
    """Match the common start and end of both ranges, and return the gap between them."""
    shortest = min(gap.a_end - gap.a, gap.b_end - gap.b)
    head = 0
    while head < shortest and a[gap.a + head] == b[gap.b + head]:
        head += 1
    tail = 0
    while tail < shortest - head and a[gap.a_end - tail - 1] == b[gap.b_end - tail - 1]:
        tail += 1
    pairs = [(gap.a + step, gap.b + step) for step in range(head)]
    pairs += [(gap.a_end - step, gap.b_end - step) for step in range(1, tail + 1)]
    return pairs, SequenceGap(
        gap.a + head, gap.a_end - tail, gap.b + head, gap.b_end - tail, gap.depth
    )


def _anchors(a: Sequence[str], b: Sequence[str], gap: SequenceGap) -> list[IndexPair]:
    """Return the longest increasing chain of items that occur once in both ranges."""
    if gap.depth >= _MAX_DEPTH or gap.a == gap.a_end or gap.b == gap.b_end:
        return []
    once_in_a = _unique_items(a, gap.a, gap.a_end)
    once_in_b = _unique_items(b, gap.b, gap.b_end)
    shared = [(i, once_in_b[item]) for item, i in once_in_a.items() if item in once_in_b]
    return _longest_increasing(sorted(shared))


def _unique_items(items: Sequence[str], start: int, end: int) -> dict[str, int]:
    counts = Counter(items[start:end])
    return {items[i]: i for i in range(start, end) if counts[items[i]] == 1}


def _longest_increasing(pairs: list[IndexPair]) -> list[IndexPair]:
    """Return the longest chain of pairs that increases in both indices (patience sorting)."""
    pile_values: list[int] = []
    pile_tops: list[int] = []
    predecessors: list[int] = []
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(pile_values, j)
        predecessors.append(pile_tops[pile - 1] if pile else -1)
        pile_values[pile : pile + 1] = [j]
        pile_tops[pile : pile + 1] = [index]
    chain = []
    index = pile_tops[-1] if pile_tops else -1
    while index >= 0:
        chain.append(pairs[index])
        index = predecessors[index]
    return chain[::-1]


def _gaps_between(anchors: list[IndexPair], gap: SequenceGap) -> Iterator[SequenceGap]:
    a, b = gap.a, gap.b
    for i, j in [*anchors, (gap.a_end, gap.b_end)]:
        if i > a and j > b:
            yield SequenceGap(a, i, b, j, gap.depth + 1)
        a, b = i + 1, j + 1


def _match_small_gap(a: Sequence[str], b: Sequence[str], gap: SequenceGap) -> Iterator[IndexPair]:
    if (gap.a_end - gap.a) * (gap.b_end - gap.b) > _MAX_SMALL_GAP:
        return
    matcher = SequenceMatcher(None, a[gap.a : gap.a_end], b[gap.b : gap.b_end], autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            yield gap.a + block.a + step, gap.b + block.b + step
