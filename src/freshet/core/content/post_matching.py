"""Which of the posts that a page shows are known already: one rule for all that keep posts.

1. A post with an id is the known one of that id, if time, author or text agree. Ids that count the
   posts of a page are used again for others.
2. A post without an id is the known one with the same author and text, if their times agree. So is
   a post whose id was that of another one, and any post if fewer than half of the shown ids were
   known: they are given anew at every visit.
3. A post of 2 without such a known one is an edited one, if a known post of its author and second
   is not shown any more.

Times agree if they differ by no more than the age of the post: "1 hour ago" may be 119 minutes, and
"2 years ago" nearly three years. Any other post is new. A known post keeps its time and its
identity for ever, also if it was edited or deleted.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from freshet.core.content.posts import Post

SAME_MINUTE = 60.0
MAX_TEXT_CHARS, MAX_AUTHOR_CHARS = 160, 100


@dataclass(frozen=True, slots=True)
class PostRecord:
    """What a post is known by; ``text`` are its first characters, None if they were not kept.

    An identity that is a hash of the content is not ``is_named``.
    """

    identity: Hashable
    time: float
    author: str | None
    text: str | None
    is_named: bool = True


def record_of(post: Post, identity: Hashable | None = None) -> PostRecord:
    """Return what a post is known by, under its own identity or another."""
    author = post.author[:MAX_AUTHOR_CHARS] if post.author else None
    own_identity = post.identity if identity is None else identity
    return PostRecord(
        own_identity, post.time, author, post.text[:MAX_TEXT_CHARS].rstrip(), post.is_named
    )


def match_posts(
    known: Sequence[PostRecord], shown: Sequence[PostRecord], visited: float
) -> list[int | None]:
    """Return the position of the known post that each shown one is, None for new posts.

    ``visited`` is the time of the visit that shows them, in epoch seconds.

    >>> known = [PostRecord("#1", 60.0, "ann", "hello")]
    >>> match_posts(known, [PostRecord("#x7", 0.0, "ann", "hello")], visited=3600.0)
    [0]
    """
    positions = {post.identity: position for position, post in enumerate(known)}
    matches: list[int | None] = [None] * len(shown)
    for index, post in enumerate(shown):
        position = positions.get(post.identity) if post.is_named else None
        if position is not None and _agree(known[position], post):
            matches[index] = position
    lasting_ids = sum(post.identity in positions for post in shown)
    are_renamed = 2 * lasting_ids < len(shown)
    waiting = [
        index
        for index, post in sorted(enumerate(shown), key=lambda item: item[1].time)
        if matches[index] is None
        and (are_renamed or not post.is_named or post.identity in positions)
    ]
    taken = {position for position in matches if position is not None}
    unseen = _UnseenPosts(
        (position, post) for position, post in enumerate(known) if position not in taken
    )
    for index in waiting:
        matches[index] = unseen.take_same(
            shown[index], max(SAME_MINUTE, visited - shown[index].time)
        )
    for index in waiting:
        if matches[index] is None:
            matches[index] = unseen.take_edited(shown[index])
    return matches


def _agree(known: PostRecord, shown: PostRecord) -> bool:
    """Whether two posts with the same id are the same; posts without an author share none."""
    return (
        abs(known.time - shown.time) < SAME_MINUTE
        or (known.author is not None and known.author == shown.author)
        or known.text == shown.text
    )


class _UnseenPosts:
    """Known posts, by their positions, that no shown post was found to be.

    Shown posts are looked up in the order of time.
    """

    def __init__(self, posts: Iterable[tuple[int, PostRecord]]) -> None:
        self._by_content: defaultdict[Hashable, deque[tuple[float, int]]] = defaultdict(deque)
        self._by_second: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        self._taken: set[int] = set()
        for position, post in sorted(posts, key=lambda item: item[1].time):
            is_hashed = post.text is None and not post.is_named
            content = post.identity if is_hashed else (post.author, post.text)
            self._by_content[content].append((post.time, position))
            self._by_second[round(post.time), post.author].append(position)

    def take_same(self, shown: PostRecord, tolerance: float) -> int | None:
        """Return the first post with the same author and text whose time agrees, and use it up.

        A post whose text was not kept is known by the hash in its identity, or by its author.
        """
        kept_texts = (shown.author, shown.text)
        without_text = (shown.author, None) if shown.is_named else shown.identity
        position = self._take(kept_texts, shown.time, tolerance)
        return self._take(without_text, shown.time, tolerance) if position is None else position

    def take_edited(self, shown: PostRecord) -> int | None:
        """Return a post of the same second and author, and use it up."""
        positions = self._by_second[round(shown.time), shown.author]
        while positions:
            position = positions.popleft()
            if position not in self._taken:
                self._taken.add(position)
                return position
        return None

    def _take(self, content: Hashable, time: float, tolerance: float) -> int | None:
        """Use up the first post of a content within the tolerance.

        Earlier ones are too old for all that follow: these are later, and have a lower tolerance.
        """
        posts = self._by_content[content]
        while posts and posts[0][0] < time - tolerance:
            posts.popleft()
        if not posts or posts[0][0] > time + tolerance:
            return None
        _, position = posts.popleft()
        self._taken.add(position)
        return position
