"""The lines of a page's text, each with the element that contains exactly that line."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from freshet.core.types import DomRows, View
from freshet.measure.noise.line_pattern import line_shape
from freshet.measure.noise.mask import Mask, cut_spans, hidden_spans
from freshet.measure.noise.mask_pattern import HIDDEN_MARK, TextSpan

_FIRST_STEP_BELOW_BODY = 4
_LABEL = re.compile(r"[^\W\d_][^:\n]{4,40}:")
_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class PageLine:
    """The visible text of a line; ``path`` is empty where no element contains just the line.

    ``span`` is the range of the whole line in the page's text. ``shape`` and ``location`` identify
    the line at other looks; they are empty for a line that every look has. A shape starts with a
    blank, a path with a slash.
    """

    text: str
    shape: str
    path: str
    span: TextSpan

    @property
    def location(self) -> str:
        """Return the path, or else the words up to a colon at the start of the line."""
        label = _LABEL.match(self.text) if self.shape and not self.path else None
        return f"\t{label[0]}" if label else self.path


PageLines = tuple[PageLine, ...]


def lines_of_views(views: Sequence[View]) -> list[PageLines]:
    """Return all lines of views; lines that every view has get no shape and no path."""
    texts = [frozenset(view.text.split("\n")) for view in views]
    common_lines = texts[0].intersection(*texts[1:]) if texts else frozenset()
    return [_lines_of_view(view, common_lines) for view in views]


def _lines_of_view(view: View, common_lines: frozenset[str]) -> PageLines:
    lines, start = [], 0
    rows, paths = _rows_of_lines(view), {-1: ""}
    for text, row in zip(view.text.split("\n"), rows, strict=True):
        span = start, start + len(text)
        if text in common_lines and text.strip():
            lines.append(PageLine(text, "", "", span))
        elif text.strip():
            path = element_path(view.dom, row, paths) if view.dom is not None else ""
            lines.append(PageLine(text, f" {line_shape(text)}", path, span))
        start = span[1] + 1
    return tuple(lines)


def visible_lines(page: PageLines, spans: Sequence[TextSpan]) -> PageLines:
    """Return the lines with any visible text when these spans are hidden."""
    if not spans:
        return page
    lines = []
    pending_spans, open_spans = deque(sorted(spans)), list[TextSpan]()
    for line in page:
        start, end = line.span
        while pending_spans and pending_spans[0][0] < end:
            open_spans.append(pending_spans.popleft())
        open_spans = [span for span in open_spans if span[1] > start]
        within = [span for span in open_spans if span[0] < end]
        text = _visible_part(line, within) if within else line.text
        if text:
            shape = f" {line_shape(text)}" if within and line.shape else line.shape
            lines.append(replace(line, text=text, shape=shape))
    return tuple(lines)


def hidden_lines(view: View, mask: Mask) -> list[str]:
    """Return the lines that a mask hides in a view."""
    pieces = [view.text[start:end].split("\n") for start, end in hidden_spans(view, mask)]
    return [line.strip() for lines in pieces for line in lines if line.strip()]


def path_without_indices(path: str) -> str:
    """Return a path without its indices.

    >>> path_without_indices("/html[0]/body[0]/p[3]")
    '/html/body/p'
    """
    return _INDEX.sub("", path)


def ancestor_paths(path: str) -> list[str]:
    """Return the paths of the ancestors of an element below the body, outermost first.

    >>> ancestor_paths("/html[0]/body[0]/ul[1]/li[0]/a[0]")
    ['/html[0]/body[0]/ul[1]', '/html[0]/body[0]/ul[1]/li[0]']
    """
    steps = path.split("/")
    return ["/".join(steps[:end]) for end in range(_FIRST_STEP_BELOW_BODY, len(steps))]


def element_path(dom: DomRows, row: int, paths: dict[int, str]) -> str:
    """Return the path of a DOM row, with indices; ``paths`` caches the paths of rows."""
    pending_rows = []
    current = row
    while current not in paths:
        pending_rows.append(current)
        current = int(dom.parent[current])
    path = paths[current]
    for current in reversed(pending_rows):
        path = paths[current] = f"{path}/{dom.names[dom.tag[current]]}[{dom.index[current]}]"
    return path


def _visible_part(line: PageLine, spans: Sequence[TextSpan]) -> str:
    start, end = line.span
    inside = [(max(first, start) - start, min(last, end) - start) for first, last in spans]
    return " ".join(cut_spans(line.text, inside).replace(HIDDEN_MARK, " ").split())


def _rows_of_lines(view: View) -> list[int]:
    """Return for each line the outermost element that contains exactly it; -1: none."""
    lines = view.text.encode("utf-8", "replace").split(b"\n")
    if view.dom is None or not len(view.dom):
        return [-1] * len(lines)
    sizes = np.array([len(line) for line in lines], np.int64)
    ends = np.cumsum(sizes + 1) - 1
    wanted_keys = (ends - sizes) << 32 | ends
    keys = view.dom.start.astype(np.int64) << 32 | view.dom.end
    order = np.argsort(keys, kind="stable")
    rows = order[np.minimum(np.searchsorted(keys[order], wanted_keys), len(order) - 1)]
    rows_of_lines: list[int] = np.where(keys[rows] == wanted_keys, rows, -1).tolist()
    return rows_of_lines
