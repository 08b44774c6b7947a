"""The other pages of a thread that is continued over several pages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from freshet.view.posts.page_nodes import PageNodes
from freshet.view.url import LinkResolver

_NEXT = r"(?:next(?: page)?|older|newer)\s*[>»\u203a→]*|[>»\u203a→]"
_LAST = r"last(?: page)?\s*[>»\u203a]*|>>|»»"
_NUMBER = r"(?:page\s+)?\d{1,5}"
_NEXT_WORDS = re.compile(_NEXT, re.IGNORECASE)
_LAST_WORDS = re.compile(_LAST, re.IGNORECASE)
_PAGE_NUMBER = re.compile(_NUMBER, re.IGNORECASE)
_PAGE_TEXT = re.compile(f"{_NEXT}|{_LAST}|{_NUMBER}", re.IGNORECASE)
_MAX_HEAD_NODES = 200
_DIGITS = re.compile(r"\d+")
# Parts of an address that only some of the pages of a thread have.
_PAGE_PART = re.compile(
    r"[?&;](?:page|p|pg|start|st|offset|after|before|cursor|from)=[^&#]*|/page[-/]?\d+/?|/p\d+/?"
    r"|-\d+(?=\.html?$)",
    re.IGNORECASE,
)
_MAX_PAGES = 2_000


@dataclass(frozen=True, slots=True)
class ThreadPageLinks:
    """Links to the other pages of a thread, in the order of their numbers where they have one."""

    next_page: str | None = None
    last_page: str | None = None
    pages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.pages or self.next_page)


def find_page_links(nodes: PageNodes, url: str) -> ThreadPageLinks:
    """Return the links to other pages of the same thread.

    A link counts if its address is that of this page but for the number of a page, and its rel
    attribute says so, or its text is a page number or "next".
    """
    next_page = last_page = None
    numbers: dict[str, int] = {}
    resolver = LinkResolver(url, _base_href(nodes))
    stem = _stem(resolver.page_url)
    for rel, href, text in _links(nodes):
        target = resolver.resolve(href)
        if target is None or target[0] == resolver.page_url:
            continue
        is_same_thread = _is_same_thread(_stem(target[0]), stem)
        if is_same_thread and ("next" in rel or _NEXT_WORDS.fullmatch(text)):
            next_page = next_page or target[0]
        elif is_same_thread and ("last" in rel or _LAST_WORDS.fullmatch(text)):
            last_page = last_page or target[0]
        elif is_same_thread and _PAGE_NUMBER.fullmatch(text) and len(numbers) < _MAX_PAGES:
            numbers.setdefault(target[0], int(_DIGITS.findall(text)[0]))
    pages = sorted(numbers, key=lambda target: numbers[target])
    if pages and last_page is None and next_page is not None:
        last_page = pages[-1]
    return ThreadPageLinks(next_page, last_page, tuple(pages))


def _links(nodes: PageNodes) -> Iterator[tuple[list[str], str, str]]:
    """Yield the rel, href and text of links that can lead to other pages of a thread."""
    for node, attributes in nodes.attributes.items():
        href = attributes.get("href", "")
        if not href or nodes.tags[node] not in {"a", "link"}:
            continue
        rel = attributes.get("rel", "").lower().split()
        text = nodes.inner_text(node, max_chars=24)
        if "next" in rel or "last" in rel or (text and _PAGE_TEXT.fullmatch(text)):
            yield rel, href, text


def _base_href(nodes: PageNodes) -> str:
    tags = nodes.tags[:_MAX_HEAD_NODES]
    return nodes.attribute(tags.index("base"), "href") if "base" in tags else ""


def _is_same_thread(stem: str, other: str) -> bool:
    """Return whether two addresses without page numbers are equal, but for one last number.

    >>> _is_same_thread("http://x.org/t/glue/2", "http://x.org/t/glue")
    True
    """
    if stem == other:
        return True
    shorter, longer = sorted((stem, other), key=len)
    return longer.startswith(f"{shorter}/") and longer[len(shorter) + 1 :].isdecimal()


def _stem(url: str) -> str:
    """Return an address without the number of its page.

    >>> _stem("http://x.org/t/5?page=2") == _stem("http://x.org/t/5")
    True
    """
    return _PAGE_PART.sub("", url).rstrip("/?&")
