"""Blocks of a page: the range of nodes that belongs to each of several times.

The block of a time is the largest element that has no other time of the group. Where the posts are
not elements of their own (``dt`` and ``dd``, lines of ``pre``, comments in comments), the siblings
up to the next post belong to the block too.
"""

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from freshet.view.posts.page_nodes import PageNodes

_OUTERMOST = frozenset({"html", "body"})
_MAX_CLIMB = 60
_MAX_SIBLINGS = 400


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
    roots_of_parent = Counter(nodes.parents[root] for root in roots)
    gap_shapes = _common_gap_shapes(nodes, roots, roots_of_parent)
    blocks = []
    for time_node, root in zip(time_nodes, roots, strict=True):
        start, end = root, nodes.ends[root]
        parent = nodes.parents[root]
        if len(time_nodes) == 1:
            start, end = _whole_page(nodes, root)
        elif parent >= 0:
            if roots_of_parent[parent] > 1:
                end = _extend_flat(nodes, time_nodes, end, nodes.ends[parent], gap_shapes)
            elif nodes.tags[parent] not in _OUTERMOST:
                start, end = _extend_around(nodes, time_nodes, root)
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


def _common_gap_shapes(
    nodes: PageNodes, roots: Sequence[int], roots_of_parent: Counter[int]
) -> frozenset[str]:
    """Return the shapes of siblings that follow most of the blocks.

    A separator or an advertisement after every tenth post is not among them.
    """
    counts: Counter[str] = Counter()
    gaps = 0
    for root, next_root in itertools.pairwise(roots):
        parent = nodes.parents[root]
        if parent == nodes.parents[next_root] and roots_of_parent[parent] > 1:
            gaps += 1
            counts.update(set(_sibling_shapes(nodes, nodes.ends[root], next_root)))
    return frozenset(shape for shape, count in counts.items() if 5 * count >= 3 * gaps)


def _sibling_shapes(nodes: PageNodes, start: int, end: int) -> list[str]:
    shapes: list[str] = []
    while start < end and len(shapes) < _MAX_SIBLINGS:
        shapes.append(nodes.shapes[start])
        start = nodes.ends[start]
    return shapes


def _extend_flat(
    nodes: PageNodes,
    time_nodes: Sequence[int],
    start: int,
    limit: int,
    gap_shapes: frozenset[str],
) -> int:
    """Return the end of the siblings from ``start`` up to the next time, if they are common."""
    if not gap_shapes:
        return start
    sibling, end = start, start
    while sibling < limit and not _count_within(time_nodes, sibling, nodes.ends[sibling]):
        if nodes.shapes[sibling] in gap_shapes:
            end = nodes.ends[sibling]
        sibling = nodes.ends[sibling]
    return end


def _extend_around(nodes: PageNodes, time_nodes: Sequence[int], root: int) -> tuple[int, int]:
    """Return the range of siblings around a block up to those with other times."""
    parent = nodes.parents[root]
    start, child = root, parent + 1
    run_start = child
    while child < root:
        has_time = _count_within(time_nodes, child, nodes.ends[child]) > 0
        child = nodes.ends[child]
        run_start = child if has_time else run_start
    start, end = run_start, nodes.ends[root]
    while end < nodes.ends[parent] and not _count_within(time_nodes, end, nodes.ends[end]):
        end = nodes.ends[end]
    return start, end
