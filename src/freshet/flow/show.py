"""What is known of one page, gathered for a person to look at."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from freshet.core.settings import PageSettings
from freshet.core.types import DomRows, Facts, Link, Page, View
from freshet.flow.collection import Collection
from freshet.flow.page import CollectionPage
from freshet.view.words import vocabulary


@dataclass(frozen=True, slots=True)
class Portrait:
    """A page, its totals, its settings, and one of its versions if it has any."""

    page: Page
    visits: int
    looks: int
    changes: int
    versions: int
    settings: PageSettings
    version: int | None = None
    kind: str = ""
    title: str = ""
    language: str = ""
    charset: str = ""
    facts: Facts | None = None
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
        if self.version is not None:
            yield "version", f"{self.version} of {self.versions}"
            yield from (("kind", self.kind), ("title", self.title), ("language", self.language))
            yield "charset", self.charset
        if self.facts is not None:
            yield from asdict(self.facts).items()
        yield from asdict(self.settings).items()


def portrait(
    collection: Collection, page: CollectionPage, which: str, parts: frozenset[str]
) -> Portrait:
    """Gather what is known of a page, with those parts of a version that are asked for."""
    totals = next(iter(collection.catalog.summaries([page.page])))
    settings = collection.settings_for(page.page)
    base = Portrait(
        page.page, totals.visits, totals.looks, totals.changes, len(page.versions), settings
    )
    if not page.versions:
        return base
    version = page.version(which)
    view = page.view(version.number, dom="dom" in parts)
    return _with_version(base, version.number, view, parts)


def _with_version(base: Portrait, number: int, view: View, parts: frozenset[str]) -> Portrait:
    return Portrait(
        base.page, base.visits, base.looks, base.changes, base.versions, base.settings,
        version=number,
        kind=view.kind,
        title=view.title,
        language=view.language,
        charset=view.charset,
        facts=view.facts,
        text=view.text if "text" in parts else None,
        links=tuple(view.links) if "links" in parts else None,
        terms=word_counts(view) if "terms" in parts else None,
        dom=list(dom_paths(view.dom)) if view.dom is not None else None,
    )  # fmt: skip


def word_counts(view: View) -> dict[str, int]:
    """Return the words of a view with their counts, most frequent first."""
    words = vocabulary(view.text)
    counts = zip(view.terms.ids.tolist(), view.terms.counts.tolist(), strict=True)
    named = {words[term]: count for term, count in counts if term in words}
    return dict(sorted(named.items(), key=lambda item: (-item[1], item[0])))


def dom_paths(dom: DomRows) -> Iterator[tuple[str, str]]:
    """Yield both paths of every row, all in one pass (``view.dom`` spells them one by one)."""
    full, kinds = [""], [""]
    met: Counter[str] = Counter()
    rows = zip(dom.tag.tolist(), dom.parent.tolist(), dom.index.tolist(), strict=True)
    for tag, parent, index in rows:
        name = dom.names[tag]
        full.append(f"{full[parent + 1]}/{name}[{index}]")
        kinds.append(f"{kinds[parent + 1]}/{name}")
        yield full[-1], f"({kinds[-1]})[{met[kinds[-1]]}]"
        met[kinds[-1]] += 1
