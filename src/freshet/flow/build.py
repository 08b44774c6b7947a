"""Puts the parts of a collection together that are costly to load, only when they are needed.

Listing pages or asking for the status needs the catalog alone; the HTML parser, the compiled
kernels and the statistics are loaded by the first view, comparison or recording.
"""

from typing import TYPE_CHECKING

from freshet.archive.catalog.base import Catalog
from freshet.archive.snapshots import Snapshots
from freshet.core.clock import Clock
from freshet.core.settings import Settings
from freshet.core.types import Page
from freshet.flow.shelf import Shelf

if TYPE_CHECKING:
    from freshet.flow.page import CollectionPage
    from freshet.flow.record import Recorder


def page_with_past(
    page: Page, catalog: Catalog, snapshots: Snapshots, settings: Settings, clock: Clock
) -> "CollectionPage":
    """Return a page that can tell its past, and what is expected of it."""
    from freshet.flow.page import CollectionPage
    from freshet.flow.past import Past

    return CollectionPage(page, Past(catalog, snapshots, settings, clock))


def recorder(
    catalog: Catalog, snapshots: Snapshots, settings: Settings, shelf: Shelf, clock: Clock
) -> "Recorder":
    """Return what records arrivals."""
    from freshet.flow.record import Recorder

    return Recorder(catalog, snapshots, settings, shelf, clock)
