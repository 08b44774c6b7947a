"""The content of a document as read by the reader of its format."""

from dataclasses import dataclass

Href = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """Title, text and references of a document.

    ``text`` has collapsed white space within blocks and a newline between blocks; ``hrefs`` are
    (href, anchor text, rel) as written, in document order. ``is_truncated`` says that the rest was
    skipped because of a limit.
    """

    title: str
    text: str
    hrefs: tuple[Href, ...] = ()
    language: str = ""
    is_truncated: bool = False
