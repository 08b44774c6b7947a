"""Learns the noise masks of pages that seem to change at every visit.

Noise is learned when most of a page's last looks showed changed text, at growing intervals, and
after every instant burst. A new mask applies at once: the page's earlier visits are measured again
under it. A mask is checked every few looks and when the page stops changing, so that it does not
hide text that has come to stay.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.bursts import BurstKind
from freshet.core.clock import to_epoch
from freshet.core.types import Change, Outcome, View, Visit
from freshet.measure.noise.learning_limits import facts_refusal
from freshet.measure.noise.mask import Mask
from freshet.measure.noise.mask_learning import correct_mask, learn_mask, learning_refusal
from freshet.measure.noise.observed_looks import MAX_LOOKS, LookSpacing, NoiseLook
from freshet.record.change_criteria import page_mask, save_mask
from freshet.record.collection_store import CollectionStore
from freshet.record.fault_isolation import isolate_faults
from freshet.record.page_bursts import PageBurst, page_bursts
from freshet.record.recorder import RecordedVisit
from freshet.record.remeasure_pages import remeasure_pages
from freshet.record.remeasurement import note_remeasuring
from freshet.record.stored_page import StoredPage

log = logging.getLogger(__name__)

VisitsWithChanges = Sequence[tuple[Visit, Change | None]]
MaskLearner = Callable[[Sequence[NoiseLook], Mask], Mask | None]

RECENT_LOOKS, CHANGED_RECENT_LOOKS = 6, 4
# After this many looks at the same text the text counts as permanent.
STILL_LOOKS_TO_CHECK = (4, 9)
ALL_RECENT = (1 << RECENT_LOOKS) - 1
# Permanent text is noticed after five looks, so a check must come within six texts.
MAX_CHANGES_BETWEEN_TRIES, TEXTS_BETWEEN_CHECKS = 16, 6
OUTCOMES_WITH_CONTENT = frozenset({Outcome.OK, Outcome.NOT_MODIFIED})
MAX_TRACKED_PAGES = 100_000
INSTANT_GAP, BURST_GAP = timedelta(minutes=1), timedelta(minutes=40)
# Failures between looks are skipped, up to this many rows.
MAX_HISTORY_ROWS = 4 * MAX_LOOKS
# A new mask is applied to this much of a page's history, latest visits first.
MAX_REMEASURED_BYTES = 32_000_000


@dataclass(slots=True)
class NoiseTrigger:
    """Decides when the noise of a page is learned and when its mask is checked.

    ``recent_changes`` holds the last looks as bits, 1 for a change. ``next_learning`` is the number
    of changes at which noise is learned next. ``still_looks`` counts the last looks with the same
    text, masked parts included; ``next_check`` is the number of changed texts at which the mask is
    checked next.
    """

    recent_changes: int = 0
    changes: int = 0
    next_learning: int = CHANGED_RECENT_LOOKS
    still_looks: int = 0
    texts: int = 0
    next_check: int = 0

    def add_look(self, change: Change) -> None:
        """Add a look."""
        self.recent_changes = (self.recent_changes << 1 | change.changed) & ALL_RECENT
        self.changes += change.changed
        self.still_looks = 0 if change.text else self.still_looks + 1
        self.texts += bool(change.text)

    def is_learning_due(self) -> bool:
        """Whether noise is to be learned now; if so, set the next time."""
        if (
            not self.recent_changes & 1
            or self.recent_changes.bit_count() < CHANGED_RECENT_LOOKS
            or self.changes < self.next_learning
        ):
            return False
        self.next_learning = self.changes + min(
            max(2, self.changes // 2), MAX_CHANGES_BETWEEN_TRIES
        )
        return True

    def is_check_due(self) -> bool:
        """Whether the mask is to be checked now; if so, set the next time."""
        if self.still_looks not in STILL_LOOKS_TO_CHECK and (
            self.still_looks or self.texts < self.next_check
        ):
            return False
        self.next_check = self.texts + TEXTS_BETWEEN_CHECKS
        return True

    def reset(self) -> None:
        """Restart the counts, because the page has a new mask."""
        self.recent_changes, self.changes, self.next_learning = 0, 0, CHANGED_RECENT_LOOKS


class NoiseLearner:
    """Learns masks from the visits of a crawl."""

    def __init__(self, collection: CollectionStore) -> None:
        self._collection = collection
        self._pages: OrderedDict[int, NoiseTrigger] = OrderedDict()

    def learn_from(
        self, visits: VisitsWithChanges, sampled_pages: Set[int] = frozenset()
    ) -> frozenset[int]:
        """Learn from new visits; return the pages that have a new mask.

        ``sampled_pages`` were visited for a burst.
        """
        looks = [
            (visit.page, change)
            for visit, change in visits
            if change is not None and (change.text or change.mask or visit.page in self._pages)
        ]
        changed_pages = {page for page, change in looks if change.text}
        learning = {
            page for page in changed_pages & sampled_pages if self._ends_instant_burst(page)
        }
        checking: set[int] = set()
        for page, change in looks:
            with isolate_faults("watching its noise", f"page {page}"):
                trigger = self._trigger(page)
                trigger.add_look(change)
                if trigger.is_learning_due():
                    learning.add(page)
                elif change.mask and trigger.is_check_due():
                    checking.add(page)
        learned_pages = [page for page in sorted(learning) if self._update_mask(page, learn_mask)]
        corrected_pages = [
            page for page in sorted(checking - learning) if self._update_mask(page, correct_mask)
        ]
        remasked_pages = frozenset((*learned_pages, *corrected_pages))
        for page in remasked_pages:
            self._pages[page].reset()
        return remasked_pages

    def _trigger(self, page: int) -> NoiseTrigger:
        """Return the trigger of a page; the first time, its recent looks are read."""
        trigger = self._pages.get(page)
        if trigger is None:
            trigger = self._pages[page] = NoiseTrigger()
            for row in self._collection.catalog.history(page, limit=RECENT_LOOKS)[:-1]:
                if row.change is not None:
                    trigger.add_look(row.change)
        self._pages.move_to_end(page)
        while len(self._pages) > MAX_TRACKED_PAGES:
            self._pages.popitem(last=False)
        return trigger

    def with_current_changes(
        self, visits: VisitsWithChanges, pages: Set[int]
    ) -> list[RecordedVisit]:
        """Return visits with their changes under the present masks of some pages."""
        changes = {
            row.visit.uid: row.change
            for page in pages
            for row in self._collection.catalog.history(page, limit=MAX_HISTORY_ROWS)
        }
        return [RecordedVisit(visit, changes.get(visit.uid, change)) for visit, change in visits]

    def _ends_instant_burst(self, page: int) -> bool:
        """Whether the page's last look was the second one of an instant burst."""
        with isolate_faults("looking for its instant burst", f"page {page}"):
            bursts = page_bursts(self._collection.catalog, page)
            if not bursts or bursts[-1].kind is not BurstKind.INSTANT or len(bursts[-1].visits) < 2:
                return False
            last_visits = self._collection.catalog.last_visits([page])
            return last_visits[page].visit.id == bursts[-1].visits[-1]
        return False

    def _update_mask(self, page_id: int, learner: MaskLearner) -> bool:
        """Learn a page's mask; if it is new, save it and measure the page again."""
        with isolate_faults("learning its noise", f"page {page_id}"):
            page = self._collection.catalog.pages_by_id([page_id])[page_id]
            stored_page = self._collection.page(page.url, source=page.source, removed=True)
            mask = learned_mask(self._collection, stored_page, learner)
            if mask is None:
                return False
            with note_remeasuring(self._collection.catalog, [page.key]):
                if save_mask(self._collection, stored_page, mask, after=mask.version - 1) is None:
                    return False
                with isolate_faults("measuring it under its new mask", page.url):
                    remeasure_pages(self._collection, [page], max_bytes=MAX_REMEASURED_BYTES)
            return True
        return False


def learn_and_keep_mask(collection: CollectionStore, page: StoredPage) -> Mask | None:
    """Learn and save the mask of a page from its last versions; None if it has not changed."""
    mask = learned_mask(collection, page, learn_mask)
    return None if mask is None else save_mask(collection, page, mask, after=mask.version - 1)


def learned_mask(
    collection: CollectionStore, page: StoredPage, learner: MaskLearner
) -> Mask | None:
    """Return the mask learned from a page's last versions; None if it has not changed.

    Versions that are too large by the sizes in the catalog are not read.
    """
    bursts = _bursts_by_visit(collection, page)
    rows = _rows_to_learn(collection, page, max(bursts, default=0))
    why = _size_refusal(rows)
    looks = [] if why else list(_looks(page, rows, bursts))
    if why := why or learning_refusal(looks):
        log.info("the noise of %s is not learned: it has %s", page.url, why)
        return None
    return learner(looks, page_mask(collection, page))


def why_too_large_to_learn(collection: CollectionStore, page: StoredPage) -> str:
    """Describe what is too large in a page's last versions for learning noise; else empty.

    The versions are read only if the sizes in the catalog do not decide.
    """
    bursts = _bursts_by_visit(collection, page)
    rows = _rows_to_learn(collection, page, max(bursts, default=0))
    return _size_refusal(rows) or learning_refusal(list(_looks(page, rows, bursts, dom=False)))


def _size_refusal(rows: Sequence[HistoryRow]) -> str:
    """Describe what is too large by the sizes in the catalog; else empty."""
    all_facts = (row.view.facts for row in rows if row.view is not None)
    return next((why for facts in all_facts if (why := facts_refusal(facts))), "")


def _bursts_by_visit(collection: CollectionStore, page: StoredPage) -> dict[int, PageBurst]:
    """Return the bursts of a page by their visits, without each burst's first."""
    bursts = page_bursts(collection.catalog, page.id)
    return {visit: burst for burst in bursts for visit in burst.visits[1:]}


def _looks(
    page: StoredPage,
    rows: Sequence[HistoryRow],
    bursts: Mapping[int, PageBurst],
    *,
    dom: bool = True,
) -> Iterator[NoiseLook]:
    """Yield the looks whose content is stored, each with its spacing from the look before.

    A look that was answered with "not modified" shows the content of the look before.
    """
    spacings: list[LookSpacing] = ["apart", *(_spacing(*pair, bursts) for pair in pairwise(rows))]
    view: View | None = None
    for row, spacing in zip(rows, spacings, strict=False):
        if row.visit.outcome is Outcome.OK:
            view = page.view_of_visit(row, dom=dom)
        if view is not None:
            yield NoiseLook(view, to_epoch(row.visit.time), spacing)


def _rows_to_learn(collection: CollectionStore, page: StoredPage, latest: int) -> list[HistoryRow]:
    """Return a page's last looks and those of its latest burst, which shows the fixed text."""
    rows = collection.catalog.history(page.id, limit=MAX_HISTORY_ROWS)
    if latest and all(row.visit.id != latest for row in rows):
        rows = collection.catalog.history(page.id)
    looks = [row for row in rows if row.visit.outcome in OUTCOMES_WITH_CONTENT]
    index = next((index for index, row in enumerate(looks) if row.visit.id == latest), None)
    if index is None or index > len(looks) - MAX_LOOKS:
        return looks[-MAX_LOOKS:]
    return [*looks[max(0, index - 1) : index + 1], *looks[2 - MAX_LOOKS :]]


def _spacing(before: HistoryRow, row: HistoryRow, bursts: Mapping[int, PageBurst]) -> LookSpacing:
    """Return how a look follows another; a host's delay may separate the looks of a burst."""
    burst, gap = bursts.get(row.visit.id or 0), row.visit.time - before.visit.time
    if burst is None:
        return "apart"
    if burst.kind is BurstKind.INSTANT and (not burst.is_spaced or gap <= INSTANT_GAP):
        return "instant"
    return "fast" if gap <= BURST_GAP else "apart"
