"""Link lists as small byte strings: sorted, one URL a line, compressed.

Front coding before compression was tried and left out (docs/decisions/0003).
"""

from collections.abc import Iterable

from isal import isal_zlib

FAST = 1


def pack_links(urls: Iterable[str]) -> bytes:
    """Return the distinct URLs as compressed bytes, the same for the same set.

    >>> pack_links(["b:2", "a:1", "b:2"]) == pack_links(["a:1", "b:2"])
    True
    >>> pack_links([])
    b''
    """
    lines = "\n".join(sorted(set(urls)))
    return isal_zlib.compress(lines.encode(), FAST) if lines else b""


def unpack_links(packed: bytes) -> tuple[str, ...]:
    """Return the URLs that were packed, sorted.

    >>> unpack_links(pack_links(["b:2", "a:1"]))
    ('a:1', 'b:2')
    """
    if not packed:
        return ()
    return tuple(isal_zlib.decompress(packed).decode().split("\n"))
