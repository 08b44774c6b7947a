"""What stands still in lines that differ, and how a mask's pattern says it."""

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
_TIMELY = CALENDAR_WORDS | TIME_UNITS
_ENDS_A_SENTENCE = frozenset(".!?")
_SPECIAL = frozenset("\\*#")
_MANY = re.compile(r"(?<!\\)\*(?: ?\*)+")
_JOINS = frozenset(":-/.")
_NEAR = 2

Tokens = list[str]


def tokenize(text: str) -> Tokens:
    """Cut a line into numbers, words, blanks and signs.

    >>> tokenize("at 12:05pm")
    ['at', ' ', '12', ':', '05', 'pm']
    """
    return _TOKEN.findall(text)


def line_shape(text: str) -> str:
    """Return a line with numbers, names of the calendar and units of time left open.

    >>> line_shape("made on 3 May 2026 in 0.12 seconds")
    'made on # * # in #.# *'
    """
    return _remembered_shape(text) if len(text) <= MAX_CACHED_CHARS else _shape(text)


def _shape(text: str) -> str:
    return _WORD_OR_NUMBER.sub(_open, text)


_remembered_shape = lru_cache(maxsize=20_000)(_shape)


def has_number(shape: str) -> bool:
    """Say whether a shape leaves a number open.

    >>> has_number(line_shape("3 May")), has_number(line_shape("in May"))
    (True, False)
    """
    return NUMBER_SIGN in shape


def common_pattern(texts: Sequence[str], *, words_after: bool = True) -> str | None:
    """Return the pattern of what differs between lines, with a few words around it.

    None where they have too little in common for a pattern that hits nothing else. Where whole
    words differ, ``words_after`` allows what follows them to tell them alone.

    >>> common_pattern(["Page made at 9:05 on 3 May", "Page made at 9:06 on 3 May"])
    'Page made at #:# on # *'
    >>> common_pattern(["Advertisement: buy tea!", "Advertisement: see the sea!"])
    'Advertisement: *!'
    """
    lines = [tokenize(text) for text in dict.fromkeys(texts)]
    if len(lines) < 2:
        return None
    before = _common(lines)
    after = _common([line[len(before) :][::-1] for line in lines])[::-1]
    before = before[: len(before) - _dated(before[::-1])]
    after = after[_dated(after) :]
    cores = [line[len(before) : len(line) - len(after)] for line in lines]
    core = _merged(cores)
    before, after = _nearest(before[::-1])[::-1], _nearest(after)
    if not _tells(before, after, counted=_count_on(cores), words_after=words_after):
        return None
    pattern = "".join([*_context(before), core, *_context(after)]).strip()
    pattern = f"\\{pattern}" if pattern.startswith("/") else pattern
    return pattern if len(pattern) <= MAX_PATTERN_CHARS else None


def differing_parts(texts: Sequence[str]) -> list[str]:
    """Return what differs between lines, one part for each different line.

    >>> differing_parts(["seen 3 times", "seen 12 times"])
    ['3', '12']
    """
    lines = [tokenize(text) for text in dict.fromkeys(texts)]
    before = len(_common(lines))
    after = len(_common([line[before:][::-1] for line in lines]))
    return ["".join(line[before : len(line) - after]) for line in lines]


def literal_pattern(text: str) -> str | None:
    """Return the pattern of a line as it stands; None where it says too little to be known again.

    >>> literal_pattern("Sell with us")
    'Sell with us'
    """
    tokens = tokenize(text)
    pattern = "".join(map(_escaped, tokens))
    pattern = f"\\{pattern}" if pattern.startswith("/") else pattern
    enough = _letters(tokens) >= MIN_LETTERS_AFTER
    return pattern if enough and len(pattern) <= MAX_PATTERN_CHARS else None


def _open(match: re.Match[str]) -> str:
    token = match[0]
    if token.isdigit():
        return NUMBER_SIGN
    return WILDCARD if token.casefold() in _TIMELY else token


def _common(lines: Sequence[Tokens]) -> Tokens:
    """Return the tokens with which all lines begin."""
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*lines, strict=False))
    return [column[0] for column in columns]


def _dated(tokens: Tokens) -> int:
    """Return how many tokens next to what differs belong to the same date, time or number."""
    taken = 0
    for at, token in enumerate(tokens):
        if _of_a_date(token):
            taken = at + 1
        elif token.isalpha() or at - taken >= _NEAR:
            break
    return taken


def _of_a_date(token: str) -> bool:
    return token.isdigit() or token.casefold() in CALENDAR_WORDS


def _merged(cores: Sequence[Tokens]) -> str:
    """Return what differing pieces of lines have in common, place by place or not at all."""
    if len({len(core) for core in cores}) > 1:
        return WILDCARD
    merged = [_one(column) for column in zip(*cores, strict=True)]
    opened = [
        WILDCARD if _between_numbers(merged, at) else token for at, token in enumerate(merged)
    ]
    return _MANY.sub(WILDCARD, "".join(opened))


def _count_on(cores: Sequence[Tokens]) -> bool:
    """Say whether no words differ between pieces of lines but those of the calendar."""
    if len({len(core) for core in cores}) > 1:
        return not any(token.isalpha() for core in cores for token in core)
    columns = [column for column in zip(*cores, strict=True) if len(set(column)) > 1]
    return all(_of_a_date(token) for column in columns for token in column)


def _one(column: tuple[str, ...]) -> str:
    if all(token.isdigit() for token in column):
        return NUMBER_SIGN
    if len(set(column)) > 1 or column[0].casefold() in CALENDAR_WORDS:
        return WILDCARD
    return _escaped(column[0])


def _between_numbers(tokens: Tokens, at: int) -> bool:
    """Say whether a word stands between two numbers, as the name of a month does."""
    if not tokens[at].isalpha():
        return False
    before = (tokens[place] for place in range(at - 1, -1, -1))
    after = (tokens[place] for place in range(at + 1, len(tokens)))
    sides = (next((token for token in side if not token.isspace()), "") for side in (before, after))
    return all(token == NUMBER_SIGN for token in sides)


def _nearest(tokens: Tokens) -> Tokens:
    """Return the few words next to what differs, within their sentence."""
    kept: Tokens = []
    words = 0
    for at, token in enumerate(tokens):
        around = ("".join(tokens[max(at - 1, 0) : at]), "".join(tokens[at + 1 : at + 2]))
        ends = token in _ENDS_A_SENTENCE and any(not near or near.isspace() for near in around)
        if (ends and at > 0) or words >= MAX_CONTEXT_WORDS:
            break
        kept.append(token)
        words += token.isalpha()
    return kept


def _context(tokens: Tokens) -> Tokens:
    """Return what stands around, its dates and times left open."""
    return [
        NUMBER_SIGN
        if token.isdigit() and _in_a_date(tokens, at)
        else WILDCARD
        if token.casefold() in CALENDAR_WORDS
        else _escaped(token)
        for at, token in enumerate(tokens)
    ]


def _in_a_date(tokens: Tokens, at: int) -> bool:
    """Say whether a number stands beside a name of the calendar, or is joined to another number."""
    for step in (-1, 1):
        near = [tokens[at + step * far] for far in (1, 2) if 0 <= at + step * far < len(tokens)]
        if any(token.casefold() in CALENDAR_WORDS for token in near):
            return True
        if len(near) == 2 and near[0] in _JOINS and near[1].isdigit():
            return True
    return False


def _tells(before: Tokens, after: Tokens, *, counted: bool, words_after: bool) -> bool:
    """Say whether what stands around is enough to know the place again."""
    if counted:
        return _letters(before) + _letters(after) >= MIN_LETTERS
    follows = words_after and _letters(after) >= MIN_LETTERS_AFTER
    return _letters(before) >= MIN_LETTERS_BEFORE or follows


def _letters(tokens: Tokens) -> int:
    return sum(len(token) for token in tokens if token.isalpha())


def _escaped(token: str) -> str:
    if token.isspace():
        return " "
    return f"\\{token}" if token in _SPECIAL else token
