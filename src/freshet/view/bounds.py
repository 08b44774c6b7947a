"""Limits on the cost of a view, and the truncation of hostile markup to stay within them."""

from dataclasses import dataclass

import numpy as np

from freshet.view.kernels.bounds import safe_length

HARMLESS_BYTES, HARMLESS_TAGS = 49_152, 1_200


@dataclass(frozen=True, slots=True)
class ViewLimits:
    """Limits on what a view reads of a snapshot.

    ``max_body_bytes`` limits the body, ``max_nesting`` the sum of open elements over all tags,
    ``max_formatting`` the sum of open formatting elements, ``max_attributes`` the attributes of a
    tag, ``max_links`` the number of links, ``max_anchor_chars`` the length of an anchor text.
    """

    max_body_bytes: int = 8 << 20
    max_nesting: int = 60_000_000
    max_formatting: int = 400_000
    max_attributes: int = 2_000
    max_links: int = 50_000
    max_anchor_chars: int = 200


def cut_to_limits(markup: bytes, limits: ViewLimits) -> bytes:
    """Return the markup up to the point at which building its tree would exceed the limits.

    >>> cut_to_limits(b"<p>short", ViewLimits())
    b'<p>short'
    """
    source = np.frombuffer(markup, np.uint8)
    tags = int(np.count_nonzero(source == ord("<")))
    if len(markup) <= HARMLESS_BYTES and tags <= HARMLESS_TAGS:
        return markup
    return markup[
        : safe_length(
            source, tags, limits.max_nesting, limits.max_formatting, limits.max_attributes
        )
    ]
