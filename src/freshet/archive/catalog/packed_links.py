"""Packs lists of links into small byte strings: sorted, one URL a line, compressed.

Front coding before compression was tried and rejected (docs/decisions/0003).
"""

from collections.abc import Iterable

from isal import isal_zlib

COMPRESSION_LEVEL = 1


def pack_links(urls: Iterable[str]) -> bytes:
    """Return the distinct URLs as compressed bytes; equal sets give equal bytes.

    >>> pack_links(["b:2", "a:1", "b:2"]) == pack_links(["a:1", "b:2"])
    True
    >>> pack_links([])
    b''
    """
    lines = "\n".join(sorted(set(urls)))
    return isal_zlib.compress(lines.encode(), COMPRESSION_LEVEL) if lines else b""


def unpack_links(packed: bytes) -> tuple[str, ...]:
    """Return the packed URLs, sorted.

    >>> unpack_links(pack_links(["b:2", "a:1"]))
    ('a:1', 'b:2')
    """
    if not packed:
        return ()
    return tuple(isal_zlib.decompress(packed).decode().split("\n"))
