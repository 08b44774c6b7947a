"""Views made by hand, so that measures are tested without parsing."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import xxhash

from freshet.core.types import INTERNAL, ContentKind, LinkTable, TermCounts, View, ViewStatistics
from freshet.measure.change.similarity import align_counts

MakeTerms = Callable[[str], TermCounts]
MakeView = Callable[..., View]


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())


def _terms(text: str) -> TermCounts:
    counted = Counter(_hash(word) for word in text.casefold().split())
    ids = sorted(counted)
    counts = np.array([counted[term] for term in ids], dtype=np.uint32)
    return TermCounts(np.array(ids, dtype=np.uint64), counts)


def _links(urls: tuple[str, ...]) -> LinkTable:
    facts = [INTERNAL if "//example.org/" in url else 0 for url in urls]
    blank = ("",) * len(urls)
    return LinkTable(urls, blank, blank, np.array(facts, dtype=np.uint8))


def _view(
    text: str = "",
    *,
    links: tuple[str, ...] = (),
    title: str = "",
    kind: ContentKind = ContentKind.HTML,
    url: str = "https://example.org/",
    body: str | None = None,
) -> View:
    terms, link_table = _terms(text), _links(links)
    body = text if body is None else body
    words = terms.total
    facts = ViewStatistics(
        len(body),
        len(text),
        words,
        len(terms),
        link_table.internal_count,
        link_table.external_count,
        1,
        1,
    )
    return View(
        url, kind, "utf-8", title, "en", text, terms, link_table, facts,
        body_hash=_hash(body),
        text_hash=_hash(" ".join(text.split())),
        structure_hash=body.count("<"),
    )  # fmt: skip


@pytest.fixture(scope="session")
def terms_of() -> MakeTerms:
    """Return what counts the words of a text."""
    return _terms


@pytest.fixture(scope="session")
def view_of() -> MakeView:
    """Return what makes a view of a text, its links and its title."""
    return _view


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Compile the kernel before hypothesis watches the clock."""
    align_counts(_terms("one"), _terms("two"))
