"""The collection that the demonstration crawls: every page of a simulated web, and its settings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freshet.backtest.continuous.ground_truth import GroundTruth, ground_truth
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock, from_epoch
from freshet.core.tables import PageTable, hash_names
from freshet.core.types import Page
from freshet.demo.server import ADDRESS
from freshet.record.collection_store import SETTINGS_FILE
from freshet.world.simulated_web import SimulatedWeb

CONTACT = "demo@example.org"
FORBIDDEN_PATH = "/suggested/1"
DELAY = 0.0
REQUESTS_PER_HOST = 2
MAX_DELAY = 3600.0
AUDIT_EVERY = 1


@dataclass(frozen=True, slots=True)
class DemoCollection:
    """A collection of a simulated web's pages; ``web_indices`` maps page ids to web pages.

    ``forbidden_page`` is disallowed by robots.txt and does not exist on the web.
    """

    path: Path
    web: SimulatedWeb
    origins: Sequence[str]
    web_indices: dict[int, int]
    forbidden_page: int
    page_table: PageTable

    @property
    def size(self) -> int:
        """The number of pages in the collection."""
        return len(self.web_indices) + 1

    def url(self, web_index: int) -> str:
        """Return the URL at which a page of the web is served."""
        spec = self.web.pages[web_index]
        return self.origins[spec.host] + spec.path

    def name(self, page: int) -> str:
        """Return a page's host name and path on the web."""
        spec = self.web.pages[self.web_indices[page]]
        return self.web.hosts[spec.host].name + spec.path

    def kind(self, page: int) -> str:
        """Return the kind of a page."""
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
        """Return when the pages really change, and which seem to change at every look."""
        web_indices = list(self.web_indices.values())
        noisy = np.array([self.web.pages[web_index].is_noisy for web_index in web_indices])
        return ground_truth(
            self.page_table,
            [self.web.change_times(web_index) for web_index in web_indices],
            is_noisy=noisy,
        )


def build_collection(
    path: Path, web: SimulatedWeb, origins: Sequence[str], budget: str
) -> DemoCollection:
    """Create the collection with every page of the web and one page that may not be fetched."""
    Collection.create(path, contact=CONTACT).close()
    with (path / SETTINGS_FILE).open("a", encoding="utf-8") as file:
        file.write(settings_text(origins, budget))
    start = from_epoch(web.span.start)
    with Collection.open(path, clock=FixedClock(start)) as collection:
        added = [collection.add(origins[page.host] + page.path) for page in web.pages]
        for page, spec in zip(added, web.pages, strict=True):
            collection.change_settings(page, [("importance", spec.importance)])
        forbidden = collection.add(origins[0] + FORBIDDEN_PATH)
    importance = [page.importance for page in web.pages]
    web_indices = {page.id: index for index, page in enumerate(added)}
    return DemoCollection(
        path, web, origins, web_indices, forbidden.id, _page_table(added, importance)
    )


def settings_text(origins: Sequence[str], budget: str) -> str:
    """Return settings: politeness for a fast clock, and permission to fetch from these ports.

    On a clock that runs ten thousand times too fast, any delay between two requests would be hours
    long, so hosts that ask for no delay get none. Some hosts' entity tags lag days behind their
    pages, so every other request is unconditional.
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


def _page_table(pages: Sequence[Page], importance: Sequence[float]) -> PageTable:
    return PageTable(
        np.array([page.id for page in pages], np.int64),
        hash_names([page.host for page in pages]),
        hash_names([page.site for page in pages]),
        hash_names([page.directory for page in pages]),
        np.array(importance, np.float64),
        np.full(len(pages), np.nan),
    )
