"""The slow and plain way to what the compiled passes give: a walk over the DOM, node by node."""

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
    """One element with the texts in it, as a plain object."""

    name: str
    full_path: str
    type_path: str
    own: list[str] = field(default_factory=list)
    beneath: list[str] = field(default_factory=list)

    def hashes(self) -> tuple[int, int]:
        return text_hash(on_a_line(" ".join(self.own))), text_hash(on_a_line("".join(self.beneath)))


@dataclass
class Walk:
    """What a walk found."""

    elements: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    hrefs: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        blocks = (on_a_line(block) for block in "".join(self.pieces).split(BREAK))
        return "\n".join(block for block in blocks if block)


def on_a_line(text: str) -> str:
    return BLANKS.sub(" ", text.replace(BREAK, " ")).strip(" ")


def walk(html: str) -> Walk:
    """Return the elements, text and hrefs of a document."""
    found, kinds = Walk(), Counter()
    for child in children(HTMLTree.parse(html).document):
        visit(child, [], found, kinds, False)
    return found


def children(node: DOMNode) -> Iterator[DOMNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def visit(node, above: list[Element], found: Walk, kinds: Counter, silent: bool) -> None:
    if node.type == NodeType.TEXT and not silent and above:
        above[-1].own.append(node.value)
        say(node.value, above, found)
    if node.type != NodeType.ELEMENT:
        return
    meaning = MEANINGS.get(node.tag, 0)
    if meaning & BLOCK and not silent:
        say(BREAK, above, found)
    element = enter(node, above, found, kinds)
    if meaning & LINK and not silent and node.getattr("href") is not None:
        found.hrefs.append(re.sub("[\t\n\r]", "", node.getattr("href")).partition("#")[0])
    if not meaning & TEMPLATE:
        for child in children(node):
            visit(child, [*above, element], found, kinds, silent or bool(meaning & SILENT))
    if meaning & BLOCK and not silent:
        say(BREAK, above, found)


def enter(node, above: list[Element], found: Walk, kinds: Counter) -> Element:
    before = above[-1] if above else Element("", "", "")
    kind = before.type_path.rpartition(")")[0].removeprefix("(") + "/" + node.tag
    full = f"{before.full_path}/{node.tag}"
    element = Element(node.tag, f"{full}[{kinds[full]}]", f"({kind})[{kinds[kind, 'type']}]")
    kinds[full] += 1
    kinds[kind, "type"] += 1
    found.elements.append(element)
    return element


def say(text: str, above: list[Element], found: Walk) -> None:
    found.pieces.append(text)
    for element in above:
        element.beneath.append(text)
