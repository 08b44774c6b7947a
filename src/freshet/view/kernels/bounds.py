"""Compiled estimate of what building a tree from hostile markup would cost.

A tree builder walks its stack of open elements at many tags, and opens unclosed formatting elements
again in every block: nested tags cost their square. The stack kept here never lets an element go
unless its own end tag stands right after it (or the next of its list, row or paragraph starts), so
that it is at least about as deep as the tree builder's.
"""

import numpy as np
from numba import njit

from freshet.view.kernels.markup import Bytes, Hashes, Ints, look_up_name
from freshet.view.tags import NAME_PRIME, NAME_SEED, VOID_TAGS, name_table

_U = np.uint64
_PRIME, _SEED = _U(NAME_PRIME), _U(NAME_SEED)
_VOID, _FORMAT, _MERGED, _BLOCK = 1, 2, 4, 8
_GROUPS = {
    "p": 1, "li": 2, "dd": 3, "dt": 3, "option": 4, "optgroup": 5, "td": 6, "th": 6, "tr": 7,
    "tbody": 8, "thead": 8, "tfoot": 8, "rt": 9, "rp": 9, "rb": 9, "rtc": 9, "a": 10, "nobr": 11,
}  # fmt: skip
_SHIFT = 4
_CLOSERS = np.array(
    [sum(1 << group for group in groups) for groups in
     [(), (1,), (1, 2), (1, 3), (4,), (4, 5), (1, 6), (1, 6, 7), (1, 6, 7, 8), (9,), (10,), (11,)]]
)  # fmt: skip
_FORMATS = "b big code em font i s small strike strong tt u"
_BLOCKS = (
    "address article aside blockquote button center details dialog dir div dl fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav ol pre search "
    "section select summary table ul"
)


def _kinds() -> dict[str, int]:
    found = {name: group << _SHIFT for name, group in _GROUPS.items()}
    marks = ((_VOID, VOID_TAGS), (_FORMAT, _FORMATS), (_MERGED, "html body"), (_BLOCK, _BLOCKS))
    for bit, names in marks:
        found |= dict.fromkeys(names.split(), bit)
    return found


_KEYS, _KINDS = name_table(_kinds())
_ENDS_NAME = np.isin(np.arange(256), [*range(0x21), 0x2F, 0x3D, 0x3E])


@njit(cache=True, nogil=True)
def _read_name(source: Bytes, position: int) -> tuple[int, np.uint64]:
    value = _SEED
    while position < source.size and source[position] > 0x20:
        byte = source[position]
        if byte == 0x2F or byte == 0x3E:
            break
        if 0x41 <= byte <= 0x5A:
            byte |= 0x20
        value = (value ^ _U(byte)) * _PRIME
        position += 1
    return position, value


@njit(cache=True, nogil=True)
def _skip_value(source: Bytes, position: int) -> int:
    """Return where the attribute value that follows an equals sign ends."""
    while position < source.size and source[position] <= 0x20:
        position += 1
    if position < source.size and (source[position] == 0x22 or source[position] == 0x27):
        quote = source[position]
        position += 1
        while position < source.size and source[position] != quote:
            position += 1
    return position


@njit(cache=True, nogil=True)
def _count_attributes(source: Bytes, position: int) -> tuple[int, int]:
    """Return where a start tag ends and how many attributes it has, its name already read."""
    count, named = 0, False
    while position < source.size and source[position] != 0x3E:
        byte = source[position]
        if byte == 0x3D and named:
            position, named = _skip_value(source, position + 1) + 1, False
        elif byte <= 0x20 or byte == 0x2F:
            position, named = position + 1, named and byte != 0x2F
        else:
            position, count, named = position + 1, count + 1, True
            while position < source.size and not _ENDS_NAME[source[position]]:
                position += 1
    return position, count


@njit(cache=True, nogil=True)
def _close_implied(kinds: Ints, depth: int, kind: int) -> int:
    """Return the depth after the start of an element has closed those it implies the end of."""
    closers = _CLOSERS[kind >> _SHIFT]
    while depth and closers >> (kinds[depth] >> _SHIFT) & 1:
        depth -= 1
    return depth


@njit(cache=True, nogil=True)
def _close(names: Hashes, kinds: Ints, depth: int, name: np.uint64, kind: int) -> int:
    """Return the depth after an end tag; only that of a block reaches over paragraphs and items."""
    reach = depth
    if kind & _BLOCK or kind >> _SHIFT:
        while reach and names[reach] != name and kinds[reach] >> _SHIFT:
            reach -= 1
    return reach - 1 if reach and names[reach] == name else depth


@njit(cache=True, nogil=True)
def _formats(kinds: Ints, low: int, high: int) -> int:
    """Return how many formatting elements are open between two depths."""
    count = 0
    for depth in range(low + 1, high + 1):
        count += (kinds[depth] & _FORMAT) // _FORMAT
    return count


@njit(cache=True, nogil=True)
def _next_tag(source: Bytes, position: int) -> tuple[int, bool]:
    """Return where the next tag's name starts, also in scripts, and whether it is an end tag."""
    last = source.size - 1
    while position < last:
        if source[position] != 0x3C:
            position += 1
            continue
        following = source[position + 1]
        if following == 0x2F:
            return position + 2, True
        if following == 0x5C and position + 1 < last and source[position + 2] == 0x2F:
            return position + 3, True
        if 0x61 <= following | 0x20 <= 0x7A:
            return position + 1, False
        position += 1
    return source.size, True


@njit(cache=True, nogil=True)
def safe_length(source: Bytes, tags: int, work: int, copies: int, attributes: int) -> int:
    """Return how much of the markup can be parsed without exceeding what a tree may cost.

    ``work`` bounds the sum of depths over all tags, ``copies`` that of open formatting elements,
    ``attributes`` those of one tag (and of all html and body tags, which are merged into one).
    """
    names, kinds = np.empty(tags + 2, np.uint64), np.zeros(tags + 2, np.int64)
    position, depth, formats, merged = 0, 0, 0, 0
    while position < source.size:
        start, closing = _next_tag(source, position)
        position, name = _read_name(source, start)
        kind, before = look_up_name(name, _KEYS, _KINDS), depth
        if closing:
            depth = _close(names, kinds, depth, name, kind)
            formats -= _formats(kinds, depth, before)
        else:
            position, count = _count_attributes(source, position)
            merged += count if kind & _MERGED else 0
            if max(count, merged) > attributes:
                return start - 1
            depth = _close_implied(kinds, depth, kind)
            formats -= _formats(kinds, depth, before)
            if not kind & _VOID:
                depth += 1
                names[depth], kinds[depth] = name, kind
                formats += (kind & _FORMAT) // _FORMAT
        work, copies = work - depth, copies - formats
        if min(work, copies) < 0:
            return start - 1
    return source.size
