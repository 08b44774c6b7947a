"""A page as lines of text, each with the element that holds just that line."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from freshet.core.types import DomRows, View
from freshet.measure.noise.line_pattern import line_shape
from freshet.measure.noise.mask import Mask, cut_spans, hidden_spans
from freshet.measure.noise.mask_pattern import HIDDEN_MARK, TextSpan

_BELOW_BODY = 4
_LABEL = re.compile(r"[^\W\d_][^:\n]{4,40}:")
_PLACE = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class PageLine:
    """What is left of a line; ``path`` is empty where no element holds just it.

    ``span`` is where the whole line stands in the page's text. ``shape`` and ``location`` are by what
    the line is known again on other looks, empty where it always stands; a shape begins with a
    blank, a path with a slash.
    """

    text: str
    shape: str
    path: str
    span: TextSpan

    @property
    def location(self) -> str:
        """Return the path, or else the words with which the line begins, up to a colon."""
        found = _LABEL.match(self.text) if self.shape and not self.path else None
        return f"\t{found[0]}" if found else self.path


PageLines = tuple[PageLine, ...]


def lines_of_views(views: Sequence[View]) -> list[PageLines]:
    """Return all lines of views; those that every view has are not to be known again."""
    texts = [frozenset(view.text.split("\n")) for view in views]
    standing = texts[0].intersection(*texts[1:]) if texts else frozenset()
    return [_page(view, standing) for view in views]


def _page(view: View, standing: frozenset[str]) -> PageLines:
    lines, start = [], 0
    rows, paths = _rows(view), {-1: ""}
    for text, row in zip(view.text.split("\n"), rows, strict=True):
        span = start, start + len(text)
        if text in standing and text.strip():
            lines.append(PageLine(text, "", "", span))
        elif text.strip():
            path = element_path(view.dom, row, paths) if view.dom is not None else ""
            lines.append(PageLine(text, f" {line_shape(text)}", path, span))
        start = span[1] + 1
    return tuple(lines)


def visible_lines(page: PageLines, spans: Sequence[TextSpan]) -> PageLines:
    """Return the lines of which anything is left when spans of the page's text are hidden."""
    if not spans:
        return page
    found = []
    ahead, open_spans = deque(sorted(spans)), list[TextSpan]()
    for line in page:
        start, end = line.span
        while ahead and ahead[0][0] < end:
            open_spans.append(ahead.popleft())
        open_spans = [span for span in open_spans if span[1] > start]
        within = [span for span in open_spans if span[0] < end]
        text = _left(line, within) if within else line.text
        if text:
            shape = f" {line_shape(text)}" if within and line.shape else line.shape
            found.append(replace(line, text=text, shape=shape))
    return tuple(found)


def hidden_lines(view: View, mask: Mask) -> list[str]:
    """Return what a mask hides of a view, line by line."""
    pieces = [view.text[start:end].split("\n") for start, end in hidden_spans(view, mask)]
    return [line.strip() for lines in pieces for line in lines if line.strip()]


def path_without_indices(path: str) -> str:
    """Return a path without places.

    >>> path_without_indices("/html[0]/body[0]/p[3]")
    '/html/body/p'
    """
    return _PLACE.sub("", path)


def ancestor_paths(path: str) -> list[str]:
    """Return the paths of the elements around one, below the body, the outermost first.

    >>> ancestor_paths("/html[0]/body[0]/ul[1]/li[0]/a[0]")
    ['/html[0]/body[0]/ul[1]', '/html[0]/body[0]/ul[1]/li[0]']
    """
    steps = path.split("/")
    return ["/".join(steps[:end]) for end in range(_BELOW_BODY, len(steps))]


def element_path(dom: DomRows, row: int, paths: dict[int, str]) -> str:
    """Return the path of a row, with places; ``paths`` holds those that are known already."""
    unknown = []
    at = row
    while at not in paths:
        unknown.append(at)
        at = int(dom.parent[at])
    path = paths[at]
    for at in reversed(unknown):
        path = paths[at] = f"{path}/{dom.names[dom.tag[at]]}[{dom.index[at]}]"
    return path


def _left(line: PageLine, spans: Sequence[TextSpan]) -> str:
    start, end = line.span
    inside = [(max(first, start) - start, min(last, end) - start) for first, last in spans]
    return " ".join(cut_spans(line.text, inside).replace(HIDDEN_MARK, " ").split())


def _rows(view: View) -> list[int]:
    """Return for each line the outermost element that holds just that line; -1 where none does."""
    lines = view.text.encode("utf-8", "replace").split(b"\n")
    if view.dom is None or not len(view.dom):
        return [-1] * len(lines)
    sizes = np.array([len(line) for line in lines], np.int64)
    ends = np.cumsum(sizes + 1) - 1
    wanted = (ends - sizes) << 32 | ends
    keys = view.dom.start.astype(np.int64) << 32 | view.dom.end
    order = np.argsort(keys, kind="stable")
    rows = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
    found: list[int] = np.where(keys[rows] == wanted, rows, -1).tolist()
    return found
