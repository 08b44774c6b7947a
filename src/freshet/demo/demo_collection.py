"""The collection that the demonstration crawls: every page of a living web, and its settings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freshet.backtest.continuous import GroundTruth, ground_truth
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock, from_epoch
from freshet.core.tables import PageTable, hash_names
from freshet.core.types import Page
from freshet.demo.server import ADDRESS
from freshet.record.store import SETTINGS_FILE
from freshet.world.simulated_web import SimulatedWeb

CONTACT = "demo@example.org"
FORBIDDEN_PATH = "/suggested/1"
DELAY = 0.0
REQUESTS_PER_HOST = 2
MAX_DELAY = 3600.0
AUDIT_EVERY = 1


@dataclass(frozen=True, slots=True)
class DemoCollection:
    """A collection of a living web's pages, each with its place on that web.

    ``forbidden_page`` is a page that robots.txt does not allow; it is none of the web's own.
    """

    path: Path
    web: SimulatedWeb
    origins: Sequence[str]
    web_indices: dict[int, int]
    forbidden_page: int
    page_table: PageTable

    @property
    def size(self) -> int:
        """How many pages the collection has."""
        return len(self.web_indices) + 1

    def url(self, place: int) -> str:
        """Return the address at which a page of the web is served."""
        shown = self.web.pages[place]
        return self.origins[shown.host] + shown.path

    def name(self, page: int) -> str:
        """Return a page's address as the web has it, with its host's name."""
        shown = self.web.pages[self.web_indices[page]]
        return self.web.hosts[shown.host].name + shown.path

    def kind(self, page: int) -> str:
        """Return what kind of page it is."""
        return self.web.pages[self.web_indices[page]].kind

    def pages_to_show(self, count: int) -> list[int]:
        """Return pages to show: the first of each kind before any second one."""
        kinds = Counter[str]()
        ranked = []
        for page in self.web_indices:
            ranked.append((kinds[self.kind(page)], page))
            kinds[self.kind(page)] += 1
        return sorted(page for _, page in sorted(ranked)[:count])

    def ground_truth(self) -> GroundTruth:
        """Return when the pages truly change, and which seem to at every look."""
        places = list(self.web_indices.values())
        noisy = np.array([self.web.pages[place].is_noisy for place in places])
        return ground_truth(
            self.page_table, [self.web.change_times(place) for place in places], is_noisy=noisy
        )


def build_collection(
    path: Path, web: SimulatedWeb, origins: Sequence[str], budget: str
) -> DemoCollection:
    """Make the collection, with every page of the web and one that may not be fetched."""
    Collection.create(path, contact=CONTACT).close()
    with (path / SETTINGS_FILE).open("a", encoding="utf-8") as file:
        file.write(settings_text(origins, budget))
    start = from_epoch(web.span.start)
    with Collection.open(path, clock=FixedClock(start)) as collection:
        added = [collection.add(origins[page.host] + page.path) for page in web.pages]
        for page, of_web in zip(added, web.pages, strict=True):
            collection.change_settings(page, [("importance", of_web.importance)])
        forbidden = collection.add(origins[0] + FORBIDDEN_PATH)
    importance = [page.importance for page in web.pages]
    places = {page.id: place for place, page in enumerate(added)}
    return DemoCollection(path, web, origins, places, forbidden.id, _table(added, importance))


def settings_text(origins: Sequence[str], budget: str) -> str:
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
per_host = {REQUESTS_PER_HOST}
longest_delay = {MAX_DELAY}
"""


def _table(pages: Sequence[Page], importance: Sequence[float]) -> PageTable:
    return PageTable(
        np.array([page.id for page in pages], np.int64),
        hash_names([page.host for page in pages]),
        hash_names([page.site for page in pages]),
        hash_names([page.directory for page in pages]),
        np.array(importance, np.float64),
        np.full(len(pages), np.nan),
    )
