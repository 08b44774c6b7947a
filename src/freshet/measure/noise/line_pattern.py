"""Mask patterns of lines that differ in part."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

from freshet.measure.noise.calendar_words import CALENDAR_WORDS, TIME_UNITS
from freshet.measure.noise.mask_pattern import MAX_PATTERN_CHARS

NUMBER_SIGN, WILDCARD = "#", "*"
MAX_CONTEXT_WORDS = 6
MIN_LETTERS = 3
MIN_LETTERS_BEFORE = 5
MIN_LETTERS_AFTER = 8
MAX_CACHED_CHARS = 500
_TOKEN = re.compile(r"\d+|[^\W\d_]+|\s+|[\W_]")
_WORD_OR_NUMBER = re.compile(r"\d+|[^\W\d_]+")
_TIME_WORDS = CALENDAR_WORDS | TIME_UNITS
_ENDS_A_SENTENCE = frozenset(".!?")
_SPECIAL = frozenset("\\*#")
_REPEATED_WILDCARD = re.compile(r"(?<!\\)\*(?: ?\*)+")
_NUMBER_JOINERS = frozenset(":-/.")
_MAX_TOKENS_BETWEEN = 2

Tokens = list[str]


def tokenize(text: str) -> Tokens:
    """Split a line into numbers, words, blanks and other characters.

    >>> tokenize("at 12:05pm")
    ['at', ' ', '12', ':', '05', 'pm']
    """
    return _TOKEN.findall(text)


def line_shape(text: str) -> str:
    """Return a line with placeholders for numbers, calendar words and units of time.

    >>> line_shape("made on 3 May 2026 in 0.12 seconds")
    'made on # * # in #.# *'
    """
    return _cached_shape(text) if len(text) <= MAX_CACHED_CHARS else _shape(text)


def _shape(text: str) -> str:
    return _WORD_OR_NUMBER.sub(_placeholder, text)


_cached_shape = lru_cache(maxsize=20_000)(_shape)


def has_number(shape: str) -> bool:
    """Return whether a shape contains a number.

    >>> has_number(line_shape("3 May")), has_number(line_shape("in May"))
    (True, False)
    """
    return NUMBER_SIGN in shape


def common_pattern(texts: Sequence[str], *, words_after: bool = True) -> str | None:
    """Return a pattern for the parts in which lines differ, with a few words around it.

    None where the lines have too little in common for a specific pattern. Where whole words differ,
    ``words_after`` allows the words after them to identify the pattern alone.

    >>> common_pattern(["Page made at 9:05 on 3 May", "Page made at 9:06 on 3 May"])
    'Page made at #:# on # *'
    >>> common_pattern(["Advertisement: buy tea!", "Advertisement: see the sea!"])
    'Advertisement: *!'
    """
    lines = [tokenize(text) for text in dict.fromkeys(texts)]
    if len(lines) < 2:
        return None
    before = _common_prefix(lines)
    after = _common_prefix([line[len(before) :][::-1] for line in lines])[::-1]
    before = before[: len(before) - _date_length(before[::-1])]
    after = after[_date_length(after) :]
    cores = [line[len(before) : len(line) - len(after)] for line in lines]
    core = _merge_cores(cores)
    before, after = _nearest_words(before[::-1])[::-1], _nearest_words(after)
    if not _is_specific(
        before, after, counted=_only_numbers_differ(cores), words_after=words_after
    ):
        return None
    pattern = "".join([*_context_pattern(before), core, *_context_pattern(after)]).strip()
    pattern = f"\\{pattern}" if pattern.startswith("/") else pattern
    return pattern if len(pattern) <= MAX_PATTERN_CHARS else None


def differing_parts(texts: Sequence[str]) -> list[str]:
    """Return the part in which lines differ, one for each distinct line.

    >>> differing_parts(["seen 3 times", "seen 12 times"])
    ['3', '12']
    """
    lines = [tokenize(text) for text in dict.fromkeys(texts)]
    before = len(_common_prefix(lines))
    after = len(_common_prefix([line[before:][::-1] for line in lines]))
    return ["".join(line[before : len(line) - after]) for line in lines]


def literal_pattern(text: str) -> str | None:
    """Return the pattern that matches a line literally; None for a line with few letters.

    >>> literal_pattern("Sell with us")
    'Sell with us'
    """
    tokens = tokenize(text)
    pattern = "".join(map(_escaped, tokens))
    pattern = f"\\{pattern}" if pattern.startswith("/") else pattern
    enough = _letter_count(tokens) >= MIN_LETTERS_AFTER
    return pattern if enough and len(pattern) <= MAX_PATTERN_CHARS else None


def _placeholder(match: re.Match[str]) -> str:
    token = match[0]
    if token.isdigit():
        return NUMBER_SIGN
    return WILDCARD if token.casefold() in _TIME_WORDS else token


def _common_prefix(lines: Sequence[Tokens]) -> Tokens:
    """Return the tokens with which all lines start."""
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*lines, strict=False))
    return [column[0] for column in columns]


def _date_length(tokens: Tokens) -> int:
    """Return how many tokens next to the difference belong to the same date, time or number."""
    length = 0
    for index, token in enumerate(tokens):
        if _is_date_token(token):
            length = index + 1
        elif token.isalpha() or index - length >= _MAX_TOKENS_BETWEEN:
            break
    return length


def _is_date_token(token: str) -> bool:
    return token.isdigit() or token.casefold() in CALENDAR_WORDS


def _merge_cores(cores: Sequence[Tokens]) -> str:
    """Return the pattern of the differing parts, token by token where they are equally long."""
    if len({len(core) for core in cores}) > 1:
        return WILDCARD
    merged = [_merge_column(column) for column in zip(*cores, strict=True)]
    tokens = [
        WILDCARD if _between_numbers(merged, index) else token for index, token in enumerate(merged)
    ]
    return _REPEATED_WILDCARD.sub(WILDCARD, "".join(tokens))


def _only_numbers_differ(cores: Sequence[Tokens]) -> bool:
    """Return whether the parts differ in numbers and calendar words only."""
    if len({len(core) for core in cores}) > 1:
        return not any(token.isalpha() for core in cores for token in core)
    columns = [column for column in zip(*cores, strict=True) if len(set(column)) > 1]
    return all(_is_date_token(token) for column in columns for token in column)


def _merge_column(column: tuple[str, ...]) -> str:
    if all(token.isdigit() for token in column):
        return NUMBER_SIGN
    if len(set(column)) > 1 or column[0].casefold() in CALENDAR_WORDS:
        return WILDCARD
    return _escaped(column[0])


def _between_numbers(tokens: Tokens, position: int) -> bool:
    """Return whether a word is between two numbers, like the name of a month."""
    if not tokens[position].isalpha():
        return False
    before = (tokens[index] for index in range(position - 1, -1, -1))
    after = (tokens[index] for index in range(position + 1, len(tokens)))
    sides = (next((token for token in side if not token.isspace()), "") for side in (before, after))
    return all(token == NUMBER_SIGN for token in sides)


def _nearest_words(tokens: Tokens) -> Tokens:
    """Return the few words next to the difference, within their sentence."""
    nearest: Tokens = []
    words = 0
    for index, token in enumerate(tokens):
        neighbours = (
            "".join(tokens[max(index - 1, 0) : index]),
            "".join(tokens[index + 1 : index + 2]),
        )
        ends_sentence = token in _ENDS_A_SENTENCE and any(
            not near or near.isspace() for near in neighbours
        )
        if (ends_sentence and index > 0) or words >= MAX_CONTEXT_WORDS:
            break
        nearest.append(token)
        words += token.isalpha()
    return nearest


def _context_pattern(tokens: Tokens) -> Tokens:
    """Return the tokens around the difference, with placeholders for dates and times."""
    return [
        NUMBER_SIGN
        if token.isdigit() and _in_a_date(tokens, index)
        else WILDCARD
        if token.casefold() in CALENDAR_WORDS
        else _escaped(token)
        for index, token in enumerate(tokens)
    ]


def _in_a_date(tokens: Tokens, index: int) -> bool:
    """Return whether a number is next to a calendar word or joined to another number."""
    for step in (-1, 1):
        neighbours = [
            tokens[index + step * distance]
            for distance in (1, 2)
            if 0 <= index + step * distance < len(tokens)
        ]
        if any(token.casefold() in CALENDAR_WORDS for token in neighbours):
            return True
        if len(neighbours) == 2 and neighbours[0] in _NUMBER_JOINERS and neighbours[1].isdigit():
            return True
    return False


def _is_specific(before: Tokens, after: Tokens, *, counted: bool, words_after: bool) -> bool:
    """Return whether the words around the difference are enough to identify it."""
    if counted:
        return _letter_count(before) + _letter_count(after) >= MIN_LETTERS
    follows = words_after and _letter_count(after) >= MIN_LETTERS_AFTER
    return _letter_count(before) >= MIN_LETTERS_BEFORE or follows


def _letter_count(tokens: Tokens) -> int:
    return sum(len(token) for token in tokens if token.isalpha())


def _escaped(token: str) -> str:
    if token.isspace():
        return " "
    return f"\\{token}" if token in _SPECIAL else token
