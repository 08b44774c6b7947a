"""Serialise a tree with all text escaped, for markup that lexbor's serialiser leaves ambiguous.

lexbor writes the text of script, style and similar elements unescaped. In foreign elements (svg,
math), and in scripts with nested scripts in comments, the end of such text is ambiguous. Void
elements get an end tag here, because a foreign element of such a name can have content.
"""

from collections.abc import Iterator
from html import escape

from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

from freshet.view.tags import BASE, LINK, tag_meanings

_MEANINGS = tag_meanings()
_ROOT_ATTRIBUTES, _LINK_ATTRIBUTES = ("lang",), ("href", "rel")


def serialise_escaped(tree: HTMLTree) -> bytes:
    """Return the markup of a tree, all text escaped, with the attributes that a view needs."""
    return "".join(_markup_parts(tree)).encode("utf-8", "replace")


def _markup_parts(tree: HTMLTree) -> Iterator[str]:
    """Yield tags and texts in document order, without recursion."""
    node: DOMNode | None = tree.document.first_child
    open_elements: list[DOMNode] = []
    while node is not None or open_elements:
        if node is None:
            node = open_elements.pop()
            yield f"</{node.tag}>"
        elif node.type == NodeType.TEXT:
            yield escape(node.value, quote=False)
        elif node.type == NodeType.ELEMENT:
            yield _start_tag(node)
            open_elements.append(node)
            node = node.first_child
            continue
        node = node.next


def _start_tag(node: DOMNode) -> str:
    values = [(name, node.getattr(name)) for name in _attribute_names(node.tag)]
    attributes = "".join(
        f' {name}="{escape(value)}"' for name, value in values if value is not None
    )
    return f"<{node.tag}{attributes}>"


def _attribute_names(tag: str) -> tuple[str, ...]:
    """Return the attributes of an element that a view needs."""
    if tag == "html":
        return _ROOT_ATTRIBUTES
    return _LINK_ATTRIBUTES if _MEANINGS.get(tag, 0) & (LINK | BASE) else ()
