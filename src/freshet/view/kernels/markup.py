"""Compiled reading of serialised markup: tokens, visible text and references.

The markup is lexbor's serialisation of a parsed tree: every element is closed, attribute values are
in double quotes and ``<`` in text is escaped, so that one pass can follow it exactly. If the raw
text of foreign elements makes it ambiguous, ``tokenise`` returns -1.
"""

from collections.abc import Callable
from typing import cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from freshet.core import hashing
from freshet.view.tags import (
    BLOCK,
    FOREIGN,
    NAME_PRIME,
    NAME_SEED,
    PLAIN,
    RAW,
    SLOTS,
    name_table,
    tag_meanings,
)  # fmt: skip

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

# The columns of a token; later passes fill the last four. OWNER is the start tag of the element
# that contains a text or tag, or that an end tag closes; END_TAG is the end tag of a start tag.
KIND, START, END, NAME, MEANING, OWNER, END_TAG, TEXT_OFFSET, ROW = range(9)
TOKEN_COLUMNS = 9
TEXT, RAW_TEXT, OPEN, VOID_OPEN, CLOSE = range(5)
ROOT, HIDDEN = -1, -2

_KEYS, _MEANINGS = name_table(tag_meanings())
_U = np.uint64
_PRIME, _SEED = _U(NAME_PRIME), _U(NAME_SEED)
_HREF, _REL = np.frombuffer(b"href", np.uint8), np.frombuffer(b"rel", np.uint8)

ScalarMix = Callable[[np.uint64], np.uint64]
mix_bits = cast("ScalarMix", njit(cache=True, nogil=True)(hashing.mix_bits))


@njit(cache=True, nogil=True)
def find_slot(keys: Hashes, key: np.uint64) -> int:
    """Return the slot of a key in an open-addressing table; insert the key if it is new."""
    last = keys.size - 1
    slot = int(np.int64(key & _U(last)))
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + 1) & last
    keys[slot] = key
    return slot


@njit(cache=True, nogil=True)
def look_up_name(name: np.uint64, keys: Hashes, numbers: Ints) -> int:
    """Return the number that a table of ``tags.name_table`` holds for the hash of a name."""
    slot = int(np.int64(name % _U(SLOTS)))
    while keys[slot] != 0:
        if keys[slot] == name:
            return int(numbers[slot])
        slot = (slot + 1) % SLOTS
    return 0


@njit(cache=True, nogil=True)
def _find(source: Bytes, position: int, wanted: int) -> int:
    while position < source.size and source[position] != wanted:
        position += 1
    return position


@njit(cache=True, nogil=True)
def _read_name(source: Bytes, position: int) -> tuple[int, np.uint64]:
    """Return the end of a tag name and its hash in lower case."""
    value = _SEED
    while position < source.size and source[position] != 0x20 and source[position] != 0x3E:
        byte = source[position]
        if 0x41 <= byte <= 0x5A:
            byte |= 0x20
        value = (value ^ _U(byte)) * _PRIME
        position += 1
    return position, value


@njit(cache=True, nogil=True)
def _read_attribute(source: Bytes, position: int) -> tuple[int, int, int, int]:
    """Return an attribute's end of name, start and end of value, and the next position."""
    end = position + 1
    while end < source.size and source[end] != 0x20 and source[end] != 0x3E and source[end] != 0x3D:
        end += 1
    if end < source.size and source[end] == 0x3D:
        close = _find(source, end + 2, 0x22)
        return end, end + 2, close, close + 1
    return end, end, end, end


@njit(cache=True, nogil=True)
def _skip_attributes(source: Bytes, position: int) -> int:
    while position < source.size and source[position] == 0x20:
        position = _read_attribute(source, position + 1)[3]
    return position + 1


@njit(cache=True, nogil=True)
def _skip_declaration(source: Bytes, position: int) -> int:
    """Return the end of a comment or a document type."""
    if position + 2 < source.size and source[position + 2] != 0x2D:
        return _find(source, position, 0x3E) + 1
    position = _find(source, position + 6, 0x3E)
    while position < source.size and (source[position - 1] != 0x2D or source[position - 2] != 0x2D):
        position = _find(source, position + 1, 0x3E)
    return position + 1


@njit(cache=True, nogil=True)
def _is_end_of(source: Bytes, position: int, name: np.uint64) -> bool:
    if position + 1 >= source.size or source[position + 1] != 0x2F:
        return False
    end, found_name = _read_name(source, position + 2)
    return found_name == name and end < source.size and source[end] == 0x3E


@njit(cache=True, nogil=True)
def _raw_end(source: Bytes, start: int, name: np.uint64, is_ambiguous: bool) -> int:
    """Return the end of raw text, or -1 if its content may be text or tags."""
    position = _find(source, start, 0x3C)
    while position < source.size and not _is_end_of(source, position, name):
        if is_ambiguous:
            return -1
        position = _find(source, position + 1, 0x3C)
    return position if position < source.size else -1


@njit(cache=True, nogil=True)
def _add_token(tokens: Ints, size: int, kind: int, start: int, end: int) -> int:
    tokens[size, KIND], tokens[size, START], tokens[size, END] = kind, start, end
    tokens[size, MEANING] = 0
    return size + 1


@njit(cache=True, nogil=True)
def _add_tag(source: Bytes, position: int, tokens: Ints, size: int) -> int:
    """Write the token of a tag, and return the end of the tag."""
    is_end_tag = position + 1 < source.size and source[position + 1] == 0x2F
    start = position + 2 if is_end_tag else position + 1
    end, name = _read_name(source, start)
    _add_token(tokens, size, CLOSE if is_end_tag else OPEN, start, end)
    tokens[size, NAME] = np.int64(name)
    tokens[size, MEANING] = look_up_name(name, _KEYS, _MEANINGS)
    return end + 1 if is_end_tag else _skip_attributes(source, end)


@njit(cache=True, nogil=True)
def _add_raw(source: Bytes, position: int, tokens: Ints, size: int, in_foreign: bool) -> int:
    """Write the raw text of the element just opened, and return its end (-1: unknown)."""
    is_ambiguous = in_foreign or tokens[size - 1, MEANING] & PLAIN != 0
    end = _raw_end(source, position, np.uint64(tokens[size - 1, NAME]), is_ambiguous)
    _add_token(tokens, size, RAW_TEXT, position, end)
    return end


@njit(cache=True, nogil=True)
def tokenise(source: Bytes, tokens: Ints, is_escaped: bool) -> int:
    """Write the tags and texts of the markup, and return their number (-1: ambiguous).

    ``is_escaped`` says that no text is raw.
    """
    size, position, foreign_depth = 0, 0, 0
    while 0 <= position < source.size:
        if source[position] != 0x3C:
            end = _find(source, position, 0x3C)
            size, position = _add_token(tokens, size, TEXT, position, end), end
            continue
        if position + 1 < source.size and source[position + 1] == 0x21:
            position = _skip_declaration(source, position)
            continue
        position = _add_tag(source, position, tokens, size)
        kind, meaning, size = tokens[size, KIND], tokens[size, MEANING], size + 1
        if meaning & FOREIGN:
            foreign_depth += 1 if kind == OPEN else -1
        if meaning & RAW and kind == OPEN and not is_escaped:
            position, size = _add_raw(source, position, tokens, size, foreign_depth > 0), size + 1
    return size if position >= 0 else -1


@njit(cache=True, nogil=True)
def _read_entity(source: Bytes, position: int) -> tuple[int, int]:
    """Return the byte of a character reference and its length; a no-break space is a blank."""
    second = source[position + 1] if position + 1 < source.size else 0
    third = source[position + 2] if position + 2 < source.size else 0
    if second == 0x6C and third == 0x74:
        return 0x3C, 4
    if second == 0x67 and third == 0x74:
        return 0x3E, 4
    if second == 0x6E and third == 0x62:
        return 0x20, 6
    if second == 0x71:
        return 0x22, 6
    return 0x26, 5


@njit(cache=True, nogil=True)
def _read_special(source: Bytes, position: int, is_raw: bool) -> tuple[int, int]:
    """Return the byte of a character reference or two-byte character, and its length."""
    if source[position] == 0x26 and not is_raw:
        return _read_entity(source, position)
    if position + 1 < source.size and source[position + 1] == 0xA0:
        return 0x20, 2
    return int(source[position]), 1


@njit(cache=True, nogil=True)
def _append_text(
    source: Bytes, tokens: Ints, token: int, text: Bytes, length: int, pending: int
) -> tuple[int, int]:
    """Append the text of a token with collapsed white space and decoded character references."""
    position, end = tokens[token, START], tokens[token, END]
    is_raw = tokens[token, KIND] == RAW_TEXT
    while position < end:
        byte, width = int(source[position]), 1
        if byte == 0x26 or byte == 0xC2:
            byte, width = _read_special(source, position, is_raw)
        position += width
        if byte <= 0x20:
            pending = max(pending, 1)
            continue
        if pending:
            text[length] = 0x0A if pending == 2 else 0x20
            length += 1 if length else 0
            pending = 0
        text[length] = byte
        length += 1
    return length, pending


@njit(cache=True, nogil=True)
def write_text(source: Bytes, tokens: Ints, text: Bytes) -> int:
    """Write the visible text, and the length so far at every token; return the total length.

    White space and control characters are collapsed; the edge of a block is a newline.
    """
    length, pending = 0, 0
    for token in range(len(tokens)):
        tokens[token, TEXT_OFFSET] = length
        if tokens[token, KIND] <= RAW_TEXT and tokens[token, OWNER] >= 0:
            length, pending = _append_text(source, tokens, token, text, length, pending)
        elif tokens[token, MEANING] & BLOCK:
            pending = 2
    return length


@njit(cache=True, nogil=True)
def _is_named(source: Bytes, start: int, end: int, name: Bytes) -> bool:
    is_same = end - start == name.size
    for offset in range(name.size if is_same else 0):
        is_same = is_same and source[start + offset] == name[offset]
    return is_same


@njit(cache=True, nogil=True)
def find_references(source: Bytes, tokens: Ints, meaning: int) -> Ints:
    """Return token, href range and rel range of the elements with that meaning."""
    references, size = np.empty((len(tokens), 5), np.int64), 0
    for token in range(len(tokens)):
        if not tokens[token, MEANING] & meaning or tokens[token, KIND] == CLOSE:
            continue
        references[size, 0], references[size, 1] = token, -1
        references[size, 3], references[size, 4] = 0, 0
        position = tokens[token, END]
        while position < source.size and source[position] == 0x20:
            name_end, start, end, following = _read_attribute(source, position + 1)
            if _is_named(source, position + 1, name_end, _HREF):
                references[size, 1], references[size, 2] = start, end
            elif _is_named(source, position + 1, name_end, _REL):
                references[size, 3], references[size, 4] = start, end
            position = following
        size += references[size, 1] >= 0
    return references[:size]


@njit(cache=True, nogil=True)
def copy_href(source: Bytes, start: int, end: int, target: Bytes) -> tuple[int, np.uint64]:
    """Copy a reference up to its fragment, without line breaks; return its length and hash."""
    position, size, value = start, 0, _SEED
    while position < end and source[position] != 0x23:
        byte, width = int(source[position]), 1
        if byte == 0x26:
            byte, width = _read_entity(source, position)
        if byte != 0x0A and byte != 0x0D and byte != 0x09:
            target[size] = byte
            value = (value ^ _U(byte)) * _PRIME
            size += 1
        position += width
    return size, value


@njit(cache=True, nogil=True)
def copy_rel(source: Bytes, start: int, end: int, target: Bytes) -> int:
    """Copy a rel attribute in lower case on one line; return its length."""
    for offset in range(end - start):
        byte = source[start + offset]
        target[offset] = 0x20 if byte < 0x20 else byte | 0x20 if 0x41 <= byte <= 0x5A else byte
    return end - start


@njit(cache=True, nogil=True)
def copy_anchor(text: Bytes, start: int, end: int, target: Bytes, max_chars: int) -> int:
    """Copy at most ``max_chars`` characters of a text on one line; return its length."""
    characters, size = 0, 0
    for position in range(start, end):
        byte = text[position]
        if byte <= 0x20 and size == 0:
            continue
        characters += byte & 0xC0 != 0x80
        if characters > max_chars:
            break
        target[size] = 0x20 if byte == 0x0A else byte
        size += 1
    return size
