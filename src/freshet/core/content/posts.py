"""The posts of a thread: one message each, with its time, author and text."""

from dataclasses import dataclass

import numpy as np

from freshet.core.types import FloatArray

# An identity that is a hash of the content begins so: it differs after an edit.
HASH_MARK = "~"
# Chances at which the distribution of the next post is stored: dense at the ends, where intervals
# are read.
NEXT_POST_CHANCES: FloatArray = np.concatenate((
    [0.001, 0.01],
    np.linspace(0.025, 0.975, 39),
    [0.99, 0.999],
))


@dataclass(frozen=True, slots=True)
class Post:
    """One message of a discussion, in the order of time among others.

    ``time`` is in epoch seconds (UTC), ``author`` is None if the page names none, ``text`` is the
    message on one line. ``identity`` is the same at every visit: the permalink or the id of the
    post, or else a hash of its content.
    """

    time: float
    author: str | None
    text: str
    identity: str

    @property
    def is_named(self) -> bool:
        """Whether the page gives the post an identity that stays the same after an edit."""
        return not self.identity.startswith(HASH_MARK)
