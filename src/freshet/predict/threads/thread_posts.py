"""The posts of a thread as models read them: sorted times in minutes, texts and authors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.content.posts import Post
from freshet.core.types import FloatArray

TRAINING_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class ThreadPosts:
    """Posts in the order of time; ``times`` are epoch minutes and never decrease.

    ``texts`` and ``authors`` may be empty: only some models read them.
    """

    times: FloatArray
    texts: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.times) == 0 or not np.isfinite(self.times).all():
            raise ValueError("a thread needs at least one post, and finite times")
        if (np.diff(self.times) < 0.0).any():
            raise ValueError("the times of posts must not decrease; sort them")

    def __len__(self) -> int:
        """Return the number of posts."""
        return len(self.times)

    @property
    def intervals(self) -> FloatArray:
        """Minutes from each post to the next."""
        return np.diff(self.times)

    @property
    def training_posts(self) -> int:
        """Number of posts in the first three quarters, at least one."""
        return max(1, int(TRAINING_SHARE * len(self)))

    def first(self, posts: int) -> "ThreadPosts":
        """Return the thread as it was with its first posts."""
        return ThreadPosts(self.times[:posts], self.texts[:posts], self.authors[:posts])


def thread_of_posts(posts: Sequence[Post], *, now: float) -> ThreadPosts:
    """Return the posts of a page in the order of time.

    ``now`` is the visit in epoch seconds. A post whose time lies in the future counts as posted at
    the visit. Posts reordered by votes are sorted by time.
    """
    ordered = sorted(posts, key=lambda post: post.time)
    times = np.minimum([post.time for post in ordered], now) / 60.0
    texts = tuple(post.text for post in ordered)
    return ThreadPosts(times, texts, tuple(post.author or "" for post in ordered))
