"""Limits on what a view may cost, and where hostile markup is cut to stay within them."""

from dataclasses import dataclass

import numpy as np

from freshet.view.kernels.bounds import safe_length

HARMLESS_BYTES, HARMLESS_TAGS = 49_152, 1_200


@dataclass(frozen=True, slots=True)
class Limits:
    """What a view reads of a snapshot at most.

    ``body_bytes`` bounds the body, ``work`` the sum of open elements over all tags, ``copies`` that
    of open formatting elements, ``attributes`` the attributes of a tag, ``links`` the links kept,
    ``anchor_chars`` the length of an anchor text.
    """

    body_bytes: int = 8 << 20
    work: int = 60_000_000
    copies: int = 400_000
    attributes: int = 2_000
    links: int = 50_000
    anchor_chars: int = 200


def bounded(markup: bytes, limits: Limits) -> bytes:
    """Return the markup up to where building its tree would exceed the limits.

    >>> bounded(b"<p>short", Limits())
    b'<p>short'
    """
    source = np.frombuffer(markup, np.uint8)
    tags = int(np.count_nonzero(source == ord("<")))
    if len(markup) <= HARMLESS_BYTES and tags <= HARMLESS_TAGS:
        return markup
    return markup[: safe_length(source, tags, limits.work, limits.copies, limits.attributes)]
