"""Blocks of a page: the range of nodes that belongs to each of several times.

The block of a time is the largest element that has no other time of the group. Where the posts are
not elements of their own (``dt`` and ``dd``, lines of ``pre``, comments in comments), the siblings
up to the next post belong to the block too.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from freshet.view.posts.page_nodes import PageNodes

_OUTERMOST = frozenset({"html", "body"})
_MAX_CLIMB = 60
_MAX_SIBLINGS, _MAX_LEAD_IN, _GAPS_COMPARED = 400, 12, 3


@dataclass(frozen=True, slots=True)
class PostBlock:
    """The nodes of a post, and the node of its time; ``root`` is the element of the block."""

    start: int
    end: int
    time_node: int
    root: int


def find_blocks(nodes: PageNodes, time_nodes: Sequence[int]) -> list[PostBlock]:
    """Return the block of each time; the times are in document order."""
    roots = [_largest_alone(nodes, time_nodes, node) for node in time_nodes]
    if len(roots) == 1:
        return [PostBlock(*_whole_page(nodes, roots[0]), time_nodes[0], roots[0])]
    ranges = _FlatRuns(nodes, time_nodes, roots).ranges()
    blocks = []
    for time_node, root in zip(time_nodes, roots, strict=True):
        start, end = ranges.get(root) or _around(nodes, time_nodes, root)
        blocks.append(PostBlock(start, end, time_node, root))
    return blocks


def _whole_page(nodes: PageNodes, root: int) -> tuple[int, int]:
    """Return the range of the main part of a page, or else of its body."""
    if nodes.tags[root] in {"article", "main"}:
        return root, nodes.ends[root]
    outermost = [node for node in nodes.ancestors(root) if nodes.tags[node] == "body"]
    return (outermost[0] + 1, nodes.ends[outermost[0]]) if outermost else (root, nodes.ends[root])


def _count_within(time_nodes: Sequence[int], start: int, end: int) -> int:
    return bisect_left(time_nodes, end) - bisect_left(time_nodes, start)


def _largest_alone(nodes: PageNodes, time_nodes: Sequence[int], node: int) -> int:
    """Return the largest element that has this time and no other."""
    root = node
    for ancestor in nodes.ancestors(node, limit=_MAX_CLIMB):
        if nodes.tags[ancestor] in _OUTERMOST:
            break
        if _count_within(time_nodes, ancestor, nodes.ends[ancestor]) > 1:
            break
        root = ancestor
    return root


class _FlatRuns:
    """Runs of blocks that are siblings of one shape, with the siblings that belong to each.

    What stands before the first time in the same shapes as before the second leads in every block,
    such as a name above a date. Of what follows a time, only shapes that follow most of the times
    belong to its block: an advertisement after every tenth post does not.
    """

    def __init__(self, nodes: PageNodes, time_nodes: Sequence[int], roots: Sequence[int]) -> None:
        self._nodes = nodes
        self._time_nodes = time_nodes
        self._runs: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
        for root in roots:
            self._runs[nodes.parents[root], nodes.shapes[root]].append(root)

    def ranges(self) -> dict[int, tuple[int, int]]:
        """Return the range of nodes of each root that is in a run of two or more."""
        ranges: dict[int, tuple[int, int]] = {}
        for (parent, _), run in self._runs.items():
            if len(run) > 1 and parent >= 0:
                ranges.update(self._run_ranges(parent, run))
        return ranges

    def _run_ranges(self, parent: int, run: list[int]) -> Iterator[tuple[int, tuple[int, int]]]:
        nodes = self._nodes
        gap_edges = [
            (parent + 1, run[0]),
            *((nodes.ends[root], next_root) for root, next_root in pairwise(run)),
            (nodes.ends[run[-1]], nodes.ends[parent]),
        ]
        gaps = [self._siblings(start, end) for start, end in gap_edges]
        leads = [self._after_last_time(gap) for gap in gaps]
        lead_count = self._common_tail(leads[0], leads[1 : 1 + _GAPS_COMPARED][: len(run) - 1])
        tails = [self._before_first_time(gap[: len(gap) - lead_count]) for gap in gaps[1:-1]]
        common = self._common_shapes(tails)
        tails.append(self._before_first_time(gaps[-1]))
        for root, lead, tail in zip(run, leads, tails, strict=False):
            ends = [nodes.ends[node] for node in tail if nodes.shapes[node] in common]
            start = lead[-min(lead_count, len(lead))] if lead_count and lead else root
            yield root, (start, max(ends, default=nodes.ends[root]))

    def _has_time(self, node: int) -> bool:
        return _count_within(self._time_nodes, node, self._nodes.ends[node]) > 0

    def _before_first_time(self, siblings: list[int]) -> list[int]:
        return list(takewhile(lambda node: not self._has_time(node), siblings))

    def _after_last_time(self, siblings: list[int]) -> list[int]:
        return self._before_first_time(siblings[::-1])[::-1]

    def _siblings(self, start: int, end: int) -> list[int]:
        """Return the nodes from one sibling to another."""
        siblings: list[int] = []
        while start < end and len(siblings) < _MAX_SIBLINGS:
            siblings.append(start)
            start = self._nodes.ends[start]
        return siblings

    def _common_tail(self, lead_in: list[int], gaps: list[list[int]]) -> int:
        """Return how many siblings before the first time are as before the next ones."""
        shapes, count = self._nodes.shapes, min(len(lead_in), _MAX_LEAD_IN)
        for gap in gaps:
            pairs = zip(reversed(lead_in[-count:] if count else []), reversed(gap), strict=False)
            same = [shapes[first] == shapes[other] for first, other in pairs]
            count = same.index(False) if False in same else len(same)
        return count

    def _common_shapes(self, tails: list[list[int]]) -> frozenset[str]:
        """Return the shapes of siblings that follow most of the blocks."""
        counts: Counter[str] = Counter()
        for tail in tails:
            counts.update({self._nodes.shapes[node] for node in tail})
        return frozenset(shape for shape, count in counts.items() if 5 * count >= 3 * len(tails))


def _around(nodes: PageNodes, time_nodes: Sequence[int], root: int) -> tuple[int, int]:
    """Return the range from a block to the next sibling with a time.

    The first block of a parent begins where the parent does.
    """
    parent = nodes.parents[root]
    if parent < 0 or nodes.tags[parent] in _OUTERMOST:
        return root, nodes.ends[root]
    start = root if _count_within(time_nodes, parent + 1, root) else parent + 1
    end = nodes.ends[root]
    while end < nodes.ends[parent] and not _count_within(time_nodes, end, nodes.ends[end]):
        end = nodes.ends[end]
    return start, end
