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
from freshet.core.bursts import RoundKind
from freshet.core.clock import to_epoch
from freshet.core.types import Change, Outcome, View, Visit
from freshet.measure.noise.learning_limits import too_large
from freshet.measure.noise.mask import Mask
from freshet.measure.noise.mask_learning import corrected, learn, refusal
from freshet.measure.noise.observed_looks import MOST_LOOKS, Look, Since
from freshet.record.change_criteria import keep_mask, mask_of_page
from freshet.record.fault_isolation import isolated
from freshet.record.page_bursts import PageRound, rounds_of
from freshet.record.remeasure_pages import measure_again
from freshet.record.remeasurement import noted
from freshet.record.store import CollectionStore
from freshet.record.stored_page import StoredPage

log = logging.getLogger(__name__)

Visits = Sequence[tuple[Visit, Change | None]]
Teacher = Callable[[Sequence[Look], Mask], Mask | None]

RECENT, BUSY = 6, 4
# After so many looks at the same text it has stayed, be it one of a rotating choice or not.
RESTS = (4, 9)
ALL_RECENT = (1 << RECENT) - 1
# A text that stays is noticed after five looks: no stretch of looks may escape all checks.
LONGEST_PAUSE, CHECK_EVERY = 16, 6
SHOWING = frozenset({Outcome.OK, Outcome.NOT_MODIFIED})
REMEMBERED = 100_000
AT_ONCE, IN_A_ROUND = timedelta(minutes=1), timedelta(minutes=40)
# Failures between looks are read over, but not without end.
READ_BACK = 4 * MOST_LOOKS
# How much of a page's history is measured again at once when a mask is learnt, latest visits first.
MEASURED_AGAIN_BYTES = 32_000_000


@dataclass(slots=True)
class Restlessness:
    """How restless a page is: its last looks as bits, 1 where it had changed.

    ``next_try`` is the number of changes at which its noise is next looked into. Of its text, what
    is masked and all, ``still`` counts the last looks that found it the same, and ``next_check`` is
    the number of other texts at which its mask is next held against what it hides.
    """

    recent: int = 0
    changes: int = 0
    next_try: int = BUSY
    still: int = 0
    texts: int = 0
    next_check: int = 0

    def note(self, change: Change) -> None:
        """Take in one more look."""
        self.recent = (self.recent << 1 | change.changed) & ALL_RECENT
        self.changes += change.changed
        self.still = 0 if change.text else self.still + 1
        self.texts += bool(change.text)

    def is_due(self) -> bool:
        """Whether it is time to look for noise; if so, the next time comes later."""
        if not self.recent & 1 or self.recent.bit_count() < BUSY or self.changes < self.next_try:
            return False
        self.next_try = self.changes + min(max(2, self.changes // 2), LONGEST_PAUSE)
        return True

    def is_to_be_checked(self) -> bool:
        """Whether what a mask hides may have come to stay: now and then, and where all rests."""
        if self.still not in RESTS and (self.still or self.texts < self.next_check):
            return False
        self.next_check = self.texts + CHECK_EVERY
        return True

    def begin_anew(self) -> None:
        """Count from here on: the page has a new mask."""
        self.recent, self.changes, self.next_try = 0, 0, BUSY


class NoiseWatch:
    """Watches the visits of a crawl, and learns the masks of pages that never rest."""

    def __init__(self, collection: CollectionStore) -> None:
        self._collection = collection
        self._pages: OrderedDict[int, Restlessness] = OrderedDict()

    def after(self, visits: Visits, sampled: Set[int] = frozenset()) -> frozenset[int]:
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
            with isolated("watching its noise", f"page {page}"):
                known = self._known(page)
                known.note(change)
                if known.is_due():
                    learning.add(page)
                elif change.mask and known.is_to_be_checked():
                    checking.add(page)
        new = filter(self._learns, sorted(learning))
        better = filter(self._corrects, sorted(checking - learning))
        anew = frozenset((*new, *better))
        for page in anew:
            self._pages[page].begin_anew()
        return anew

    def _known(self, page: int) -> Restlessness:
        """Return what is remembered of a page; the first time, its looks are read back."""
        known = self._pages.get(page)
        if known is None:
            known = self._pages[page] = Restlessness()
            for row in self._collection.catalog.history(page, limit=RECENT)[:-1]:
                if row.change is not None:
                    known.note(row.change)
        self._pages.move_to_end(page)
        while len(self._pages) > REMEMBERED:
            self._pages.popitem(last=False)
        return known

    def told_anew(self, visits: Visits, pages: Set[int]) -> list[tuple[Visit, Change | None]]:
        """Return visits with what they found under the masks that some pages have now."""
        found = {
            row.visit.uid: row.change
            for page in pages
            for row in self._collection.catalog.history(page, limit=READ_BACK)
        }
        return [(visit, found.get(visit.uid, change)) for visit, change in visits]

    def _ends_instant_round(self, page: int) -> bool:
        """Whether the page's last look was the second one of an instant round."""
        with isolated("looking for its instant round", f"page {page}"):
            rounds = rounds_of(self._collection.catalog, page)
            if not rounds or rounds[-1].kind is not RoundKind.INSTANT or len(rounds[-1].visits) < 2:
                return False
            last = self._collection.catalog.last_visits([page])
            return last[page].visit.id == rounds[-1].visits[-1]
        return False

    def _learns(self, page: int) -> bool:
        return self._adopts(page, learn)

    def _corrects(self, page: int) -> bool:
        return self._adopts(page, corrected)

    def _adopts(self, page: int, teach: Teacher) -> bool:
        """Give a page the mask that its looks teach, if that is another one, and measure it so."""
        with isolated("learning its noise", f"page {page}"):
            return self._adopts_whole(page, teach)
        return False

    def _adopts_whole(self, page: int, teach: Teacher) -> bool:
        found = self._collection.catalog.pages_by_id([page])[page]
        known = self._collection.page(found.url, source=found.source, removed=True)
        mask = taught(self._collection, known, teach)
        if mask is None:
            return False
        with noted(self._collection.catalog, [found.key]):
            if keep_mask(self._collection, known, mask, after=mask.version - 1) is None:
                return False
            with isolated("measuring it under its new mask", found.url):
                measure_again(self._collection, [found], most_bytes=MEASURED_AGAIN_BYTES)
        return True


def keep_learnt(collection: CollectionStore, page: StoredPage) -> Mask | None:
    """Give a page the mask that its last stored versions teach; None where its own serves."""
    mask = taught(collection, page, learn)
    return None if mask is None else keep_mask(collection, page, mask, after=mask.version - 1)


def taught(collection: CollectionStore, page: StoredPage, teach: Teacher) -> Mask | None:
    """Return the mask that a page's last stored versions teach; None where its own serves.

    Versions whose sizes in the catalog are too large to learn from are not even read.
    """
    rounds = _rounds(collection, page)
    kept = _rows(collection, page, max(rounds, default=0))
    why = _too_large(kept)
    looks = [] if why else list(_looks(page, kept, rounds))
    if why := why or refusal(looks):
        log.info("the noise of %s is not learnt: it has %s", page.url, why)
        return None
    return teach(looks, mask_of_page(collection, page))


def why_not_learnt(collection: CollectionStore, page: StoredPage) -> str:
    """Say what of a page's last versions is too large for noise to be learnt; else nothing.

    Their lines are counted only where the sizes in the catalog do not tell, as it takes reading.
    """
    rounds = _rounds(collection, page)
    kept = _rows(collection, page, max(rounds, default=0))
    return _too_large(kept) or refusal(list(_looks(page, kept, rounds, dom=False)))


def _too_large(rows: Sequence[HistoryRow]) -> str:
    """Say what the catalog's sizes of visits tell to be too large, without reading any."""
    facts = (row.view.facts for row in rows if row.view is not None)
    return next((why for each in facts if (why := too_large(each))), "")


def _rounds(collection: CollectionStore, page: StoredPage) -> dict[int, PageRound]:
    """Return the rounds of a page by the visits that followed another one in them."""
    found = rounds_of(collection.catalog, page.id)
    return {visit: each for each in found for visit in each.visits[1:]}


def _looks(
    page: StoredPage,
    kept: Sequence[HistoryRow],
    rounds: Mapping[int, PageRound],
    *,
    dom: bool = True,
) -> Iterator[Look]:
    """Yield the looks whose bytes are kept, each with how it followed the one before.

    A look that was answered with "not modified" showed what the one before it did.
    """
    follows: list[Since] = ["apart", *(_since(*pair, rounds) for pair in pairwise(kept))]
    view: View | None = None
    for row, since in zip(kept, follows, strict=False):
        if row.visit.outcome is Outcome.OK:
            view = page.view_of(row, dom=dom)
        if view is not None:
            yield Look(view, to_epoch(row.visit.time), since)


def _rows(collection: CollectionStore, page: StoredPage, latest: int) -> list[HistoryRow]:
    """Return a page's last looks, and those of its latest round: it tells what stands still."""
    rows = collection.catalog.history(page.id, limit=READ_BACK)
    if latest and all(row.visit.id != latest for row in rows):
        rows = collection.catalog.history(page.id)
    kept = [row for row in rows if row.visit.outcome in SHOWING]
    place = next((place for place, row in enumerate(kept) if row.visit.id == latest), None)
    if place is None or place > len(kept) - MOST_LOOKS:
        return kept[-MOST_LOOKS:]
    return [*kept[max(0, place - 1) : place + 1], *kept[2 - MOST_LOOKS :]]


def _since(before: HistoryRow, row: HistoryRow, rounds: Mapping[int, PageRound]) -> Since:
    """Say how a look followed another: a delay of the host may have parted those of a round."""
    found, gap = rounds.get(row.visit.id or 0), row.visit.time - before.visit.time
    if found is None:
        return "apart"
    if found.kind is RoundKind.INSTANT and (not found.apart or gap <= AT_ONCE):
        return "instant"
    return "fast" if gap <= IN_A_ROUND else "apart"
