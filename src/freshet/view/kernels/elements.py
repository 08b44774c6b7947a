"""Compiled passes over the tokens of a page: nesting, DOM rows and links."""

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

RowArray = NDArray[np.int32]

_U = np.uint64
_PRIME, _STEP, _INVERSE, _BLANK = _U(NAME_PRIME), _U(BASE), _U(INVERSE), WEIGHTS[0x20]
_WEIGHTS = WEIGHTS
_CLOSE_MARK, _TYPE_SALT, _NAME_SALT = _U(0x2F), _U(0x7459), _U(0x4E41)
_MAX_UTF8_BYTES = 4
_IN_FOREIGN, _IN_SILENT, _IN_TEMPLATE = 1, 2, 4
TAG, PARENT, INDEX, TEXT_START, TEXT_END = range(5)
FULL_PATH, TYPE_PATH, OWN_TEXT, SUBTREE_TEXT = range(4)
_SUM, _POWER, _INVERSE_POWER, _OWN_SUM, _OWN_POWER = range(5)


@njit(cache=True, nogil=True)
def _context_inside(context: int, meaning: int) -> int:
    """Return the context inside an element, from the context around it."""
    inside = context & ~_IN_FOREIGN
    if (context & _IN_FOREIGN or meaning & FOREIGN) and not meaning & INTEGRATION_POINT:
        inside |= _IN_FOREIGN
    if meaning & SILENT:
        inside |= _IN_SILENT
    if meaning & TEMPLATE:
        inside |= _IN_TEMPLATE
    return inside


@njit(cache=True, nogil=True)
def _write_start_tag(tokens: Ints, token: int, owner: int, context: int) -> bool:
    """Write the owner and meaning of a start tag; return whether its element is void."""
    meaning = tokens[token, MEANING]
    tokens[token, OWNER] = HIDDEN if context & _IN_TEMPLATE else owner
    tokens[token, END_TAG] = token
    if context & _IN_SILENT:
        tokens[token, MEANING] = 0
    elif context & _IN_FOREIGN:
        tokens[token, MEANING] &= ~TITLE
    if meaning & VOID and not (context & _IN_FOREIGN or meaning & FOREIGN):
        tokens[token, KIND] = VOID_OPEN
        return True
    return False


@njit(cache=True, nogil=True)
def _write_end_tag(tokens: Ints, token: int, start_tag: int) -> None:
    tokens[token, OWNER], tokens[token, MEANING] = start_tag, tokens[start_tag, MEANING]
    tokens[start_tag, END_TAG] = token


@njit(cache=True, nogil=True)
def nest_tokens(tokens: Ints, is_escaped: bool) -> int:
    """Write the owner of each token, and return the depth (-1 if the tags do not match).

    ``is_escaped`` says that void elements have an end tag as well.
    """
    stack, contexts = np.empty(len(tokens) + 1, np.int64), np.zeros(len(tokens) + 1, np.uint8)
    stack[0], depth, deepest = ROOT, 0, 0
    for token in range(len(tokens)):
        kind = tokens[token, KIND]
        if kind <= RAW_TEXT:
            tokens[token, OWNER] = HIDDEN if contexts[depth] & _IN_SILENT else stack[depth]
        elif kind == CLOSE:
            if depth == 0 or tokens[stack[depth], NAME] != tokens[token, NAME]:
                return -1
            _write_end_tag(tokens, token, stack[depth])
            depth -= 1
        else:
            meaning = tokens[token, MEANING]
            if not contexts[depth] & _IN_TEMPLATE:
                deepest = max(deepest, depth + 1)
            is_void = _write_start_tag(tokens, token, stack[depth], contexts[depth])
            if is_escaped or not is_void:
                tokens[token, KIND] = OPEN
                contexts[depth + 1] = _context_inside(contexts[depth], meaning)
                depth += 1
                stack[depth] = token
    return deepest if depth == 0 else -1


@njit(cache=True, nogil=True)
def find_first(tokens: Ints, meaning: int) -> int:
    """Return the first start tag with that meaning, or -1."""
    for token in range(len(tokens)):
        if tokens[token, MEANING] & meaning and tokens[token, KIND] != CLOSE:
            return token
    return -1


@njit(cache=True, nogil=True)
def number_elements(tokens: Ints) -> tuple[int, np.uint64]:
    """Number the elements outside templates; return their number and the hash of the structure."""
    size, structure_hash = 0, _U(1)
    for token in range(len(tokens)):
        kind = tokens[token, KIND]
        if kind <= RAW_TEXT:
            continue
        if kind == CLOSE:
            tokens[token, ROW] = tokens[tokens[token, OWNER], ROW]
        elif tokens[token, OWNER] == HIDDEN:
            tokens[token, ROW] = -1
        else:
            tokens[token, ROW] = size
            size += 1
            structure_hash = (structure_hash ^ _U(tokens[token, NAME])) * _PRIME
        if kind != OPEN and tokens[token, ROW] >= 0:
            structure_hash = (structure_hash ^ _CLOSE_MARK) * _PRIME
    return size, mix_bits(structure_hash)


@njit(cache=True, nogil=True)
def _count_key(keys: Hashes, values: Ints, key: np.uint64) -> int:
    """Return how often a key was counted before, and count it."""
    slot = find_slot(keys, key)
    values[slot] += 1
    return int(values[slot]) - 1


@njit(cache=True, nogil=True)
def _name_index(keys: Hashes, values: Ints, name: np.uint64, names: Ints, token: int) -> int:
    """Return the index of a tag name among the page's names; names[0] is their number."""
    slot = find_slot(keys, mix_bits(name ^ _NAME_SALT))
    if values[slot] == 0:
        names[0] += 1
        names[names[0]] = token
        values[slot] = names[0]
    return int(values[slot]) - 1


@njit(cache=True, nogil=True)
def write_paths(tokens: Ints, rows: RowArray, hashes: Hashes) -> Ints:
    """Write tag, parent, index and path hashes of elements; return a token per tag name."""
    size, table_size = rows.shape[1], 16
    while table_size < 4 * size:
        table_size *= 2
    keys, values = np.zeros(table_size, np.uint64), np.zeros(table_size, np.int64)
    type_hashes, names = np.ones(size + 1, np.uint64), np.zeros(size + 1, np.int64)
    for token in range(len(tokens)):
        row = tokens[token, ROW]
        if tokens[token, KIND] < OPEN or tokens[token, KIND] == CLOSE or row < 0:
            continue
        name = _U(tokens[token, NAME])
        parent = tokens[tokens[token, OWNER], ROW] if tokens[token, OWNER] >= 0 else -1
        index = _count_key(keys, values, mix_bits(mix_bits(_U(parent + 2)) ^ name))
        type_hashes[row] = mix_bits(type_hashes[parent] * _PRIME + name)
        ordinal = _count_key(keys, values, mix_bits(type_hashes[row] ^ _TYPE_SALT))
        parent_path = hashes[FULL_PATH, parent] if parent >= 0 else _U(1)
        hashes[FULL_PATH, row] = mix_bits(mix_bits(parent_path * _PRIME + name) + _U(index))
        hashes[TYPE_PATH, row] = mix_bits(type_hashes[row] + _U(ordinal))
        rows[TAG, row] = _name_index(keys, values, name, names, token)
        rows[PARENT, row], rows[INDEX, row] = parent, index
    return names[1 : names[0] + 1]


@njit(cache=True, nogil=True)
def _add_text(run: Bytes, sums: Hashes, own_sums: Hashes) -> None:
    """Add a run of text to the running sums, and to the own text of its element."""
    total, power, inverse_power = sums[_SUM], sums[_POWER], sums[_INVERSE_POWER]
    if run[0] <= 0x20:
        total, run = total + _BLANK * power, run[1:]
        power, inverse_power = power * _STEP, inverse_power * _INVERSE
    total_before, inverse_before = total, inverse_power
    for byte in run:
        total += _WEIGHTS[0x20 if byte == 0x0A else byte] * power
        power *= _STEP
        inverse_power *= _INVERSE
    sums[_SUM], sums[_POWER], sums[_INVERSE_POWER] = total, power, inverse_power
    if own_sums[_OWN_POWER] != 1:
        own_sums[_OWN_SUM] += _BLANK * own_sums[_OWN_POWER]
        own_sums[_OWN_POWER] *= _STEP
    own_sums[_OWN_SUM] += (total - total_before) * inverse_before * own_sums[_OWN_POWER]
    own_sums[_OWN_POWER] *= power * inverse_before


@njit(cache=True, nogil=True)
def _subtree_hash(sums: Hashes, start_sums: Hashes, text: Bytes) -> np.uint64:
    """Return the hash of the text that an element added, without a leading blank."""
    total, inverse_power = sums[_SUM] - start_sums[_SUM], start_sums[_INVERSE_POWER]
    if text.size and text[0] <= 0x20:
        total, inverse_power = total - _BLANK * start_sums[_POWER], inverse_power * _INVERSE
    return mix_bits(total * inverse_power)


@njit(cache=True, nogil=True)
def write_text_hashes(tokens: Ints, text: Bytes, rows: RowArray, hashes: Hashes) -> None:
    """Write the hashes of each element's own text and subtree text, and the range of the latter.

    The hash of a range of text follows from the running sums at both its ends (text_hash.py).
    """
    sums, start_sums = np.ones(3, np.uint64), np.zeros((hashes.shape[1] + 1, 5), np.uint64)
    sums[_SUM] = 0
    for token in range(len(tokens)):
        kind, owner, row = tokens[token, KIND], tokens[token, OWNER], tokens[token, ROW]
        if kind <= RAW_TEXT:
            start = tokens[token, TEXT_OFFSET]
            end = tokens[token + 1, TEXT_OFFSET] if token + 1 < len(tokens) else text.size
            if owner >= 0 and end > start:
                _add_text(text[start:end], sums, start_sums[tokens[owner, ROW]])
        elif row < 0:
            continue
        elif kind == CLOSE:
            hashes[OWN_TEXT, row] = mix_bits(start_sums[row, _OWN_SUM])
            within = text[tokens[owner, TEXT_OFFSET] : tokens[token, TEXT_OFFSET]]
            hashes[SUBTREE_TEXT, row] = _subtree_hash(sums, start_sums[row], within)
            rows[TEXT_START, row] += 1 if within.size and within[0] <= 0x20 else 0
            rows[TEXT_END, row] = tokens[token, TEXT_OFFSET]
        else:
            start_sums[row, :3], start_sums[row, _OWN_POWER] = sums, 1
            hashes[OWN_TEXT, row] = hashes[SUBTREE_TEXT, row] = 0
            rows[TEXT_START, row] = rows[TEXT_END, row] = tokens[token, TEXT_OFFSET]


@njit(cache=True, nogil=True)
def _line_lengths(tokens: Ints, references: Ints, max_chars: int) -> tuple[int, int, int]:
    """Return the maximum number of bytes of the hrefs, anchors and rels, a line each."""
    hrefs = anchors = rels = len(references)
    for index in range(len(references)):
        token = references[index, 0]
        hrefs += references[index, 2] - references[index, 1]
        text_end = tokens[tokens[token, END_TAG], TEXT_OFFSET]
        anchors += min(text_end - tokens[token, TEXT_OFFSET], max_chars * _MAX_UTF8_BYTES)
        rels += references[index, 4] - references[index, 3]
    return hrefs, anchors, rels


@njit(cache=True, nogil=True)
def link_lines(
    source: Bytes, tokens: Ints, text: Bytes, references: Ints, max_chars: int
) -> tuple[Bytes, Bytes, Bytes]:
    """Return hrefs, anchor texts and rels, a line per distinct href (its first link)."""
    sizes, table_size = _line_lengths(tokens, references, max_chars), 16
    while table_size < 2 * len(references):
        table_size *= 2
    keys, values = np.zeros(table_size, np.uint64), np.zeros(table_size, np.int64)
    hrefs, anchors = np.empty(sizes[0], np.uint8), np.empty(sizes[1], np.uint8)
    rels, href, anchor, rel = np.empty(sizes[2], np.uint8), 0, 0, 0
    for index in range(len(references)):
        token, begin, end, rel_begin, rel_end = references[index]
        size, value = copy_href(source, begin, end, hrefs[href:])
        if _count_key(keys, values, mix_bits(value)):
            continue
        text_start = tokens[token, TEXT_OFFSET]
        text_end = tokens[tokens[token, END_TAG], TEXT_OFFSET]
        href += size
        anchor += copy_anchor(text, text_start, text_end, anchors[anchor:], max_chars)
        rel += copy_rel(source, rel_begin, rel_end, rels[rel:])
        hrefs[href] = anchors[anchor] = rels[rel] = 0x0A
        href, anchor, rel = href + 1, anchor + 1, rel + 1
    return hrefs[:href], anchors[:anchor], rels[:rel]
