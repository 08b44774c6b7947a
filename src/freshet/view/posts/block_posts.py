"""Posts from repeated blocks: choose the times that are the times of posts, and read the blocks."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from freshet.view.posts.block_authors import BlockAuthor, find_authors
from freshet.view.posts.block_texts import find_texts, is_link_text
from freshet.view.posts.blocks import PostBlock, find_blocks
from freshet.view.posts.page_nodes import PageNodes
from freshet.view.posts.time_candidates import TimeCandidate
from freshet.view.posts.written_time import DAY

_WORDS = re.compile(r"[a-z]+")
_MESSAGE_WORDS = frozenset({
    "comment", "reply", "message", "msg", "answer", "question", "post", "status", "toot", "topic",
})  # fmt: skip
_MAX_GROUPS, _MAX_GROUPS_READ, _MAX_GROUPS_JOINED = 60, 4, 8
_TEXT_WORTH = 400
_MIN_SHARE = 0.75
# The block of a single time is the whole page, so its text says little.
_SINGLE_WORTH = 0.1
# A date without a time of day is often that of something else, such as a registration.
_DATE_WORTH = 0.5

TimeShape = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class BlockPosts:
    """The blocks of one group of times with their authors and texts, in document order."""

    blocks: tuple[PostBlock, ...]
    times: tuple[TimeCandidate, ...]
    authors: tuple[BlockAuthor | None, ...]
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.blocks)

    @property
    def author_share(self) -> float:
        """Return the share of blocks with an author."""
        return sum(author is not None for author in self.authors) / max(len(self), 1)

    @property
    def text_share(self) -> float:
        """Return the share of blocks with a text."""
        return sum(bool(text) for text in self.texts) / max(len(self), 1)

    @property
    def worth(self) -> float:
        """Return how much text the posts have, more if they have authors."""
        chars = sum(min(len(text), _TEXT_WORTH) for text in self.texts)
        dates_alone = sum(time.written.precision >= DAY for time in self.times)
        factor = _DATE_WORTH if 2 * dates_alone > len(self) else 1.0
        factor *= 1.0 if len(self) > 1 else _SINGLE_WORTH
        return chars * (0.2 + self.author_share) * factor


def find_block_posts(nodes: PageNodes, candidates: Sequence[TimeCandidate]) -> BlockPosts | None:
    """Return the posts of the best group of times of one shape, None if there is no time.

    Times of a similar shape join the group if their blocks have authors and texts too, as the first
    post of an issue or the comments below an answer do.
    """
    if not candidates:
        return None
    groups = _group_by_shape(nodes, candidates)
    chars = [0, *accumulate(len(text) for text in nodes.texts)]
    shapes = sorted(groups, key=lambda shape: -_quick_worth(nodes, groups[shape], chars))
    results = {shape: _read_group(nodes, groups[shape]) for shape in shapes[:_MAX_GROUPS_READ]}
    best_shape = max(results, key=lambda shape: results[shape].worth)
    best = results[best_shape]
    if len(best) == 1:
        return best
    similar = [s for s in shapes if s != best_shape and _is_similar(s, best_shape)]
    for shape in similar[:_MAX_GROUPS_JOINED]:
        best = _joined(nodes, best, groups[shape])
    return best


def _group_by_shape(
    nodes: PageNodes, candidates: Sequence[TimeCandidate]
) -> dict[TimeShape, list[TimeCandidate]]:
    """Return times by shape; if class names make too many groups of them, by tag alone."""
    groups: defaultdict[TimeShape, list[TimeCandidate]] = defaultdict(list)
    for candidate in candidates:
        groups[_time_shape(nodes, candidate)].append(candidate)
    if len(groups) <= _MAX_GROUPS:
        return groups
    coarse: defaultdict[TimeShape, list[TimeCandidate]] = defaultdict(list)
    for candidate in candidates:
        kind, shape, parent_shape, _ = _time_shape(nodes, candidate)
        tags = shape.partition(".")[0], parent_shape.partition(".")[0]
        coarse[kind if kind == "text" else "attribute", *tags, ""].append(candidate)
    return coarse


def _time_shape(nodes: PageNodes, candidate: TimeCandidate) -> TimeShape:
    """Return where a time was read, and the shapes of its element and of its parent."""
    node = candidate.node
    lead = ""
    if candidate.kind == "text":
        words = candidate.lead.split()
        lead = words[-1].lower() if words and len(words[-1]) <= 3 else ""
        node = nodes.parents[node]
    parent = nodes.parents[node]
    parent_shape = nodes.shapes[parent] if parent >= 0 else ""
    return candidate.kind, nodes.shapes[node], parent_shape, lead


def _is_similar(shape: TimeShape, other: TimeShape) -> bool:
    """Return whether two times were read in the same way; attributes of the same tag."""
    is_same_tag = shape[1].partition(".")[0] == other[1].partition(".")[0]
    return shape[0] == other[0] and (is_same_tag or shape[0] == "text")


def _quick_worth(
    nodes: PageNodes, candidates: Sequence[TimeCandidate], chars: Sequence[int]
) -> float:
    blocks = find_blocks(nodes, [candidate.node for candidate in candidates])
    worth = sum(min(chars[block.end] - chars[block.start], _TEXT_WORTH) for block in blocks)
    return worth * (1.0 if len(blocks) > 1 else _SINGLE_WORTH)


def _read_group(nodes: PageNodes, candidates: Sequence[TimeCandidate]) -> BlockPosts:
    blocks = find_blocks(nodes, [candidate.node for candidate in candidates])
    authors = find_authors(nodes, blocks, candidates)
    texts = find_texts(nodes, blocks, candidates, authors)
    return BlockPosts(tuple(blocks), tuple(candidates), tuple(authors), tuple(texts))


def _joined(nodes: PageNodes, best: BlockPosts, others: Sequence[TimeCandidate]) -> BlockPosts:
    """Return the posts of both groups, or only of the first if the others are no posts."""
    times = sorted((*best.times, *others), key=lambda candidate: candidate.node)
    joined = _read_group(nodes, times)
    other_nodes = {candidate.node for candidate in others}
    counts = Counter(
        (
            block.time_node in other_nodes,
            author is not None and len(text) > 1 and not is_link_text(nodes, block, text),
        )
        for block, author, text in zip(joined.blocks, joined.authors, joined.texts, strict=True)
    )
    complete = sum(
        author is not None and len(text) > 1
        for author, text in zip(best.authors, best.texts, strict=True)
    )
    # The texts of signed paragraphs have no class names; they must all be complete.
    leads = {_time_shape(nodes, time)[3] for time in times}
    are_signed = len(leads) == 1 and "" not in leads and not counts[True, False]
    are_posts = counts[True, True] >= _MIN_SHARE * len(others) and (
        are_signed
        or all(
            _is_message(nodes, block) for block in joined.blocks if block.time_node in other_nodes
        )
    )
    return joined if are_posts and counts[False, True] >= 0.9 * complete else best


def _is_message(nodes: PageNodes, block: PostBlock) -> bool:
    """Return whether the class names of a block, from its root to its time, are of a message."""
    path = (block.time_node, *nodes.ancestors(block.time_node))
    words = _WORDS.findall(
        " ".join(nodes.shapes[node] for node in path if node >= block.root).lower()
    )
    return not _MESSAGE_WORDS.isdisjoint(words)
