"""What is remembered of pages while visits arrive, so that each is compared with the one before.

The memory is bounded; what was forgotten is read back from the catalog and the archive.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import reduce

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HistoryRow
from freshet.archive.snapshots import SnapshotReader
from freshet.core.settings import Settings
from freshet.core.types import Outcome, View
from freshet.measure.change.compare import MaskedView
from freshet.record.change_criteria import ChangeCriteria, criteria_of_pages
from freshet.record.fault_isolation import isolate_faults
from freshet.record.page_state import PageState, is_gone_after
from freshet.record.parsed_visit import parse_visit

MAX_CACHE_BYTES = 200_000_000


class PageStateCache:
    """The latest states of pages, least recently used ones forgotten first."""

    def __init__(self, catalog: Catalog, snapshots: SnapshotReader, settings: Settings) -> None:
        self._catalog = catalog
        self._snapshots = snapshots
        self._settings = settings
        self._pages: OrderedDict[int, PageState] = OrderedDict()
        self._weight = 0

    def get_states(self, urls: Mapping[int, str]) -> dict[int, PageState]:
        """Return what is known of pages, given by id and URL, read back where it was forgotten."""
        missing = {page: url for page, url in urls.items() if page not in self._pages}
        for page_id in urls.keys() - missing.keys():
            self._pages.move_to_end(page_id)
        known = {page_id: self._pages[page_id] for page_id in urls if page_id not in missing}
        return known | self._read_back(missing)

    def put_states(self, states: Mapping[int, PageState]) -> None:
        """Remember how visits left their pages."""
        for page_id, state in states.items():
            self.discard([page_id])
            self._pages[page_id] = light = state.without_text()
            self._weight += light.memory_bytes
        while self._weight > MAX_CACHE_BYTES and self._pages:
            self.discard([next(iter(self._pages))])

    def discard(self, page_ids: Iterable[int]) -> None:
        """Drop what is remembered of pages; it is read back when it is needed."""
        for page_id in page_ids:
            dropped = self._pages.pop(page_id, None)
            self._weight -= dropped.memory_bytes if dropped else 0

    def clear(self) -> None:
        """Drop everything that is remembered."""
        self.discard(list(self._pages))

    def read_view(self, row: HistoryRow, url: str, *, dom: bool) -> View | None:
        """Make the view of a stored visit again, with DOM rows where a mask needs them.

        None where its bytes are not kept, or cannot be read any more.
        """
        snapshot = self._snapshots.read(row.visit, url)
        if snapshot is None:
            return None
        with isolate_faults("reading a stored version", url):
            return parse_visit(snapshot, self._settings.limits, dom=dom).view
        return None

    def _read_back(self, urls: Mapping[int, str]) -> dict[int, PageState]:
        if not urls:
            return {}
        ids = list(urls)
        ends = self._catalog.last_visits(ids)
        looks = self._catalog.last_looks(list(ends)) if ends else {}
        how = criteria_of_pages(self._catalog, self._settings, ids)
        return {
            page_id: PageState(
                criteria=how[page_id],
                last_visit_time=ends[page_id].visit.time if page_id in ends else None,
                last_look_uid=looks[page_id].visit.uid if page_id in looks else None,
                masked_view=self._content(looks[page_id], url, how[page_id])
                if page_id in looks
                else None,
                is_gone=page_id in ends and self._is_gone(ends[page_id]),
            )
            for page_id, url in urls.items()
        }

    def _content(self, look: HistoryRow, url: str, gauge: ChangeCriteria) -> MaskedView | None:
        view = self.read_view(look, url, dom=gauge.reads_dom)
        with isolate_faults("masking a stored version", url):
            return gauge.mask_view(view) if view else None
        return None

    def _is_gone(self, last: HistoryRow) -> bool:
        """Whether a page was missing when its content was last asked for.

        Failures after that tell nothing of it: the visits before them are read back.
        """
        outcome = last.visit.outcome
        if outcome is Outcome.GONE or outcome.is_look:
            return outcome is Outcome.GONE
        page = last.visit.page
        look = self._catalog.last_looks([page], with_content=False).get(page)
        rows = self._catalog.history(page, since=look.visit.time if look else None)
        return reduce(is_gone_after, (row.visit.outcome for row in rows), False)
