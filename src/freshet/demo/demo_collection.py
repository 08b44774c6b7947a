"""The collection that the demonstration crawls: every page of a living web, and its settings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freshet.backtest.continuous import Truth, truth
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock, from_epoch
from freshet.core.tables import PageTable, keys_of
from freshet.core.types import Page
from freshet.demo.server import ADDRESS
from freshet.record.store import SETTINGS_FILE
from freshet.world.simulated_web import LivingWeb

CONTACT = "demo@example.org"
FORBIDDEN = "/suggested/1"
DELAY = 0.0
AT_ONCE = 2
LONGEST_DELAY = 3600.0
AUDIT_EVERY = 1


@dataclass(frozen=True, slots=True)
class Stage:
    """A collection of a living web's pages, each with its place on that web.

    ``forbidden`` is a page that robots.txt does not allow; it is none of the web's own.
    """

    path: Path
    web: LivingWeb
    origins: Sequence[str]
    pages: dict[int, int]
    forbidden: int
    table: PageTable

    @property
    def size(self) -> int:
        """How many pages the collection has."""
        return len(self.pages) + 1

    def url(self, place: int) -> str:
        """Return the address at which a page of the web is served."""
        shown = self.web.pages[place]
        return self.origins[shown.host] + shown.path

    def name(self, page: int) -> str:
        """Return a page's address as the web has it, with its host's name."""
        shown = self.web.pages[self.pages[page]]
        return self.web.hosts[shown.host].name + shown.path

    def kind(self, page: int) -> str:
        """Return what kind of page it is."""
        return self.web.pages[self.pages[page]].kind

    def foremost(self, count: int) -> list[int]:
        """Return pages to show: the first of each kind before any second one."""
        kinds = Counter[str]()
        ranked = []
        for page in self.pages:
            ranked.append((kinds[self.kind(page)], page))
            kinds[self.kind(page)] += 1
        return sorted(page for _, page in sorted(ranked)[:count])

    def truth(self) -> Truth:
        """Return when the pages truly change, and which seem to at every look."""
        places = list(self.pages.values())
        noisy = np.array([self.web.pages[place].noisy for place in places])
        return truth(self.table, [self.web.change_times(place) for place in places], noisy=noisy)


def build(path: Path, web: LivingWeb, origins: Sequence[str], budget: str) -> Stage:
    """Make the collection, with every page of the web and one that may not be fetched."""
    Collection.create(path, contact=CONTACT).close()
    with (path / SETTINGS_FILE).open("a", encoding="utf-8") as file:
        file.write(settings(origins, budget))
    start = from_epoch(web.span.start)
    with Collection.open(path, clock=FixedClock(start)) as collection:
        added = [collection.add(origins[page.host] + page.path) for page in web.pages]
        for page, of_web in zip(added, web.pages, strict=True):
            collection.change_settings(page, [("importance", of_web.importance)])
        forbidden = collection.add(origins[0] + FORBIDDEN)
    importance = [page.importance for page in web.pages]
    places = {page.id: place for place, page in enumerate(added)}
    return Stage(path, web, origins, places, forbidden.id, _table(added, importance))


def settings(origins: Sequence[str], budget: str) -> str:
    """Return the settings: politeness for a fast clock, and leave to fetch from these ports.

    On a clock that runs some ten thousand times too fast any delay between two looks at once would
    be hours long, so that hosts which ask for none are given none. Some hosts' entity tags lag days
    behind their pages, so that every other request asks for the whole page.
    """
    ports = (origin.rpartition(":")[2] for origin in origins)
    allowed = ", ".join(f'"{ADDRESS}/32:{port}"' for port in ports)
    return f"""budget = "{budget}"

[network]
allow = [{allowed}]
audit_every = {AUDIT_EVERY}

[politeness]
delay = {DELAY}
per_host = {AT_ONCE}
longest_delay = {LONGEST_DELAY}
"""


def _table(pages: Sequence[Page], importance: Sequence[float]) -> PageTable:
    return PageTable(
        np.array([page.id for page in pages], np.int64),
        keys_of([page.host for page in pages]),
        keys_of([page.site for page in pages]),
        keys_of([page.directory for page in pages]),
        np.array(importance, np.float64),
        np.full(len(pages), np.nan),
    )
