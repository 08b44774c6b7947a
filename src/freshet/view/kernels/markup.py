"""Compiled reading of serialised markup: its tokens, its visible text and its references.

The markup is what lexbor writes for a parsed tree: every element is closed, attribute values stand
in double quotes and ``<`` in text is escaped, so that one pass can follow it exactly. Where the raw
text of foreign elements makes it ambiguous, ``tokenise`` gives nothing.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

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

# The columns of a token; the last four are filled by later passes. OWNER is the start tag of the
# element that a text or tag is in, or that an end tag closes; LAST is a start tag's end tag.
KIND, START, END, NAME, MEANING, OWNER, END_TAG, TEXT_OFFSET, ROW = range(9)
TOKEN_COLUMNS = 9
TEXT, RAW_TEXT, OPEN, VOID_OPEN, CLOSE = range(5)
ROOT, HIDDEN = -1, -2

_KEYS, _MEANINGS = name_table(tag_meanings())
_U = np.uint64
_PRIME, _SEED = _U(NAME_PRIME), _U(NAME_SEED)
_HREF, _REL = np.frombuffer(b"href", np.uint8), np.frombuffer(b"rel", np.uint8)


@njit(cache=True, nogil=True)
def mix_bits(value: np.uint64) -> np.uint64:
    """Spread every bit of a number over all of them (``texthash.mixed``, compiled)."""
    value = (value ^ (value >> _U(33))) * _U(0xFF51AFD7ED558CCD)
    value = (value ^ (value >> _U(33))) * _U(0xC4CEB9FE1A85EC53)
    return value ^ (value >> _U(33))


@njit(cache=True, nogil=True)
def find_slot(keys: Hashes, key: np.uint64) -> int:
    """Return where a key lies in an open-addressing table, placing it when it is new."""
    last = keys.size - 1
    place = int(np.int64(key & _U(last)))
    while keys[place] != 0 and keys[place] != key:
        place = (place + 1) & last
    keys[place] = key
    return place


@njit(cache=True, nogil=True)
def look_up_name(name: np.uint64, keys: Hashes, numbers: Ints) -> int:
    """Return the number that a table of ``tags.name_table`` gives to a name's hash."""
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
    """Return where a tag name ends, and its hash in lower case."""
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
    """Return where an attribute's name ends, its value starts and ends, and what follows starts."""
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
    """Return where a comment or a document type ends."""
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
    end, found = _read_name(source, position + 2)
    return found == name and end < source.size and source[end] == 0x3E


@njit(cache=True, nogil=True)
def _raw_end(source: Bytes, start: int, name: np.uint64, doubtful: bool) -> int:
    """Return where raw text ends, or -1 when what is in it may be text or tags."""
    position = _find(source, start, 0x3C)
    while position < source.size and not _is_end_of(source, position, name):
        if doubtful:
            return -1
        position = _find(source, position + 1, 0x3C)
    return position if position < source.size else -1


@njit(cache=True, nogil=True)
def _add(tokens: Ints, size: int, kind: int, start: int, end: int) -> int:
    tokens[size, KIND], tokens[size, START], tokens[size, END] = kind, start, end
    tokens[size, MEANING] = 0
    return size + 1


@njit(cache=True, nogil=True)
def _add_tag(source: Bytes, position: int, tokens: Ints, size: int) -> int:
    """Write the token of a tag, and return where the tag ends."""
    closing = position + 1 < source.size and source[position + 1] == 0x2F
    start = position + 2 if closing else position + 1
    end, name = _read_name(source, start)
    _add(tokens, size, CLOSE if closing else OPEN, start, end)
    tokens[size, NAME] = np.int64(name)
    tokens[size, MEANING] = look_up_name(name, _KEYS, _MEANINGS)
    return end + 1 if closing else _skip_attributes(source, end)


@njit(cache=True, nogil=True)
def _add_raw(source: Bytes, position: int, tokens: Ints, size: int, foreign: bool) -> int:
    """Write the raw text of the element just opened, and return where it ends (-1: unknown)."""
    doubtful = foreign or tokens[size - 1, MEANING] & PLAIN != 0
    end = _raw_end(source, position, np.uint64(tokens[size - 1, NAME]), doubtful)
    _add(tokens, size, RAW_TEXT, position, end)
    return end


@njit(cache=True, nogil=True)
def tokenise(source: Bytes, tokens: Ints, escaped: bool) -> int:
    """Write the tags and texts of the markup, and return how many there are (-1: ambiguous).

    ``escaped`` says that no text is raw.
    """
    size, position, foreign = 0, 0, 0
    while 0 <= position < source.size:
        if source[position] != 0x3C:
            end = _find(source, position, 0x3C)
            size, position = _add(tokens, size, TEXT, position, end), end
            continue
        if position + 1 < source.size and source[position + 1] == 0x21:
            position = _skip_declaration(source, position)
            continue
        position = _add_tag(source, position, tokens, size)
        kind, meaning, size = tokens[size, KIND], tokens[size, MEANING], size + 1
        if meaning & FOREIGN:
            foreign += 1 if kind == OPEN else -1
        if meaning & RAW and kind == OPEN and not escaped:
            position, size = _add_raw(source, position, tokens, size, foreign > 0), size + 1
    return size if position >= 0 else -1


@njit(cache=True, nogil=True)
def _entity(source: Bytes, position: int) -> tuple[int, int]:
    """Return the byte that an escape means and its length; a no-break space is a blank."""
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
def _special(source: Bytes, position: int, raw: bool) -> tuple[int, int]:
    """Return what an escape or a character of two bytes reads as, and its length."""
    if source[position] == 0x26 and not raw:
        return _entity(source, position)
    if position + 1 < source.size and source[position + 1] == 0xA0:
        return 0x20, 2
    return int(source[position]), 1


@njit(cache=True, nogil=True)
def _write(
    source: Bytes, tokens: Ints, at: int, text: Bytes, length: int, pending: int
) -> tuple[int, int]:
    """Append the text of a token, its white space collapsed and its escapes undone."""
    position, end, raw = tokens[at, START], tokens[at, END], tokens[at, KIND] == RAW_TEXT
    while position < end:
        byte, width = int(source[position]), 1
        if byte == 0x26 or byte == 0xC2:
            byte, width = _special(source, position, raw)
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
    """Write the visible text, and at every token how long it is by then; return its length.

    White space and control characters are collapsed; where a block starts or ends, it is a newline.
    """
    length, pending = 0, 0
    for at in range(len(tokens)):
        tokens[at, TEXT_OFFSET] = length
        if tokens[at, KIND] <= RAW_TEXT and tokens[at, OWNER] >= 0:
            length, pending = _write(source, tokens, at, text, length, pending)
        elif tokens[at, MEANING] & BLOCK:
            pending = 2
    return length


@njit(cache=True, nogil=True)
def _is_named(source: Bytes, start: int, end: int, name: Bytes) -> bool:
    same = end - start == name.size
    for offset in range(name.size if same else 0):
        same = same and source[start + offset] == name[offset]
    return same


@njit(cache=True, nogil=True)
def find_references(source: Bytes, tokens: Ints, which: int) -> Ints:
    """Return where href and rel of elements of that meaning lie: token, href, rel (start, end)."""
    found, size = np.empty((len(tokens), 5), np.int64), 0
    for at in range(len(tokens)):
        if not tokens[at, MEANING] & which or tokens[at, KIND] == CLOSE:
            continue
        found[size, 0], found[size, 1], found[size, 3], found[size, 4] = at, -1, 0, 0
        position = tokens[at, END]
        while position < source.size and source[position] == 0x20:
            name_end, start, end, following = _read_attribute(source, position + 1)
            if _is_named(source, position + 1, name_end, _HREF):
                found[size, 1], found[size, 2] = start, end
            elif _is_named(source, position + 1, name_end, _REL):
                found[size, 3], found[size, 4] = start, end
            position = following
        size += found[size, 1] >= 0
    return found[:size]


@njit(cache=True, nogil=True)
def copy_href(source: Bytes, start: int, end: int, target: Bytes) -> tuple[int, np.uint64]:
    """Copy a reference up to its fragment, line breaks dropped; return its length and hash."""
    position, size, value = start, 0, _SEED
    while position < end and source[position] != 0x23:
        byte, width = int(source[position]), 1
        if byte == 0x26:
            byte, width = _entity(source, position)
        if byte != 0x0A and byte != 0x0D and byte != 0x09:
            target[size] = byte
            value = (value ^ _U(byte)) * _PRIME
            size += 1
        position += width
    return size, value


@njit(cache=True, nogil=True)
def copy_rel(source: Bytes, start: int, end: int, target: Bytes) -> int:
    """Copy a rel attribute in lower case on one line, and return its length."""
    for offset in range(end - start):
        byte = source[start + offset]
        target[offset] = 0x20 if byte < 0x20 else byte | 0x20 if 0x41 <= byte <= 0x5A else byte
    return end - start


@njit(cache=True, nogil=True)
def copy_anchor(text: Bytes, start: int, end: int, target: Bytes, longest: int) -> int:
    """Copy a text of at most ``longest`` characters on one line, and return its length."""
    characters, size = 0, 0
    for position in range(start, end):
        byte = text[position]
        if byte <= 0x20 and size == 0:
            continue
        characters += byte & 0xC0 != 0x80
        if characters > longest:
            break
        target[size] = 0x20 if byte == 0x0A else byte
        size += 1
    return size
