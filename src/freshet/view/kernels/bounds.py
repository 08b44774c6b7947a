"""Compiled estimate of the cost of building a tree from hostile markup.

A tree builder walks its stack of open elements at many tags, and reopens unclosed formatting
elements in every block: nested tags have quadratic cost. The stack here drops an element only at
its own end tag (or when the next item of its list, row or paragraph starts), so it is about as deep
as the tree builder's, or deeper.
"""

import numpy as np
from numba import njit

from freshet.view.kernels.markup import Bytes, Hashes, Ints, look_up_name
from freshet.view.tags import NAME_PRIME, NAME_SEED, VOID_TAGS, name_table

_U = np.uint64
_PRIME, _SEED = _U(NAME_PRIME), _U(NAME_SEED)
_VOID, _FORMATTING, _MERGED_TAG, _BLOCK = 1, 2, 4, 8
_GROUPS = {
    "p": 1, "li": 2, "dd": 3, "dt": 3, "option": 4, "optgroup": 5, "td": 6, "th": 6, "tr": 7,
    "tbody": 8, "thead": 8, "tfoot": 8, "rt": 9, "rp": 9, "rb": 9, "rtc": 9, "a": 10, "nobr": 11,
}  # fmt: skip
_GROUP_SHIFT = 4
_CLOSED_GROUPS = np.array(
    [sum(1 << group for group in groups) for groups in
     [(), (1,), (1, 2), (1, 3), (4,), (4, 5), (1, 6), (1, 6, 7), (1, 6, 7, 8), (9,), (10,), (11,)]]
)  # fmt: skip
_FORMATTING_TAGS = "b big code em font i s small strike strong tt u"
_BLOCK_TAGS = (
    "address article aside blockquote button center details dialog dir div dl fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup listing main menu nav ol pre search "
    "section select summary table ul"
)


def _tag_kinds() -> dict[str, int]:
    kinds = {name: group << _GROUP_SHIFT for name, group in _GROUPS.items()}
    marks = (
        (_VOID, VOID_TAGS),
        (_FORMATTING, _FORMATTING_TAGS),
        (_MERGED_TAG, "html body"),
        (_BLOCK, _BLOCK_TAGS),
    )
    for bit, names in marks:
        kinds |= dict.fromkeys(names.split(), bit)
    return kinds


_KEYS, _KINDS = name_table(_tag_kinds())
_ENDS_ATTRIBUTE_NAME = np.isin(np.arange(256), [*range(0x21), 0x2F, 0x3D, 0x3E])


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
    """Return the end of the attribute value after an equals sign."""
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
    """Return the end of a start tag and the number of its attributes; its name is already read."""
    count, has_name = 0, False
    while position < source.size and source[position] != 0x3E:
        byte = source[position]
        if byte == 0x3D and has_name:
            position, has_name = _skip_value(source, position + 1) + 1, False
        elif byte <= 0x20 or byte == 0x2F:
            position, has_name = position + 1, has_name and byte != 0x2F
        else:
            position, count, has_name = position + 1, count + 1, True
            while position < source.size and not _ENDS_ATTRIBUTE_NAME[source[position]]:
                position += 1
    return position, count


@njit(cache=True, nogil=True)
def _close_implied(kinds: Ints, depth: int, kind: int) -> int:
    """Return the depth after a start tag has closed the elements whose end it implies."""
    closed_groups = _CLOSED_GROUPS[kind >> _GROUP_SHIFT]
    while depth and closed_groups >> (kinds[depth] >> _GROUP_SHIFT) & 1:
        depth -= 1
    return depth


@njit(cache=True, nogil=True)
def _close(names: Hashes, kinds: Ints, depth: int, name: np.uint64, kind: int) -> int:
    """Return the depth after an end tag; only that of a block skips over paragraphs and items."""
    reach = depth
    if kind & _BLOCK or kind >> _GROUP_SHIFT:
        while reach and names[reach] != name and kinds[reach] >> _GROUP_SHIFT:
            reach -= 1
    return reach - 1 if reach and names[reach] == name else depth


@njit(cache=True, nogil=True)
def _count_formatting(kinds: Ints, low: int, high: int) -> int:
    """Return the number of open formatting elements between two depths."""
    count = 0
    for depth in range(low + 1, high + 1):
        count += (kinds[depth] & _FORMATTING) // _FORMATTING
    return count


@njit(cache=True, nogil=True)
def _next_tag(source: Bytes, position: int) -> tuple[int, bool]:
    """Return the start of the next tag's name, also in scripts, and whether it is an end tag."""
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
def safe_length(
    source: Bytes, tags: int, max_nesting: int, max_formatting: int, max_attributes: int
) -> int:
    """Return how many bytes of the markup can be parsed within the limits.

    ``max_nesting`` limits the sum of depths over all tags, ``max_formatting`` the sum of open
    formatting elements, ``max_attributes`` the attributes of one tag (and of all html and body tags
    together, because they are merged into one).
    """
    names, kinds = np.empty(tags + 2, np.uint64), np.zeros(tags + 2, np.int64)
    position, depth, formatting, merged_attributes = 0, 0, 0, 0
    nesting_sum, formatting_sum = 0, 0
    while position < source.size:
        start, is_end_tag = _next_tag(source, position)
        position, name = _read_name(source, start)
        kind, depth_before = look_up_name(name, _KEYS, _KINDS), depth
        if is_end_tag:
            depth = _close(names, kinds, depth, name, kind)
            formatting -= _count_formatting(kinds, depth, depth_before)
        else:
            position, count = _count_attributes(source, position)
            merged_attributes += count if kind & _MERGED_TAG else 0
            if max(count, merged_attributes) > max_attributes:
                return start - 1
            depth = _close_implied(kinds, depth, kind)
            formatting -= _count_formatting(kinds, depth, depth_before)
            if not kind & _VOID:
                depth += 1
                names[depth], kinds[depth] = name, kind
                formatting += (kind & _FORMATTING) // _FORMATTING
        nesting_sum, formatting_sum = nesting_sum + depth, formatting_sum + formatting
        if nesting_sum > max_nesting or formatting_sum > max_formatting:
            return start - 1
    return source.size
