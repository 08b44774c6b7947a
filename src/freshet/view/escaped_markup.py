"""A tree spelt out with every text escaped, for markup that its serialiser leaves unclear.

lexbor writes the text of script, style and the like as it stands. In foreign elements (svg, math),
and in scripts that hold scripts in comments, the end of such text cannot be told from the markup.
"""

from collections.abc import Iterator
from html import escape

from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

from freshet.view.tags import BASE, FOREIGN, INTEGRATION_POINT, LINK, VOID, tag_meanings

_MEANINGS = tag_meanings()
_ROOT_ATTRIBUTES, _LINK_ATTRIBUTES = ("lang",), ("href", "rel")


def serialise_escaped(tree: HTMLTree) -> bytes:
    """Return the markup of a tree with every text escaped and the attributes that a view reads."""
    return "".join(_pieces(tree)).encode("utf-8", "replace")


def _pieces(tree: HTMLTree) -> Iterator[str]:
    """Yield tags and texts in document order, without recursion."""
    node: DOMNode | None = tree.document.first_child
    above: list[tuple[DOMNode, bool]] = []
    while node is not None or above:
        if node is None:
            node, _ = above.pop()
            yield f"</{node.tag}>"
        elif node.type == NodeType.TEXT:
            yield escape(node.value, quote=False)
        elif node.type == NodeType.ELEMENT:
            yield _start_tag(node)
            meaning = _MEANINGS.get(node.tag, 0)
            foreign = bool(above and above[-1][1]) or bool(meaning & FOREIGN)
            if foreign or not meaning & VOID:
                above.append((node, foreign and not meaning & INTEGRATION_POINT))
                node = node.first_child
                continue
        node = node.next


def _start_tag(node: DOMNode) -> str:
    values = [(name, node.getattr(name)) for name in _attributes(node.tag)]
    written = "".join(f' {name}="{escape(value)}"' for name, value in values if value is not None)
    return f"<{node.tag}{written}>"


def _attributes(tag: str) -> tuple[str, ...]:
    """Return the attributes of an element that a view reads."""
    if tag == "html":
        return _ROOT_ATTRIBUTES
    return _LINK_ATTRIBUTES if _MEANINGS.get(tag, 0) & (LINK | BASE) else ()
