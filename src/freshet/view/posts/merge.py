"""Put together the posts of several pages of a thread, or of several visits to one page."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from xxhash import xxh3_64_hexdigest

from freshet.core.content.post_matching import match_posts, record_of
from freshet.core.content.posts import HASH_MARK, Post


def content_identity(time: float | None, author: str | None, text: str) -> str:
    """Return the identity of a post that has no id: a hash of its content.

    The time is None if the page gives it relative to the visit, because it would differ every time.
    """
    moment = "" if time is None else f"{time:.0f}"
    return HASH_MARK + xxh3_64_hexdigest("\0".join((moment, author or "", text)).encode())


def merge_posts(known: Sequence[Post], shown: Iterable[Post], visited: float) -> tuple[Post, ...]:
    """Return the known posts and the new ones among those that a page shows, by time.

    ``visited`` is the time of the visit in epoch seconds. Which posts are known is decided as in
    the catalog (``freshet.core.content.post_matching``). A known post has the text that is shown
    now. Known posts that are not shown stay. Posts of equal times keep the order in which they were
    found.

    >>> first, edited = Post(1.0, "ann", "hello", "#1"), Post(9.0, "ann", "hello, edited", "#1")
    >>> merge_posts([first], [edited, Post(5.0, "bob", "hi", "#2")], visited=10.0)
    (Post(time=1.0, author='ann', text='hello, edited', identity='#1'), \
Post(time=5.0, author='bob', text='hi', identity='#2'))
    """
    merged, new_posts = list(known), list(shown)
    records = [record_of(post) for post in new_posts]
    matches = match_posts([record_of(post) for post in known], records, visited)
    taken = {post.identity for post in known}
    for post, position in zip(new_posts, matches, strict=True):
        if position is not None:
            author = post.author or merged[position].author
            merged[position] = replace(merged[position], text=post.text, author=author)
        elif post.identity in taken:
            identity = content_identity(post.time, post.author, post.text)
            merged.append(replace(post, identity=identity))
        else:
            merged.append(post)
    return tuple(sorted(merged, key=lambda post: post.time))
