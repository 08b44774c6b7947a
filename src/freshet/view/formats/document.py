"""What a reader of one kind of document hands over, before links are resolved and words counted."""

from dataclasses import dataclass

Href = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """The title, text and references of a document, as its own format gives them.

    ``text`` has its white space collapsed within blocks and a newline between blocks; ``hrefs``
    are (href, anchor text, rel) in document order, as written in the document. ``is_truncated`` says
    that a bound was met and the rest left out.
    """

    title: str
    text: str
    hrefs: tuple[Href, ...] = ()
    language: str = ""
    is_truncated: bool = False
