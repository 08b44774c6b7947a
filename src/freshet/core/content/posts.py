"""The posts of a thread: one message each, with its time, author and text."""

from dataclasses import dataclass

# An identity that is a hash of the content begins so: it differs after an edit.
HASH_MARK = "~"


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
