"""Which runs of two sequences are the same, in time that stays near their length.

Patience matching: what occurs once on both sides is an anchor, the longest rising chain of anchors
is kept, and the gaps between them are matched again. Only small gaps without an anchor go to
difflib, whose time grows with the square of the length or worse.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_DEPTH = 10
_SMALL = 20_000


@dataclass(frozen=True, slots=True)
class SequenceGap:
    """A stretch of both sequences, as half-open ranges; ``depth`` counts how often it was cut."""

    a: int
    a_end: int
    b: int
    b_end: int
    depth: int = 0


IndexPair = tuple[int, int]


def match_sequences(a: Sequence[str], b: Sequence[str]) -> list[IndexPair]:
    """Return the places (i, j) with a[i] = b[j] that stay in order, rising on both sides.

    >>> match_sequences(["x", "a", "b"], ["a", "b", "c"])
    [(1, 0), (2, 1)]
    """
    pairs: list[IndexPair] = []
    gaps = [SequenceGap(0, len(a), 0, len(b))]
    while gaps:
        found, narrower = _match_ends(a, b, gaps.pop())
        pairs += found
        anchors = _anchors(a, b, narrower)
        if anchors:
            pairs += anchors
            gaps += _between(anchors, narrower)
        else:
            pairs += _match_small(a, b, narrower)
    return sorted(pairs)


def _match_ends(
    a: Sequence[str], b: Sequence[str], gap: SequenceGap
) -> tuple[list[IndexPair], SequenceGap]:
    """Match what both begin and end with, and return the gap that is left."""
    room = min(gap.a_end - gap.a, gap.b_end - gap.b)
    head = 0
    while head < room and a[gap.a + head] == b[gap.b + head]:
        head += 1
    tail = 0
    while tail < room - head and a[gap.a_end - tail - 1] == b[gap.b_end - tail - 1]:
        tail += 1
    pairs = [(gap.a + step, gap.b + step) for step in range(head)]
    pairs += [(gap.a_end - step, gap.b_end - step) for step in range(1, tail + 1)]
    return pairs, SequenceGap(
        gap.a + head, gap.a_end - tail, gap.b + head, gap.b_end - tail, gap.depth
    )


def _anchors(a: Sequence[str], b: Sequence[str], gap: SequenceGap) -> list[IndexPair]:
    """Return the longest rising chain of what occurs once on either side of a gap."""
    if gap.depth >= _DEPTH or gap.a == gap.a_end or gap.b == gap.b_end:
        return []
    once_in_a = _once(a, gap.a, gap.a_end)
    once_in_b = _once(b, gap.b, gap.b_end)
    shared = [(i, once_in_b[item]) for item, i in once_in_a.items() if item in once_in_b]
    return _longest_rising(sorted(shared))


def _once(items: Sequence[str], start: int, end: int) -> dict[str, int]:
    counts = Counter(items[start:end])
    return {items[i]: i for i in range(start, end) if counts[items[i]] == 1}


def _longest_rising(pairs: list[IndexPair]) -> list[IndexPair]:
    """Return the longest run of pairs whose second places rise too, by patience sorting."""
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for place, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        before.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [j]
        top_pairs[pile : pile + 1] = [place]
    chain = []
    place = top_pairs[-1] if top_pairs else -1
    while place >= 0:
        chain.append(pairs[place])
        place = before[place]
    return chain[::-1]


def _between(anchors: list[IndexPair], gap: SequenceGap) -> Iterator[SequenceGap]:
    a, b = gap.a, gap.b
    for i, j in [*anchors, (gap.a_end, gap.b_end)]:
        if i > a and j > b:
            yield SequenceGap(a, i, b, j, gap.depth + 1)
        a, b = i + 1, j + 1


def _match_small(a: Sequence[str], b: Sequence[str], gap: SequenceGap) -> Iterator[IndexPair]:
    if (gap.a_end - gap.a) * (gap.b_end - gap.b) > _SMALL:
        return
    matcher = SequenceMatcher(None, a[gap.a : gap.a_end], b[gap.b : gap.b_end], autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            yield gap.a + block.a + step, gap.b + block.b + step
