"""Reads stored pages from the catalog and the archive of a collection."""

from pathlib import Path

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import NewPage
from freshet.archive.snapshots import SnapshotReader
from freshet.core import __version__
from freshet.core.clock import Clock
from freshet.core.settings import Settings
from freshet.core.types import PageKey
from freshet.view.url import page_address

SOFTWARE = f"Freshet/{__version__}"


class CollectionReader:
    """Read access to a collection: its catalog and snapshots, with its settings and its clock.

    ``models_folder`` has the models that were learned, None if there is no such folder.
    """

    models_folder: Path | None = None

    def __init__(
        self, catalog: Catalog, snapshots: SnapshotReader, settings: Settings, clock: Clock
    ) -> None:
        self.catalog = catalog
        self.snapshots = snapshots
        self.settings = settings
        self.clock = clock


def new_page(key: PageKey) -> NewPage:
    """Return the catalog row of a page that is to be added."""
    address = page_address(key.url)
    return NewPage(key, address.host, address.site, address.directory)
