"""The databases that a catalog supports, and sample rows."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from freshet.archive.catalog.catalog import Catalog, open_catalog
from freshet.archive.catalog.rows import NewPage, ViewSummary
from freshet.core.types import Change, ContentKind, Outcome, PageKey, ViewStatistics, Visit

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
STATISTICS = ViewStatistics(
    bytes=900, text_chars=400, words=70, distinct_words=50, links_internal=3, links_external=1,
    elements=20, depth=6, truncated=True,
)  # fmt: skip
VIEW = ViewSummary(ContentKind.HTML, "News", "en", 2**64 - 1, 7, STATISTICS)
CHANGE = Change(
    True, mask=3, bytes=True, text=True, significant=False, structure=None, links=True, moved=True,
    dice=0.5, words=12, new_internal=2, new_external=1, never_seen=1,
)  # fmt: skip


def open_sqlite(folder: Path) -> Catalog:
    return open_catalog(folder / "catalog.db", create=True)


CATALOGS = {"sqlite": open_sqlite}


def new_page(path: str = "", host: str = "a.example", source: str = "") -> NewPage:
    return NewPage(PageKey(f"https://{host}/{path}", source), host, host, f"{host}/")


def new_visit(page: int, number: int, outcome: Outcome = Outcome.OK, **fields: Any) -> Visit:
    uid = page.to_bytes(8, "big") + number.to_bytes(8, "big")
    return replace(Visit(uid, page, NOW + number * DAY, outcome), **fields)


def add(catalog: Catalog, *items: NewPage) -> list[int]:
    return catalog.add_pages(items or [new_page()], NOW).ids


def add_another(catalog: Catalog) -> int:
    return add(catalog, new_page(str(catalog.counts().pages)))[0]
