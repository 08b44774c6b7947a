"""Read JSON as lines of text: ``path: value`` for every value, in document order.

The items of an array have no number in their path (``items[].price: 12.5``), so a new first item
adds its own lines and leaves all others unchanged. A dash marks the first line of each item that is
an object or an array, so that two items never equal one item in text.

A document with too many values, too deep nesting or too long a text is split into lines as written.
"""

import json
import re

from freshet.view.formats.document import DocumentContent

MAX_VALUES = 250_000
MAX_DEPTH = 100
MAX_CHARS = 24_000_000

_ITEM_MARK = "- "
_PLAIN_KEY = re.compile(r"[^\s.:\[\]\"\\]+")
_AMBIGUOUS_TEXT = re.compile(
    r"true|false|null|\{\}|\[\]|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|\".*|"
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonTooLargeError(Exception):
    """A document is too deep or too long to be written as paths."""


class JsonNumber(str):
    """A number of a JSON document, as written."""

    __slots__ = ()


def read(text: str, urls: re.Pattern[str]) -> DocumentContent | None:
    """Return a JSON document as lines, None if invalid; ``urls`` matches link values.

    >>> read('{"flags": {"beta": true}, "items": [{"price": 12.5}, 3]}', re.compile("x")).text
    'flags.beta: true\\n- items[].price: 12.5\\nitems[]: 3'
    """
    # Commas in strings count as well, so this is an upper bound of the number of values.
    if text.count(",") + text.count("[") + text.count("{") > MAX_VALUES:
        return _read_as_written(text, urls)
    try:
        document = json.loads(
            text, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=JsonNumber
        )
        writer = _LineWriter()
        writer.write(document)
    except (RecursionError, JsonTooLargeError):
        return _read_as_written(text, urls)
    except ValueError:
        return None
    hrefs = tuple((value, "", "") for value in writer.texts if urls.fullmatch(value))
    return DocumentContent(_title(document), "\n".join(writer.lines), hrefs)


class _LineWriter:
    """Writes the lines of a document and collects its string values."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.texts: list[str] = []
        self._remaining_chars = MAX_CHARS
        self._step_cache: dict[str, str] = {}

    def write(self, value: object, path: str = "", marks: str = "", depth: int = 0) -> None:
        """Write the value at a path; ``marks`` precede its first line."""
        if not value or not isinstance(value, dict | list):
            self._write_leaf(value, path, marks)
        elif depth == MAX_DEPTH:
            raise JsonTooLargeError
        elif isinstance(value, dict):
            for key, member in value.items():
                step = self._cached_step(key) if path else self._cached_step(key).removeprefix(".")
                self.write(member, path + step, marks, depth + 1)
                marks = ""
        else:
            path += "[]"
            for item in value:
                mark = _ITEM_MARK if item and isinstance(item, dict | list) else ""
                self.write(item, path, marks + mark, depth + 1)
                marks = ""

    def _cached_step(self, key: str) -> str:
        if key not in self._step_cache:
            self._step_cache[key] = _path_step(key)
        return self._step_cache[key]

    def _write_leaf(self, value: object, path: str, marks: str) -> None:
        formatted = self._format_value(value)
        line = f"{marks}{path}: {formatted}" if path else formatted
        self._remaining_chars -= len(line) + 1
        if self._remaining_chars < 0:
            raise JsonTooLargeError
        self.lines.append(line)

    def _format_value(self, value: object) -> str:
        """Return a value as text; a string that looks like another value is quoted."""
        if isinstance(value, JsonNumber):
            return value
        if isinstance(value, str):
            text = " ".join(_clean(value).split())
            self.texts.append(text)
            return f'"{text}"' if _AMBIGUOUS_TEXT.fullmatch(text) else text
        if value is None:
            return "null"
        return str(value).lower()


def _path_step(key: str) -> str:
    """Return a key as a path step; a key that looks like several steps is quoted.

    >>> _path_step("price"), _path_step("a.b")
    ('.price', '["a.b"]')
    """
    clean = _clean(key)
    return (
        f".{clean}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(clean, ensure_ascii=False)}]"
    )


def _read_as_written(text: str, urls: re.Pattern[str]) -> DocumentContent:
    """Return a document as written, with at most one value per line."""
    lines = text.replace(",", ",\n").replace("{", "{\n").replace("[", "[\n")
    hrefs = tuple((match[0], "", "") for match in urls.finditer(lines))
    return DocumentContent("", lines, hrefs)


def _title(document: object) -> str:
    """Return the value of the key "title", if it is a string."""
    title = document.get("title") if isinstance(document, dict) else None
    if not isinstance(title, str) or isinstance(title, JsonNumber):
        return ""
    return _clean(title)


def _clean(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)
