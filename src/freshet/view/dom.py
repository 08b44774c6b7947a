"""DOM rows: one per element, with its two paths and the hashes of its text.

Adar, Teevan, Dumais and Elsas 2009, section 5.1. Own text is an element's text nodes joined by a
blank; subtree text is all text inside it. Both are visible text with collapsed white space, and the
edge of a block counts as a blank. Elements inside templates have no rows.
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
    """Return the rows of a page; tokens must be nested and numbered, and the text written."""
    rows, hashes = np.empty((5, elements), np.int32), np.empty((4, elements), np.uint64)
    first_tokens = write_paths(tokens, rows, hashes)
    write_text_hashes(tokens, text, rows, hashes)
    spans = tokens[first_tokens][:, (START, END)].tolist()
    names = tuple(markup[start:end].decode("utf-8", "replace").lower() for start, end in spans)
    return DomRows(
        names, rows[TAG], rows[PARENT], rows[INDEX], hashes[FULL_PATH], hashes[TYPE_PATH],
        hashes[OWN_TEXT], hashes[SUBTREE_TEXT], rows[TEXT_START], rows[TEXT_END],
    )  # fmt: skip


def full_path(rows: DomRows, row: int) -> str:
    """Return the path of a row in direct access notation, such as ``/html[0]/body[0]``."""
    ancestors = _ancestor_rows(rows, row)
    return "".join(f"/{rows.names[rows.tag[step]]}[{rows.index[step]}]" for step in ancestors)


def type_path(rows: DomRows, row: int) -> str:
    """Return the path of a row in set notation, such as ``(/html/body)[0]``."""
    tags = _ancestor_tags(rows, row)
    same_tag_rows = np.flatnonzero(rows.tag[:row] == rows.tag[row]).tolist()
    ordinal = sum(_ancestor_tags(rows, other_row) == tags for other_row in same_tag_rows)
    names = (rows.names[tag] for tag in tags)
    return f"({''.join('/' + name for name in names)})[{ordinal}]"


def _ancestor_tags(rows: DomRows, row: int) -> list[int]:
    return [int(rows.tag[ancestor]) for ancestor in _ancestor_rows(rows, row)]


def _ancestor_rows(rows: DomRows, row: int) -> list[int]:
    """Return the rows from the root down to this one."""
    ancestors, ancestor = [], row
    while ancestor >= 0:
        ancestors.append(ancestor)
        ancestor = int(rows.parent[ancestor])
    return ancestors[::-1]


def element_paths(dom: DomRows) -> Iterator[tuple[str, str]]:
    """Yield the full path and the type path of every row, in one pass."""
    full_paths, type_paths = [""], [""]
    type_counts: Counter[str] = Counter()
    rows = zip(dom.tag.tolist(), dom.parent.tolist(), dom.index.tolist(), strict=True)
    for tag, parent, index in rows:
        name = dom.names[tag]
        full_paths.append(f"{full_paths[parent + 1]}/{name}[{index}]")
        type_paths.append(f"{type_paths[parent + 1]}/{name}")
        yield full_paths[-1], f"({type_paths[-1]})[{type_counts[type_paths[-1]]}]"
        type_counts[type_paths[-1]] += 1
