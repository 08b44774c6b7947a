"""The open files of a collection, from which stored pages are read."""

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.snapshots import SnapshotReader
from freshet.core.clock import Clock
from freshet.core.settings import Settings


class CollectionFiles:
    """The catalog and snapshots of a collection, with its settings and its clock."""

    def __init__(
        self, catalog: Catalog, snapshots: SnapshotReader, settings: Settings, clock: Clock
    ) -> None:
        self.catalog = catalog
        self.snapshots = snapshots
        self.settings = settings
        self.clock = clock
