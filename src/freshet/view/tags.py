"""Properties of HTML element names: block, void, raw text, silent, link and others."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

BLOCK, VOID, RAW, SILENT, LINK, BASE, TEMPLATE, FOREIGN, INTEGRATION_POINT, PLAIN, TITLE = (
    1 << bit for bit in range(11)
)

_BLOCKS = (
    "address article aside blockquote body br button caption center col colgroup dd details dialog "
    "dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup "
    "hr html iframe legend li listing main menu nav ol optgroup option p plaintext pre "
    "search section select summary table tbody td textarea tfoot th thead title tr ul xmp"
)
VOID_TAGS = (
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source "
    "track wbr"
)
_MEANINGS: Final = (
    (BLOCK, _BLOCKS),
    (VOID, VOID_TAGS),
    (RAW, "iframe noembed noframes plaintext script style xmp"),
    (SILENT, "iframe noembed noframes script style template title"),
    (LINK, "a area"),
    (BASE, "base"),
    (TEMPLATE, "template"),
    (FOREIGN, "math svg"),
    (INTEGRATION_POINT, "annotation-xml desc foreignobject mi mn mo ms mtext title"),
    (PLAIN, "plaintext"),
    (TITLE, "title"),
)
SLOTS = 1024
NAME_SEED, NAME_PRIME = 0xCBF29CE484222325, 0x100000001B3
_MASK = (1 << 64) - 1


def name_hash(name: str) -> int:
    """Return the 64-bit FNV-1a hash of a lower-case element name."""
    value = NAME_SEED
    for byte in name.encode():
        value = ((value ^ byte) * NAME_PRIME) & _MASK
    return value


def tag_meanings() -> dict[str, int]:
    """Return the properties of every known name as a sum of bits."""
    meanings: dict[str, int] = {}
    for bit, names in _MEANINGS:
        for name in names.split():
            meanings[name] = meanings.get(name, 0) | bit
    return meanings


def name_table(values_by_name: dict[str, int]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return an open-addressing table from name hashes to numbers, for compiled code."""
    keys, values = np.zeros(SLOTS, np.uint64), np.zeros(SLOTS, np.int64)
    for name, value in values_by_name.items():
        slot = name_hash(name) % SLOTS
        while keys[slot]:
            slot = (slot + 1) % SLOTS
        keys[slot], values[slot] = name_hash(name), value
    return keys, values
