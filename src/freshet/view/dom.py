"""DOM rows: one per element with both its paths and the hashes of its text, and how to spell them.

Adar, Teevan, Dumais and Elsas 2009, section 5.1. Own text is an element's text nodes joined by a
blank, subtree text all text beneath it; both are visible text with white space collapsed, a block's
edge counting as a blank. What is inside templates has no rows.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from freshet.core.types import DomRows
from freshet.view.kernels.elements import (
    FULL_PATH,
    INDEX,
    OWN_TEXT,
    PARENT,
    SUBTREE_TEXT,
    TAG,
    TEXT_END,
    TEXT_START,
    TYPE_PATH,
    write_paths,
    write_text_hashes,
)  # fmt: skip
from freshet.view.kernels.markup import END, START, Bytes, Ints


def build_dom_rows(markup: bytes, tokens: Ints, text: Bytes, elements: int) -> DomRows:
    """Return the rows of a page whose tokens are nested and numbered, and whose text is written."""
    rows, hashes = np.empty((5, elements), np.int32), np.empty((4, elements), np.uint64)
    firsts = write_paths(tokens, rows, hashes)
    write_text_hashes(tokens, text, rows, hashes)
    spans = tokens[firsts][:, (START, END)].tolist()
    names = tuple(markup[start:end].decode("utf-8", "replace").lower() for start, end in spans)
    return DomRows(
        names, rows[TAG], rows[PARENT], rows[INDEX], hashes[FULL_PATH], hashes[TYPE_PATH],
        hashes[OWN_TEXT], hashes[SUBTREE_TEXT], rows[TEXT_START], rows[TEXT_END],
    )  # fmt: skip


def full_path(rows: DomRows, row: int) -> str:
    """Return the path of a row in direct access notation, such as ``/html[0]/body[0]``."""
    steps = [f"/{rows.names[rows.tag[at]]}[{rows.index[at]}]" for at in _line(rows, row)]
    return "".join(steps)


def type_path(rows: DomRows, row: int) -> str:
    """Return the path of a row in set notation, such as ``(/html/body)[0]``."""
    kind = _kind(rows, row)
    alike = np.flatnonzero(rows.tag[:row] == rows.tag[row]).tolist()
    ordinal = sum(_kind(rows, at) == kind for at in alike)
    names = (rows.names[tag] for tag in kind)
    return f"({''.join('/' + name for name in names)})[{ordinal}]"


def _kind(rows: DomRows, row: int) -> list[int]:
    return [int(rows.tag[at]) for at in _line(rows, row)]


def _line(rows: DomRows, row: int) -> list[int]:
    """Return the rows from the root down to this one."""
    line, at = [], row
    while at >= 0:
        line.append(at)
        at = int(rows.parent[at])
    return line[::-1]


def element_paths(dom: DomRows) -> Iterator[tuple[str, str]]:
    """Yield the full path and the type path of every row, all in one pass."""
    full, kinds = [""], [""]
    met: Counter[str] = Counter()
    rows = zip(dom.tag.tolist(), dom.parent.tolist(), dom.index.tolist(), strict=True)
    for tag, parent, index in rows:
        name = dom.names[tag]
        full.append(f"{full[parent + 1]}/{name}[{index}]")
        kinds.append(f"{kinds[parent + 1]}/{name}")
        yield full[-1], f"({kinds[-1]})[{met[kinds[-1]]}]"
        met[kinds[-1]] += 1
