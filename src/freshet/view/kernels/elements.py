"""Compiled passes over the tokens of a page: how elements nest, their DOM rows, and the links."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.view.kernels.markup import (
    CLOSE,
    END_TAG,
    HIDDEN,
    KIND,
    MEANING,
    NAME,
    OPEN,
    OWNER,
    RAW_TEXT,
    ROOT,
    ROW,
    TEXT_OFFSET,
    VOID_OPEN,
    Bytes,
    Hashes,
    Ints,
    copy_anchor,
    copy_href,
    copy_rel,
    find_slot,
    mix_bits,
)  # fmt: skip
from freshet.view.tags import FOREIGN, INTEGRATION_POINT, NAME_PRIME, SILENT, TEMPLATE, TITLE, VOID
from freshet.view.text_hash import BASE, INVERSE, WEIGHTS

Rows = NDArray[np.int32]

_U = np.uint64
_PRIME, _STEP, _INVERSE, _BLANK = _U(NAME_PRIME), _U(BASE), _U(INVERSE), WEIGHTS[0x20]
_WEIGHTS = WEIGHTS
_CLOSE_MARK, _TYPE_SALT, _NAME_SALT = _U(0x2F), _U(0x7459), _U(0x4E41)
_UTF8 = 4
_IN_FOREIGN, _IN_SILENCE, _IN_TEMPLATE = 1, 2, 4
TAG, PARENT, INDEX, TEXT_START, TEXT_END = range(5)
FULL_PATH, TYPE_PATH, OWN_TEXT, SUBTREE_TEXT = range(4)
_SUM, _POWER, _BACK, _OWN_SUM, _OWN_POWER = range(5)


@njit(cache=True, nogil=True)
def _within(around: int, meaning: int) -> int:
    """Return what holds inside an element, from what holds around it."""
    inside = around & ~_IN_FOREIGN
    if (around & _IN_FOREIGN or meaning & FOREIGN) and not meaning & INTEGRATION_POINT:
        inside |= _IN_FOREIGN
    if meaning & SILENT:
        inside |= _IN_SILENCE
    if meaning & TEMPLATE:
        inside |= _IN_TEMPLATE
    return inside


@njit(cache=True, nogil=True)
def _place(tokens: Ints, at: int, owner: int, around: int) -> bool:
    """Write where a start tag stands, and return whether its element is left open."""
    meaning = tokens[at, MEANING]
    tokens[at, OWNER] = HIDDEN if around & _IN_TEMPLATE else owner
    tokens[at, END_TAG] = at
    if around & _IN_SILENCE:
        tokens[at, MEANING] = 0
    elif around & _IN_FOREIGN:
        tokens[at, MEANING] &= ~TITLE
    if meaning & VOID and not (around & _IN_FOREIGN or meaning & FOREIGN):
        tokens[at, KIND] = VOID_OPEN
        return False
    return True


@njit(cache=True, nogil=True)
def _end(tokens: Ints, at: int, start: int) -> None:
    tokens[at, OWNER], tokens[at, MEANING] = start, tokens[start, MEANING]
    tokens[start, END_TAG] = at


@njit(cache=True, nogil=True)
def nest_tokens(tokens: Ints) -> int:
    """Write what each token belongs to, and return the depth (-1: tags do not fit each other)."""
    stack, inside = np.empty(len(tokens) + 1, np.int64), np.zeros(len(tokens) + 1, np.uint8)
    stack[0], depth, deepest = ROOT, 0, 0
    for at in range(len(tokens)):
        kind = tokens[at, KIND]
        if kind <= RAW_TEXT:
            tokens[at, OWNER] = HIDDEN if inside[depth] & _IN_SILENCE else stack[depth]
        elif kind == CLOSE:
            if depth == 0 or tokens[stack[depth], NAME] != tokens[at, NAME]:
                return -1
            _end(tokens, at, stack[depth])
            depth -= 1
        else:
            meaning = tokens[at, MEANING]
            if not inside[depth] & _IN_TEMPLATE:
                deepest = max(deepest, depth + 1)
            if _place(tokens, at, stack[depth], inside[depth]):
                stack[depth + 1], inside[depth + 1] = at, _within(inside[depth], meaning)
                depth += 1
    return deepest if depth == 0 else -1


@njit(cache=True, nogil=True)
def find_first(tokens: Ints, which: int) -> int:
    """Return the first start tag of that meaning (-1: there is none)."""
    for at in range(len(tokens)):
        if tokens[at, MEANING] & which and tokens[at, KIND] != CLOSE:
            return at
    return -1


@njit(cache=True, nogil=True)
def number_elements(tokens: Ints) -> tuple[int, np.uint64]:
    """Number the elements outside templates; return how many there are and the structure's hash."""
    size, value = 0, _U(1)
    for at in range(len(tokens)):
        kind = tokens[at, KIND]
        if kind <= RAW_TEXT:
            continue
        if kind == CLOSE:
            tokens[at, ROW] = tokens[tokens[at, OWNER], ROW]
        elif tokens[at, OWNER] == HIDDEN:
            tokens[at, ROW] = -1
        else:
            tokens[at, ROW] = size
            size += 1
            value = (value ^ _U(tokens[at, NAME])) * _PRIME
        if kind != OPEN and tokens[at, ROW] >= 0:
            value = (value ^ _CLOSE_MARK) * _PRIME
    return size, mix_bits(value)


@njit(cache=True, nogil=True)
def _count(keys: Hashes, values: Ints, key: np.uint64) -> int:
    """Return how often a key was counted before, and count it."""
    place = find_slot(keys, key)
    values[place] += 1
    return int(values[place]) - 1


@njit(cache=True, nogil=True)
def _name_index(keys: Hashes, values: Ints, name: np.uint64, names: Ints, at: int) -> int:
    """Return the place of a tag name among the page's; names[0] says how many there are."""
    place = find_slot(keys, mix_bits(name ^ _NAME_SALT))
    if values[place] == 0:
        names[0] += 1
        names[names[0]] = at
        values[place] = names[0]
    return int(values[place]) - 1


@njit(cache=True, nogil=True)
def write_paths(tokens: Ints, rows: Rows, hashes: Hashes) -> Ints:
    """Write tag, parent and place of every element and both path hashes; return a token per tag."""
    size, table = rows.shape[1], 16
    while table < 4 * size:
        table *= 2
    keys, values = np.zeros(table, np.uint64), np.zeros(table, np.int64)
    kinds, names = np.ones(size + 1, np.uint64), np.zeros(size + 1, np.int64)
    for at in range(len(tokens)):
        row = tokens[at, ROW]
        if tokens[at, KIND] < OPEN or tokens[at, KIND] == CLOSE or row < 0:
            continue
        name = _U(tokens[at, NAME])
        parent = tokens[tokens[at, OWNER], ROW] if tokens[at, OWNER] >= 0 else -1
        index = _count(keys, values, mix_bits(mix_bits(_U(parent + 2)) ^ name))
        kinds[row] = mix_bits(kinds[parent] * _PRIME + name)
        ordinal = _count(keys, values, mix_bits(kinds[row] ^ _TYPE_SALT))
        above = hashes[FULL_PATH, parent] if parent >= 0 else _U(1)
        hashes[FULL_PATH, row] = mix_bits(mix_bits(above * _PRIME + name) + _U(index))
        hashes[TYPE_PATH, row] = mix_bits(kinds[row] + _U(ordinal))
        rows[TAG, row] = _name_index(keys, values, name, names, at)
        rows[PARENT, row], rows[INDEX, row] = parent, index
    return names[1 : names[0] + 1]


@njit(cache=True, nogil=True)
def _sum_up(run: Bytes, sums: Hashes, owned: Hashes) -> None:
    """Add a run of text to the running sums, and to the own text of the element it is in."""
    total, power, back = sums[_SUM], sums[_POWER], sums[_BACK]
    if run[0] <= 0x20:
        total, power, back, run = total + _BLANK * power, power * _STEP, back * _INVERSE, run[1:]
    before, shift = total, back
    for byte in run:
        total += _WEIGHTS[0x20 if byte == 0x0A else byte] * power
        power *= _STEP
        back *= _INVERSE
    sums[_SUM], sums[_POWER], sums[_BACK] = total, power, back
    if owned[_OWN_POWER] != 1:
        owned[_OWN_SUM] += _BLANK * owned[_OWN_POWER]
        owned[_OWN_POWER] *= _STEP
    owned[_OWN_SUM] += (total - before) * shift * owned[_OWN_POWER]
    owned[_OWN_POWER] *= power * shift


@njit(cache=True, nogil=True)
def _beneath(sums: Hashes, begun: Hashes, text: Bytes) -> np.uint64:
    """Return the hash of the text that an element added, a leading blank left out."""
    total, back = sums[_SUM] - begun[_SUM], begun[_BACK]
    if text.size and text[0] <= 0x20:
        total, back = total - _BLANK * begun[_POWER], back * _INVERSE
    return mix_bits(total * back)


@njit(cache=True, nogil=True)
def write_text_hashes(tokens: Ints, text: Bytes, rows: Rows, hashes: Hashes) -> None:
    """Write the hash of each element's own text, and of all text beneath it and where it stands.

    The hash of a stretch of text follows from running sums at both its ends (texthash.py).
    """
    sums, begun = np.ones(3, np.uint64), np.zeros((hashes.shape[1] + 1, 5), np.uint64)
    sums[_SUM] = 0
    for at in range(len(tokens)):
        kind, owner, row = tokens[at, KIND], tokens[at, OWNER], tokens[at, ROW]
        if kind <= RAW_TEXT:
            end = tokens[at + 1, TEXT_OFFSET] if at + 1 < len(tokens) else text.size
            if owner >= 0 and end > tokens[at, TEXT_OFFSET]:
                _sum_up(text[tokens[at, TEXT_OFFSET] : end], sums, begun[tokens[owner, ROW]])
        elif row < 0:
            continue
        elif kind == CLOSE:
            hashes[OWN_TEXT, row] = mix_bits(begun[row, _OWN_SUM])
            within = text[tokens[owner, TEXT_OFFSET] : tokens[at, TEXT_OFFSET]]
            hashes[SUBTREE_TEXT, row] = _beneath(sums, begun[row], within)
            rows[TEXT_START, row] += 1 if within.size and within[0] <= 0x20 else 0
            rows[TEXT_END, row] = tokens[at, TEXT_OFFSET]
        else:
            begun[row, :3], begun[row, _OWN_POWER] = sums, 1
            hashes[OWN_TEXT, row] = hashes[SUBTREE_TEXT, row] = 0
            rows[TEXT_START, row] = rows[TEXT_END, row] = tokens[at, TEXT_OFFSET]


@njit(cache=True, nogil=True)
def _line_lengths(tokens: Ints, found: Ints, longest: int) -> tuple[int, int, int]:
    """Return how many bytes the hrefs, anchors and rels can take at most, a line each."""
    hrefs = anchors = rels = len(found)
    for place in range(len(found)):
        start = found[place, 0]
        hrefs += found[place, 2] - found[place, 1]
        anchors += min(
            tokens[tokens[start, END_TAG], TEXT_OFFSET] - tokens[start, TEXT_OFFSET],
            longest * _UTF8,
        )
        rels += found[place, 4] - found[place, 3]
    return hrefs, anchors, rels


@njit(cache=True, nogil=True)
def link_lines(
    source: Bytes, tokens: Ints, text: Bytes, found: Ints, longest: int
) -> tuple[Bytes, Bytes, Bytes]:
    """Return hrefs, anchor texts and rels, a line per link, the first for each distinct href."""
    sizes, table = _line_lengths(tokens, found, longest), 16
    while table < 2 * len(found):
        table *= 2
    keys, values = np.zeros(table, np.uint64), np.zeros(table, np.int64)
    hrefs, anchors = np.empty(sizes[0], np.uint8), np.empty(sizes[1], np.uint8)
    rels, href, anchor, rel = np.empty(sizes[2], np.uint8), 0, 0, 0
    for place in range(len(found)):
        start, begin, end, rel_begin, rel_end = found[place]
        size, value = copy_href(source, begin, end, hrefs[href:])
        if _count(keys, values, mix_bits(value)):
            continue
        first, last = tokens[start, TEXT_OFFSET], tokens[tokens[start, END_TAG], TEXT_OFFSET]
        href += size
        anchor += copy_anchor(text, first, last, anchors[anchor:], longest)
        rel += copy_rel(source, rel_begin, rel_end, rels[rel:])
        hrefs[href] = anchors[anchor] = rels[rel] = 0x0A
        href, anchor, rel = href + 1, anchor + 1, rel + 1
    return hrefs[:href], anchors[:anchor], rels[:rel]
