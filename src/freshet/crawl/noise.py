"""Masks learnt: which pages seem to change at every visit, and what of them is noise.

A page is looked into when most of its last looks found other text, at first soon and then ever
less often, and after every instant round. What is learnt holds at once: its visits so far are
measured again under the new mask. A mask is held against what it hides every few looks and when the
page comes to rest, so that it does not hide what has come to stay.
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
from freshet.record.fault_isolation import isolate_faults
from freshet.record.page_bursts import PageBurst, page_bursts
from freshet.record.recorder import RecordedVisit
from freshet.record.remeasure_pages import remeasure_pages
from freshet.record.remeasurement import note_remeasuring
from freshet.record.store import CollectionStore
from freshet.record.stored_page import StoredPage

log = logging.getLogger(__name__)

VisitsWithChanges = Sequence[tuple[Visit, Change | None]]
MaskLearner = Callable[[Sequence[NoiseLook], Mask], Mask | None]

RECENT_LOOKS, CHANGED_RECENT_LOOKS = 6, 4
# After so many looks at the same text it has stayed, be it one of a rotating choice or not.
STILL_LOOKS_TO_CHECK = (4, 9)
ALL_RECENT = (1 << RECENT_LOOKS) - 1
# A text that stays is noticed after five looks: no stretch of looks may escape all checks.
MAX_CHANGES_BETWEEN_TRIES, TEXTS_BETWEEN_CHECKS = 16, 6
OUTCOMES_WITH_CONTENT = frozenset({Outcome.OK, Outcome.NOT_MODIFIED})
MAX_TRACKED_PAGES = 100_000
INSTANT_GAP, BURST_GAP = timedelta(minutes=1), timedelta(minutes=40)
# Failures between looks are read over, but not without end.
MAX_HISTORY_ROWS = 4 * MAX_LOOKS
# How much of a page's history is measured again at once when a mask is learnt, latest visits first.
MAX_REMEASURED_BYTES = 32_000_000


@dataclass(slots=True)
class NoiseTrigger:
    """How restless a page is: its last looks as bits, 1 where it had changed.

    ``next_learning`` is the number of changes at which its noise is next looked into. Of its text, what
    is masked and all, ``still_looks`` counts the last looks that found it the same, and ``next_check`` is
    the number of other texts at which its mask is next held against what it hides.
    """

    recent_changes: int = 0
    changes: int = 0
    next_learning: int = CHANGED_RECENT_LOOKS
    still_looks: int = 0
    texts: int = 0
    next_check: int = 0

    def add_look(self, change: Change) -> None:
        """Take in one more look."""
        self.recent_changes = (self.recent_changes << 1 | change.changed) & ALL_RECENT
        self.changes += change.changed
        self.still_looks = 0 if change.text else self.still_looks + 1
        self.texts += bool(change.text)

    def is_learning_due(self) -> bool:
        """Whether it is time to look for noise; if so, the next time comes later."""
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
        """Whether what a mask hides may have come to stay: now and then, and where all rests."""
        if self.still_looks not in STILL_LOOKS_TO_CHECK and (
            self.still_looks or self.texts < self.next_check
        ):
            return False
        self.next_check = self.texts + TEXTS_BETWEEN_CHECKS
        return True

    def reset(self) -> None:
        """Count from here on: the page has a new mask."""
        self.recent_changes, self.changes, self.next_learning = 0, 0, CHANGED_RECENT_LOOKS


class NoiseLearner:
    """Watches the visits of a crawl, and learns the masks of pages that never rest."""

    def __init__(self, collection: CollectionStore) -> None:
        self._collection = collection
        self._pages: OrderedDict[int, NoiseTrigger] = OrderedDict()

    def learn_from(
        self, visits: VisitsWithChanges, sampled: Set[int] = frozenset()
    ) -> frozenset[int]:
        """Take in visits just recorded; return the pages that are measured by a new mask since.

        ``sampled`` are those of the pages that were visited for a round.
        """
        looks = [
            (visit.page, change)
            for visit, change in visits
            if change is not None and (change.text or change.mask or visit.page in self._pages)
        ]
        changed = {page for page, change in looks if change.text}
        learning = {page for page in changed & sampled if self._ends_instant_round(page)}
        checking: set[int] = set()
        for page, change in looks:
            with isolate_faults("watching its noise", f"page {page}"):
                known = self._known(page)
                known.add_look(change)
                if known.is_learning_due():
                    learning.add(page)
                elif change.mask and known.is_check_due():
                    checking.add(page)
        new = filter(self._learns, sorted(learning))
        better = filter(self._corrects, sorted(checking - learning))
        anew = frozenset((*new, *better))
        for page in anew:
            self._pages[page].reset()
        return anew

    def _known(self, page: int) -> NoiseTrigger:
        """Return what is remembered of a page; the first time, its looks are read back."""
        known = self._pages.get(page)
        if known is None:
            known = self._pages[page] = NoiseTrigger()
            for row in self._collection.catalog.history(page, limit=RECENT_LOOKS)[:-1]:
                if row.change is not None:
                    known.add_look(row.change)
        self._pages.move_to_end(page)
        while len(self._pages) > MAX_TRACKED_PAGES:
            self._pages.popitem(last=False)
        return known

    def with_current_changes(
        self, visits: VisitsWithChanges, pages: Set[int]
    ) -> list[RecordedVisit]:
        """Return visits with what they found under the masks that some pages have now."""
        found = {
            row.visit.uid: row.change
            for page in pages
            for row in self._collection.catalog.history(page, limit=MAX_HISTORY_ROWS)
        }
        return [RecordedVisit(visit, found.get(visit.uid, change)) for visit, change in visits]

    def _ends_instant_round(self, page: int) -> bool:
        """Whether the page's last look was the second one of an instant round."""
        with isolate_faults("looking for its instant round", f"page {page}"):
            rounds = page_bursts(self._collection.catalog, page)
            if not rounds or rounds[-1].kind is not BurstKind.INSTANT or len(rounds[-1].visits) < 2:
                return False
            last = self._collection.catalog.last_visits([page])
            return last[page].visit.id == rounds[-1].visits[-1]
        return False

    def _learns(self, page: int) -> bool:
        return self._adopts(page, learn_mask)

    def _corrects(self, page: int) -> bool:
        return self._adopts(page, correct_mask)

    def _adopts(self, page: int, teach: MaskLearner) -> bool:
        """Give a page the mask that its looks teach, if that is another one, and measure it so."""
        with isolate_faults("learning its noise", f"page {page}"):
            return self._adopts_whole(page, teach)
        return False

    def _adopts_whole(self, page: int, teach: MaskLearner) -> bool:
        found = self._collection.catalog.pages_by_id([page])[page]
        known = self._collection.page(found.url, source=found.source, removed=True)
        mask = learned_mask(self._collection, known, teach)
        if mask is None:
            return False
        with note_remeasuring(self._collection.catalog, [found.key]):
            if save_mask(self._collection, known, mask, after=mask.version - 1) is None:
                return False
            with isolate_faults("measuring it under its new mask", found.url):
                remeasure_pages(self._collection, [found], max_bytes=MAX_REMEASURED_BYTES)
        return True


def learn_and_keep_mask(collection: CollectionStore, page: StoredPage) -> Mask | None:
    """Give a page the mask that its last stored versions teach; None where its own serves."""
    mask = learned_mask(collection, page, learn_mask)
    return None if mask is None else save_mask(collection, page, mask, after=mask.version - 1)


def learned_mask(
    collection: CollectionStore, page: StoredPage, learner: MaskLearner
) -> Mask | None:
    """Return the mask that a page's last stored versions teach; None where its own serves.

    Versions whose sizes in the catalog are too large to learn from are not even read.
    """
    rounds = _rounds(collection, page)
    kept = _rows(collection, page, max(rounds, default=0))
    why = _too_large(kept)
    looks = [] if why else list(_looks(page, kept, rounds))
    if why := why or learning_refusal(looks):
        log.info("the noise of %s is not learnt: it has %s", page.url, why)
        return None
    return learner(looks, page_mask(collection, page))


def why_too_large_to_learn(collection: CollectionStore, page: StoredPage) -> str:
    """Say what of a page's last versions is too large for noise to be learnt; else nothing.

    Their lines are counted only where the sizes in the catalog do not tell, as it takes reading.
    """
    rounds = _rounds(collection, page)
    kept = _rows(collection, page, max(rounds, default=0))
    return _too_large(kept) or learning_refusal(list(_looks(page, kept, rounds, dom=False)))


def _too_large(rows: Sequence[HistoryRow]) -> str:
    """Say what the catalog's sizes of visits tell to be too large, without reading any."""
    facts = (row.view.facts for row in rows if row.view is not None)
    return next((why for each in facts if (why := facts_refusal(each))), "")


def _rounds(collection: CollectionStore, page: StoredPage) -> dict[int, PageBurst]:
    """Return the rounds of a page by the visits that followed another one in them."""
    found = page_bursts(collection.catalog, page.id)
    return {visit: each for each in found for visit in each.visits[1:]}


def _looks(
    page: StoredPage,
    kept: Sequence[HistoryRow],
    rounds: Mapping[int, PageBurst],
    *,
    dom: bool = True,
) -> Iterator[NoiseLook]:
    """Yield the looks whose bytes are kept, each with how it followed the one before.

    A look that was answered with "not modified" showed what the one before it did.
    """
    follows: list[LookSpacing] = ["apart", *(_since(*pair, rounds) for pair in pairwise(kept))]
    view: View | None = None
    for row, since in zip(kept, follows, strict=False):
        if row.visit.outcome is Outcome.OK:
            view = page.view_of_visit(row, dom=dom)
        if view is not None:
            yield NoiseLook(view, to_epoch(row.visit.time), since)


def _rows(collection: CollectionStore, page: StoredPage, latest: int) -> list[HistoryRow]:
    """Return a page's last looks, and those of its latest round: it tells what stands still."""
    rows = collection.catalog.history(page.id, limit=MAX_HISTORY_ROWS)
    if latest and all(row.visit.id != latest for row in rows):
        rows = collection.catalog.history(page.id)
    kept = [row for row in rows if row.visit.outcome in OUTCOMES_WITH_CONTENT]
    place = next((place for place, row in enumerate(kept) if row.visit.id == latest), None)
    if place is None or place > len(kept) - MAX_LOOKS:
        return kept[-MAX_LOOKS:]
    return [*kept[max(0, place - 1) : place + 1], *kept[2 - MAX_LOOKS :]]


def _since(before: HistoryRow, row: HistoryRow, rounds: Mapping[int, PageBurst]) -> LookSpacing:
    """Say how a look followed another: a delay of the host may have parted those of a round."""
    found, gap = rounds.get(row.visit.id or 0), row.visit.time - before.visit.time
    if found is None:
        return "apart"
    if found.kind is BurstKind.INSTANT and (not found.is_spaced or gap <= INSTANT_GAP):
        return "instant"
    return "fast" if gap <= BURST_GAP else "apart"
