"""Masks learnt: which pages seem to change at every visit, and what of them is noise.

A page is looked into when most of its last looks found other text, at first soon and then ever
less often, and after every instant round. What is learnt holds at once: its visits so far are
measured again under the new mask.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.clock import to_epoch
from freshet.core.rounds import RoundKind
from freshet.core.types import Change, Outcome, Visit
from freshet.flow.collection import Collection
from freshet.flow.late import noted
from freshet.flow.masks import keep, mask_of_page
from freshet.flow.measure import measure_again
from freshet.flow.page import CollectionPage
from freshet.flow.rounds import rounds_of
from freshet.measure.mask import Mask
from freshet.measure.noise.learn import learn
from freshet.measure.noise.looks import MOST_LOOKS, Look, Since

Visits = Sequence[tuple[Visit, Change | None]]

RECENT, BUSY = 6, 4
LONGEST_PAUSE = 16
REMEMBERED = 100_000
AT_ONCE, IN_A_ROUND = timedelta(minutes=1), timedelta(minutes=40)
# Failures between looks are read over, but not without end.
READ_BACK = 4 * MOST_LOOKS


@dataclass(slots=True)
class Restlessness:
    """How restless a page is: its last looks as bits, 1 where its text had changed.

    ``next_try`` is the number of changes at which its noise is next looked into.
    """

    recent: int = 0
    changes: int = 0
    next_try: int = BUSY

    def note(self, change: Change) -> None:
        """Take in one more look."""
        self.recent = (self.recent << 1 | bool(change.text)) & ((1 << RECENT) - 1)
        self.changes += bool(change.text)

    def is_due(self) -> bool:
        """Whether it is time to look for noise; if so, the next time comes later."""
        if self.recent.bit_count() < BUSY or self.changes < self.next_try:
            return False
        self.next_try = self.changes + min(max(2, self.changes // 2), LONGEST_PAUSE)
        return True


class NoiseWatch:
    """Watches the visits of a crawl, and learns the masks of pages that never rest."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._pages: OrderedDict[int, Restlessness] = OrderedDict()

    def after(self, visits: Visits, sampled: Set[int] = frozenset()) -> frozenset[int]:
        """Take in visits just recorded; return the pages that are measured by a new mask since.

        ``sampled`` are those of the pages that were visited for a round.
        """
        changes = [(visit.page, change) for visit, change in visits if change and change.text]
        due = {page for page, change in changes if self._is_due(page, change)}
        due |= {page for page, _ in changes if page in sampled and self._ends_instant_round(page)}
        return frozenset(filter(self._has_learnt, sorted(due)))

    def told_anew(self, visits: Visits, pages: Set[int]) -> list[tuple[Visit, Change | None]]:
        """Return visits with what they found under the masks that some pages have now."""
        found = {
            row.visit.uid: row.change
            for page in pages
            for row in self._collection.catalog.history(page, limit=READ_BACK)
        }
        return [(visit, found.get(visit.uid, change)) for visit, change in visits]

    def _is_due(self, page: int, change: Change) -> bool:
        """Note a look; the first time, those before it are read back."""
        known = self._pages.get(page)
        if known is None:
            known = self._pages[page] = Restlessness()
            rows = self._collection.catalog.history(page, limit=RECENT)
            for row in rows[:-1]:
                if row.change is not None:
                    known.note(row.change)
        self._pages.move_to_end(page)
        while len(self._pages) > REMEMBERED:
            self._pages.popitem(last=False)
        known.note(change)
        return known.is_due()

    def _ends_instant_round(self, page: int) -> bool:
        """Whether the page's last look was the second one of an instant round."""
        rounds = rounds_of(self._collection.catalog, page)
        if not rounds or rounds[-1].kind is not RoundKind.INSTANT or len(rounds[-1].visits) < 2:
            return False
        last = self._collection.catalog.last_visits([page])
        return last[page].visit.id == rounds[-1].visits[-1]

    def _has_learnt(self, page: int) -> bool:
        found = self._collection.catalog.pages_by_id([page])[page]
        known = self._collection.page(found.url, source=found.source, removed=True)
        mask = learnt_mask(self._collection, known)
        if mask is None:
            return False
        with noted(self._collection.catalog, [found.key]):
            keep(self._collection, known, mask)
            measure_again(self._collection, [found])
        return True


def keep_learnt(collection: Collection, page: CollectionPage) -> Mask | None:
    """Give a page the mask that its last stored versions teach; None where its own serves."""
    mask = learnt_mask(collection, page)
    return None if mask is None else keep(collection, page, mask)


def learnt_mask(collection: Collection, page: CollectionPage) -> Mask | None:
    """Return the mask that a page's last stored versions teach; None where its own serves."""
    return learn(list(_looks(collection, page)), mask_of_page(collection, page))


def _looks(collection: Collection, page: CollectionPage) -> Iterable[Look]:
    """Yield the last looks whose bytes are kept, each with how it followed the one before."""
    rows = collection.catalog.history(page.id, limit=READ_BACK)
    kept = [row for row in rows if row.visit.outcome is Outcome.OK and row.visit.location]
    kept = kept[-MOST_LOOKS:]
    kinds = {
        visit: found.kind
        for found in rounds_of(collection.catalog, page.id)
        for visit in found.visits[1:]
    }
    follows: list[Since] = ["apart", *(_since(*pair, kinds) for pair in pairwise(kept))]
    for row, since in zip(kept, follows, strict=False):
        view = page.view_of(row, dom=True)
        if view is not None:
            yield Look(view, to_epoch(row.visit.time), since)


def _since(before: HistoryRow, row: HistoryRow, kinds: dict[int, RoundKind]) -> Since:
    """Say how a look followed another: a delay of the host may have parted those of a round."""
    kind, gap = kinds.get(row.visit.id or 0), row.visit.time - before.visit.time
    if kind is RoundKind.INSTANT and gap <= AT_ONCE:
        return "instant"
    return "fast" if kind is not None and gap <= IN_A_ROUND else "apart"
