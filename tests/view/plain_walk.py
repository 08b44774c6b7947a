"""A slow reference for the compiled passes: a walk over the DOM, node by node."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

from freshet.view.tags import BLOCK, LINK, SILENT, TEMPLATE, tag_meanings
from freshet.view.text_hash import text_hash

MEANINGS = tag_meanings()
BLANKS = re.compile("[\x00-\x20\xa0]+")
BREAK = "\x00"


@dataclass
class Element:
    """One element with its texts, as a plain object."""

    name: str
    full_path: str
    type_path: str
    own: list[str] = field(default_factory=list)
    beneath: list[str] = field(default_factory=list)

    def hashes(self) -> tuple[int, int]:
        return text_hash(collapse_space(" ".join(self.own))), text_hash(
            collapse_space("".join(self.beneath))
        )


@dataclass
class WalkResult:
    """The elements, text and hrefs of a document."""

    elements: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    hrefs: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        blocks = (collapse_space(block) for block in "".join(self.pieces).split(BREAK))
        return "\n".join(block for block in blocks if block)


def collapse_space(text: str) -> str:
    return BLANKS.sub(" ", text.replace(BREAK, " ")).strip(" ")


def walk(html: str) -> WalkResult:
    """Return the elements, text and hrefs of a document."""
    walk_result, kinds = WalkResult(), Counter()
    for child in children(HTMLTree.parse(html).document):
        visit(child, [], walk_result, kinds, False)
    return walk_result


def children(node: DOMNode) -> Iterator[DOMNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def visit(
    node, ancestors: list[Element], walk_result: WalkResult, kinds: Counter, silent: bool
) -> None:
    if node.type == NodeType.TEXT and not silent and ancestors:
        ancestors[-1].own.append(node.value)
        add_text(node.value, ancestors, walk_result)
    if node.type != NodeType.ELEMENT:
        return
    meaning = MEANINGS.get(node.tag, 0)
    if meaning & BLOCK and not silent:
        add_text(BREAK, ancestors, walk_result)
    element = enter(node, ancestors, walk_result, kinds)
    if meaning & LINK and not silent and node.getattr("href") is not None:
        walk_result.hrefs.append(re.sub("[\t\n\r]", "", node.getattr("href")).partition("#")[0])
    if not meaning & TEMPLATE:
        for child in children(node):
            visit(
                child, [*ancestors, element], walk_result, kinds, silent or bool(meaning & SILENT)
            )
    if meaning & BLOCK and not silent:
        add_text(BREAK, ancestors, walk_result)


def enter(node, ancestors: list[Element], walk_result: WalkResult, kinds: Counter) -> Element:
    before = ancestors[-1] if ancestors else Element("", "", "")
    kind = before.type_path.rpartition(")")[0].removeprefix("(") + "/" + node.tag
    full = f"{before.full_path}/{node.tag}"
    element = Element(node.tag, f"{full}[{kinds[full]}]", f"({kind})[{kinds[kind, 'type']}]")
    kinds[full] += 1
    kinds[kind, "type"] += 1
    walk_result.elements.append(element)
    return element


def add_text(text: str, ancestors: list[Element], walk_result: WalkResult) -> None:
    walk_result.pieces.append(text)
    for element in ancestors:
        element.beneath.append(text)
