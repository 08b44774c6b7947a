"""Views of HTML against the tree construction cases of html5lib, and real pages against a walk.

A case says which tree its markup makes; the view must show the text and the elements of that tree.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from freshet.view.tags import BLOCK, SILENT, TEMPLATE, tag_meanings
from tests.view.plain_walk import BREAK, collapse_space
from tests.view.test_html import check_against_walk, parsed

DATA = Path(os.environ["FRESHET_DATA"])
MEANINGS = tag_meanings()
TEXT_FLOOR, STRUCTURE_FLOOR = 1580, 1551
PARTS = re.compile(
    r"^#(data|errors|new-errors|document-fragment|script-on|script-off|document)\n", re.M
)


@dataclass
class Case:
    """One document case: its markup and the lines of the tree that it makes."""

    markup: str
    lines: list[tuple[int, str]]


def cases() -> Iterator[Case]:
    """Yield the cases that are whole documents and do not need scripting."""
    for file in sorted((DATA / "conformance" / "html5lib-tree").glob("*.dat")):
        for written in ("\n" + file.read_bytes().decode()).split("\n#data\n")[1:]:
            parts = PARTS.split("#data\n" + written)
            named = dict(zip(parts[1::2], parts[2::2], strict=True))
            if "document-fragment" not in named and "script-on" not in named:
                yield Case(named["data"].removesuffix("\n"), tree_lines(named["document"]))


def tree_lines(document: str) -> list[tuple[int, str]]:
    """Return the depth and content of each line; a text over several lines is joined."""
    joined: list[str] = []
    for line in document.rstrip("\n").split("\n"):
        if line.startswith("| ") or not joined:
            joined.append(line)
        else:
            joined[-1] += "\n" + line
    stripped = [line.removeprefix("| ") for line in joined]
    return [((len(line) - len(line.lstrip(" "))) // 2, line.lstrip(" ")) for line in stripped]


def expected(case: Case) -> tuple[str, list[tuple[int, str]]]:
    """Return the visible text and the elements with their depth in the expected tree."""
    texts, elements, above = [], [], []
    for depth, line in case.lines:
        close(above, depth, texts)
        silent = any(meaning & SILENT for _, meaning in above)
        if line.startswith('"') and not silent:
            texts.append(line[1:-1])
        if not re.fullmatch(r"<[^!?].*>", line) or any(meaning & TEMPLATE for _, meaning in above):
            continue
        name = line[1:-1].split(" ")[-1].lower()
        meaning = MEANINGS.get(name, 0)
        elements.append((depth, name))
        above.append((depth, meaning if not silent else meaning & ~BLOCK))
        texts.append(BREAK if above[-1][1] & BLOCK else "")
    close(above, 0, texts)
    blocks = (collapse_space(block) for block in "".join(texts).split(BREAK))
    return "\n".join(block for block in blocks if block), elements


def close(above: list[tuple[int, int]], depth: int, texts: list[str]) -> None:
    while above and above[-1][0] >= depth:
        texts.append(BREAK if above.pop()[1] & BLOCK else "")


def visible_content(case: Case) -> tuple[str, list[tuple[int, str]]]:
    """Return the visible text and the elements with their depth in our view."""
    view = parsed(case.markup)
    depths: list[int] = []
    for parent in view.dom.parent.tolist():
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    names = [view.dom.names[tag] for tag in view.dom.tag.tolist()]
    return view.content.text, list(zip(depths, names, strict=True))


def test_documents_show_the_text_and_elements_of_their_trees():
    compared = [(visible_content(case), expected(case)) for case in cases()]
    texts = sum(ours[0] == theirs[0] for ours, theirs in compared)
    structures = sum(ours[1] == theirs[1] for ours, theirs in compared)
    assert texts >= TEXT_FLOOR, f"{texts} of {len(compared)} texts agree"
    assert structures >= STRUCTURE_FLOOR, f"{structures} of {len(compared)} structures agree"


@pytest.mark.parametrize("markup", [case.markup for case in cases()])
def test_the_compiled_passes_equal_a_plain_walk_on_every_case(markup: str):
    check_against_walk(markup)


def test_the_compiled_passes_equal_a_plain_walk_on_real_pages():
    file = DATA / "pages" / "versions_ota_france_snap.parquet"
    rows = pl.scan_parquet(file).filter(pl.col("kind") == "html").select("page", "html")
    for html in rows.head(400).collect().group_by("page", maintain_order=True).head(1)["html"]:
        check_against_walk(html)
