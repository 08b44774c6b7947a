"""What is known of one page, gathered for a person to look at."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from freshet.collection.settings import redact_page_settings
from freshet.core.settings import PageSettings
from freshet.core.types import Link, Page, View, ViewStatistics, Visit
from freshet.crawl.why import NOT_VERIFIED
from freshet.record.store import CollectionStore
from freshet.record.stored_page import StoredPage, StoredVersion, VersionChoice
from freshet.view.dom import element_paths
from freshet.view.words import vocabulary


@dataclass(frozen=True, slots=True)
class PageOverview:
    """A page, its totals, its settings, and one of its versions if it has any."""

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

    def lines(self) -> Iterator[tuple[str, Any]]:
        """Yield what there is to say, a name and a value a line."""
        yield from (("page", self.page.url), ("source", self.page.source or "live"))
        yield from (("host", self.page.host), ("site", self.page.site))
        yield from (("added", self.page.added), ("tags", " ".join(self.page.tags)))
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
    collection: CollectionStore, page: StoredPage, which: VersionChoice, parts: frozenset[str]
) -> PageOverview:
    """Gather what is known of a page, with those parts of a version that are asked for."""
    totals = next(iter(collection.catalog.page_totals([page])))
    settings = redact_page_settings(collection.settings_for(page))
    last = collection.catalog.last_visits([page.id]).get(page.id)
    base = PageOverview(
        page, totals.visits, totals.looks, totals.changes, len(page.versions), settings,
        last_visit=last.visit if last else None,
    )  # fmt: skip
    if not page.versions:
        return base
    version = page.version(which)
    if not parts and page.view_of_visit(version.row) is None:
        return _without_bytes(base, version)
    view = page.view(version.number, dom="dom" in parts)
    return _with_version(base, version.number, view, parts)


def _without_bytes(base: PageOverview, version: StoredVersion) -> PageOverview:
    """Tell what the catalog still knows of a version whose bytes are gone."""
    known = version.row.view
    if known is None:
        return replace(base, version=version.number, kept=False)
    return replace(
        base,
        version=version.number,
        kept=False,
        kind=known.kind,
        title=known.title,
        language=known.language,
        facts=known.facts,
    )


def _with_version(
    base: PageOverview, number: int, view: View, parts: frozenset[str]
) -> PageOverview:
    return replace(
        base,
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
    named = {words[term]: count for term, count in counts if term in words}
    return dict(sorted(named.items(), key=lambda item: (-item[1], item[0])))
