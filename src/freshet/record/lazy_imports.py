"""Builds the parts of a collection that are slow to import, on first use.

Listing pages and reading the status need the catalog alone. The HTML parser, the compiled kernels
and the statistics are imported by the first view, comparison or recording.
"""

from typing import TYPE_CHECKING

from freshet.core.types import Page
from freshet.record.files import CollectionFiles
from freshet.record.record_store import RecordStore

if TYPE_CHECKING:
    from freshet.record.recorder import Recorder
    from freshet.record.stored_page import StoredPage


def build_stored_page(page: Page, files: CollectionFiles) -> "StoredPage":
    """Return a page with its stored visits and versions."""
    from freshet.record.stored_page import StoredPage

    return StoredPage(page, files)


def build_recorder(files: CollectionFiles, shelf: RecordStore) -> "Recorder":
    """Return the object that records arrivals."""
    from freshet.record.recorder import Recorder

    return Recorder(files.catalog, files.snapshots, files.settings, shelf, files.clock)
