"""Page states in memory, so that each visit is compared with the one before it.

The cache is bounded; a state that was dropped is read back from the catalog and the archive.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import reduce

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.types import Outcome, View
from freshet.measure.change.compare import MaskedView
from freshet.record.change_criteria import ChangeCriteria, criteria_of_pages
from freshet.record.collection_reader import CollectionReader
from freshet.record.fault_isolation import isolate_faults
from freshet.record.page_state import PageState, is_gone_after
from freshet.record.parsed_visit import parse_visit

MAX_CACHE_BYTES = 200_000_000


class PageStateCache:
    """The latest states of pages; the least recently used one is dropped first."""

    def __init__(self, reader: CollectionReader) -> None:
        self._reader = reader
        self._catalog = reader.catalog
        self._states: OrderedDict[int, PageState] = OrderedDict()
        self._total_bytes = 0

    def get_states(self, urls: Mapping[int, str]) -> dict[int, PageState]:
        """Return the states of pages, given by id and URL; those not in memory are read back."""
        missing = {page_id: url for page_id, url in urls.items() if page_id not in self._states}
        for page_id in urls.keys() - missing.keys():
            self._states.move_to_end(page_id)
        cached = {page_id: self._states[page_id] for page_id in urls if page_id not in missing}
        return cached | self._read_back(missing)

    def put_states(self, states: Mapping[int, PageState]) -> None:
        """Store the states of pages after visits."""
        for page_id, state in states.items():
            self.discard([page_id])
            self._states[page_id] = cached = state.without_text()
            self._total_bytes += cached.memory_bytes
        while self._total_bytes > MAX_CACHE_BYTES and self._states:
            self.discard([next(iter(self._states))])

    def discard(self, page_ids: Iterable[int]) -> None:
        """Drop the states of pages."""
        for page_id in page_ids:
            dropped = self._states.pop(page_id, None)
            self._total_bytes -= dropped.memory_bytes if dropped else 0

    def clear(self) -> None:
        """Drop all states."""
        self.discard(list(self._states))

    def read_view(self, row: HistoryRow, url: str, *, dom: bool) -> View | None:
        """Return the view of a stored visit; None where its bytes are lost or cannot be read."""
        snapshot = self._reader.snapshots.read(row.visit, url)
        if snapshot is None:
            return None
        with isolate_faults("reading a stored version", url):
            return parse_visit(snapshot, self._reader.settings.limits, dom=dom).view
        return None

    def _read_back(self, urls: Mapping[int, str]) -> dict[int, PageState]:
        if not urls:
            return {}
        page_ids = list(urls)
        last_visits = self._catalog.last_visits(page_ids)
        last_looks = self._catalog.last_looks(list(last_visits)) if last_visits else {}
        criteria = criteria_of_pages(self._reader, page_ids)
        states = {}
        for page_id, url in urls.items():
            visit, look = last_visits.get(page_id), last_looks.get(page_id)
            states[page_id] = PageState(
                criteria=criteria[page_id],
                last_visit_time=visit.visit.time if visit else None,
                last_look_uid=look.visit.uid if look else None,
                masked_view=self._masked_view(look, url, criteria[page_id]) if look else None,
                is_gone=visit is not None and self._is_gone(visit),
            )
        return states

    def _masked_view(
        self, look: HistoryRow, url: str, criteria: ChangeCriteria
    ) -> MaskedView | None:
        view = self.read_view(look, url, dom=criteria.reads_dom)
        with isolate_faults("masking a stored version", url):
            return criteria.mask_view(view) if view else None
        return None

    def _is_gone(self, last_visit: HistoryRow) -> bool:
        """Whether a page was missing at its last visit that did not fail.

        If the last visit failed, the visits before it are read.
        """
        outcome = last_visit.visit.outcome
        if outcome is Outcome.GONE or outcome.is_look:
            return outcome is Outcome.GONE
        page_id = last_visit.visit.page
        look = self._catalog.last_looks([page_id], with_content=False).get(page_id)
        rows = self._catalog.history(page_id, since=look.visit.time if look else None)
        return reduce(is_gone_after, (row.visit.outcome for row in rows), False)
