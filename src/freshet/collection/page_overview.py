"""Gathers the totals, the settings and one version of a page for display."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from freshet.collection.settings import redact_page_settings
from freshet.core.settings import PageSettings
from freshet.core.types import Link, Page, View, ViewStatistics, Visit
from freshet.crawl.why import NOT_VERIFIED
from freshet.record.collection_store import CollectionStore
from freshet.record.stored_page import StoredPage, StoredVersion, VersionChoice
from freshet.view.dom import element_paths
from freshet.view.words import vocabulary


@dataclass(frozen=True, slots=True)
class PageOverview:
    """A page, its totals, its settings, and one of its versions if it has any.

    ``found_on`` is the URL of the page whose new link it was, None if it was added otherwise.
    """

    page: Page
    visits: int
    looks: int
    changes: int
    versions: int
    settings: PageSettings
    last_visit: Visit | None = None
    version: int | None = None
    kept: bool = True
    kind: str = ""
    title: str = ""
    language: str = ""
    charset: str = ""
    facts: ViewStatistics | None = None
    text: str | None = None
    links: tuple[Link, ...] | None = None
    terms: dict[str, int] | None = None
    dom: list[tuple[str, str]] | None = None
    found_on: str | None = None

    def lines(self) -> Iterator[tuple[str, Any]]:
        """Yield the lines of the overview, each a name and a value."""
        yield from (("page", self.page.url), ("source", self.page.source or "live"))
        yield from (("host", self.page.host), ("site", self.page.site))
        yield from (("added", self.page.added), ("tags", " ".join(self.page.tags)))
        if self.found_on is not None:
            yield "found on", self.found_on
        yield "state", "paused" if self.page.paused else ""
        yield "visits", f"{self.visits} ({self.looks} looks, {self.changes} changes)"
        if self.last_visit is not None:
            yield from (
                ("last visit", self.last_visit.time),
                ("outcome", self.last_visit.outcome_text),
            )
        if self.version is not None:
            lost = "" if self.kept else ", whose bytes are no longer kept"
            yield "version", f"{self.version} of {self.versions}{lost}"
            yield from (("kind", self.kind), ("title", self.title), ("language", self.language))
            yield "charset", self.charset
        if self.facts is not None:
            yield from asdict(self.facts).items()
        if self.settings.verify_tls is False:
            yield "certificate", NOT_VERIFIED
        yield from asdict(self.settings).items()


def page_overview(
    collection: CollectionStore, page: StoredPage, choice: VersionChoice, parts: frozenset[str]
) -> PageOverview:
    """Return an overview of a page, with those parts of a version that ``parts`` names."""
    totals = next(iter(collection.catalog.page_totals([page])))
    settings = redact_page_settings(collection.settings_for(page))
    last_visit = collection.catalog.last_visits([page.id]).get(page.id)
    overview = PageOverview(
        page, totals.visits, totals.looks, totals.changes, len(page.versions), settings,
        last_visit=last_visit.visit if last_visit else None,
        found_on=collection.catalog.found_on(page.id),
    )  # fmt: skip
    if not page.versions:
        return overview
    version = page.version(choice)
    if not parts and page.view_of_visit(version.row) is None:
        return _without_bytes(overview, version)
    view = page.view(version.number, dom="dom" in parts)
    return _with_version(overview, version.number, view, parts)


def _without_bytes(overview: PageOverview, version: StoredVersion) -> PageOverview:
    """Add what the catalog stores of a version whose bytes are gone."""
    overview = replace(overview, version=version.number, kept=False)
    view = version.row.view
    if view is None:
        return overview
    return replace(
        overview, kind=view.kind, title=view.title, language=view.language, facts=view.facts
    )


def _with_version(
    overview: PageOverview, number: int, view: View, parts: frozenset[str]
) -> PageOverview:
    return replace(
        overview,
        version=number,
        kind=view.kind,
        title=view.title,
        language=view.language,
        charset=view.charset,
        facts=view.facts,
        text=view.text if "text" in parts else None,
        links=tuple(view.links) if "links" in parts else None,
        terms=word_counts(view) if "terms" in parts else None,
        dom=list(element_paths(view.dom)) if view.dom is not None else None,
    )


def word_counts(view: View) -> dict[str, int]:
    """Return the words of a view with their counts, most frequent first."""
    words = vocabulary(view.text)
    counts = zip(view.terms.hashes.tolist(), view.terms.counts.tolist(), strict=True)
    counts_by_word = {words[term]: count for term, count in counts if term in words}
    return dict(sorted(counts_by_word.items(), key=lambda item: (-item[1], item[0])))
