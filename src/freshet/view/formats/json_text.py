"""JSON documents as lines of text: ``path: value`` for every value, in document order.

An array's items have no number in their path (``items[].price: 12.5``): an item that comes first
then adds its own lines and leaves all others as they are. A dash marks the first line of each item
that is an object or an array, so that two items are never the same text as one.

A document that has too many values, lies too deep or would make too long a text is not put into
paths: it is read as it is written, cut into lines.
"""

import json
import re

from freshet.view.formats.document import DocumentContent

MAX_VALUES = 250_000
MAX_DEPTH = 100
MAX_CHARS = 24_000_000

_ITEM = "- "
_PLAIN_KEY = re.compile(r"[^\s.:\[\]\"\\]+")
_LITERAL = re.compile(
    r"true|false|null|\{\}|\[\]|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|\".*|"
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonTooLargeError(Exception):
    """A document is deeper or longer than is put into paths."""


class JsonNumber(str):
    """A number of a JSON document, as it is written there."""

    __slots__ = ()


def read(text: str, urls: re.Pattern[str]) -> DocumentContent | None:
    """Return a JSON document as lines; None where it is none. ``urls`` tells values that are links.

    >>> read('{"flags": {"beta": true}, "items": [{"price": 12.5}, 3]}', re.compile("x")).text
    'flags.beta: true\\n- items[].price: 12.5\\nitems[]: 3'
    """
    if _most_values(text) > MAX_VALUES:
        return _as_written(text, urls)
    try:
        document = json.loads(
            text, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=JsonNumber
        )
        writer = _LineWriter()
        writer.write(document)
    except (RecursionError, JsonTooLargeError):
        return _as_written(text, urls)
    except ValueError:
        return None
    hrefs = tuple((value, "", "") for value in writer.texts if urls.fullmatch(value))
    return DocumentContent(_title(document), "\n".join(writer.lines), hrefs)


def _most_values(text: str) -> int:
    """Return how many values a document can have; commas inside of texts count, too."""
    return text.count(",") + text.count("[") + text.count("{")


class _LineWriter:
    """Writes the lines of a document, and collects the values that are texts."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.texts: list[str] = []
        self._room = MAX_CHARS
        self._steps: dict[str, str] = {}

    def write(self, value: object, path: str = "", marks: str = "", depth: int = 0) -> None:
        """Write a value that stands at a path; ``marks`` stand before its first line."""
        if not value or not isinstance(value, dict | list):
            self._write_leaf(value, path, marks)
        elif depth == MAX_DEPTH:
            raise JsonTooLargeError
        elif isinstance(value, dict):
            for key, member in value.items():
                step = self._step(key) if path else self._step(key).removeprefix(".")
                self.write(member, path + step, marks, depth + 1)
                marks = ""
        else:
            path += "[]"
            for item in value:
                mark = _ITEM if item and isinstance(item, dict | list) else ""
                self.write(item, path, marks + mark, depth + 1)
                marks = ""

    def _step(self, key: str) -> str:
        if key not in self._steps:
            self._steps[key] = _step(key)
        return self._steps[key]

    def _write_leaf(self, value: object, path: str, marks: str) -> None:
        written = self._written(value)
        line = f"{marks}{path}: {written}" if path else written
        self._room -= len(line) + 1
        if self._room < 0:
            raise JsonTooLargeError
        self.lines.append(line)

    def _written(self, value: object) -> str:
        """Return a value as it is shown; a text that could be taken for another one is quoted."""
        if isinstance(value, JsonNumber):
            return value
        if isinstance(value, str):
            shown = " ".join(_clean(value).split())
            self.texts.append(shown)
            return f'"{shown}"' if _LITERAL.fullmatch(shown) else shown
        if value is None:
            return "null"
        return str(value).lower()


def _step(key: str) -> str:
    """Return a key as a step of a path; one that could be taken for several steps is quoted.

    >>> _step("price"), _step("a.b")
    ('.price', '["a.b"]')
    """
    clean = _clean(key)
    return (
        f".{clean}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(clean, ensure_ascii=False)}]"
    )


def _as_written(text: str, urls: re.Pattern[str]) -> DocumentContent:
    """Return a document as it stands, with a line for each value at most."""
    spread = text.replace(",", ",\n").replace("{", "{\n").replace("[", "[\n")
    hrefs = tuple((found[0], "", "") for found in urls.finditer(spread))
    return DocumentContent("", spread, hrefs)


def _title(document: object) -> str:
    """Return what a document calls its title."""
    title = document.get("title") if isinstance(document, dict) else None
    if not isinstance(title, str) or isinstance(title, JsonNumber):
        return ""
    return _clean(title)


def _clean(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)
