"""What `freshet doctor` reports."""

from collections.abc import Sequence
from dataclasses import dataclass

SHOWN_NAMES = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: whether it is fine, and what to do if it is not."""

    what: str
    found: str
    fine: bool
    remedy: str = ""


def names_of(names: Sequence[str]) -> str:
    """Write the first few names, and how many more there are.

    >>> names_of(["a", "b"]), names_of(["a", "b", "c", "d"])
    ('a, b', 'a, b, c and 1 more')
    """
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more
