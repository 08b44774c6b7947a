"""Put together the posts of several pages of a thread, or of several visits to one page.

Posts are the same if their identities are the same and time, author or text agree. A post whose
identity is a hash of its content is also the same as a known post of the same time and author that
the new page does not show: its text was edited. A known post keeps its time and identity for ever,
also if it was edited or deleted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from xxhash import xxh3_64_hexdigest

from freshet.core.content.posts import HASH_MARK, Post

_SAME_MINUTE = 60.0


def content_identity(time: float | None, author: str | None, text: str) -> str:
    """Return the identity of a post that has no id: a hash of its content.

    The time is None if the page gives it relative to the visit, because it would differ every time.
    """
    moment = "" if time is None else f"{time:.0f}"
    return HASH_MARK + xxh3_64_hexdigest("\0".join((moment, author or "", text)).encode())


def merge_posts(known: Sequence[Post], shown: Iterable[Post]) -> tuple[Post, ...]:
    """Return the known posts and the new ones among those that a page shows, by time.

    Known posts that are not shown stay. Posts of equal times keep the order in which they were
    found.

    >>> first = [Post(1.0, "ann", "hello", "#1")]
    >>> merge_posts(first, [Post(9.0, "ann", "hello, edited", "#1"), Post(5.0, "bob", "hi", "#2")])
    (Post(time=1.0, author='ann', text='hello, edited', identity='#1'), \
Post(time=5.0, author='bob', text='hi', identity='#2'))
    """
    merged = {post.identity: post for post in known}
    new_posts = list(shown)
    shown_identities = {post.identity for post in new_posts}
    edited = {
        (round(post.time), post.author): post.identity
        for post in known
        if not post.is_named and post.identity not in shown_identities
    }
    for post in new_posts:
        identity = _known_identity(post, merged, edited)
        if identity is None:
            merged[_free_identity(post, merged)] = post
        else:
            author = post.author or merged[identity].author
            merged[identity] = replace(merged[identity], text=post.text, author=author)
    posts = (replace(post, identity=identity) for identity, post in merged.items())
    return tuple(sorted(posts, key=lambda post: post.time))


def _known_identity(
    post: Post, merged: dict[str, Post], edited: dict[tuple[int, str | None], str]
) -> str | None:
    """Return the identity of the known post that this one is, None if it is new."""
    known = merged.get(post.identity)
    if known is not None:
        is_same = (
            abs(known.time - post.time) < _SAME_MINUTE
            or known.author == post.author
            or known.text == post.text
        )
        return post.identity if is_same else None
    if not post.is_named:
        return edited.pop((round(post.time), post.author), None)
    return None


def _free_identity(post: Post, merged: dict[str, Post]) -> str:
    """Return the post's identity, or a hash of its content if another post has that."""
    if post.identity not in merged:
        return post.identity
    return content_identity(post.time, post.author, post.text)
