"""The state in which visits leave a page, and how the next visit is measured against it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from freshet.archive.catalog.rows import LinkDelta
from freshet.core.types import Change, Outcome
from freshet.measure.change.compare import MaskedView
from freshet.record.change_criteria import DEFAULT_CRITERIA, ChangeCriteria

LINK_BYTES = 200
PAGE_BYTES = 2_000
NOTHING_CHANGED = Change(
    changed=False, bytes=False, text=False, significant=False, structure=False, links=False,
    dice=1.0, words=0, new_internal=0, new_external=0, never_seen=0,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageState:
    """How the visits so far left a page.

    ``masked_view`` and ``last_look_uid`` are those of the last look with content; ``is_gone`` says that the page was
    missing when last visited; ``last_visit_time`` is the time of the last visit.
    """

    criteria: ChangeCriteria = DEFAULT_CRITERIA
    last_visit_time: datetime | None = None
    last_look_uid: bytes | None = None
    masked_view: MaskedView | None = None
    is_gone: bool = False

    @property
    def memory_bytes(self) -> int:
        """Return about how many bytes this takes."""
        if self.masked_view is None:
            return PAGE_BYTES
        view, left = self.masked_view.view, self.masked_view.terms
        words = [view.terms] if left is None or left is view.terms else [view.terms, left]
        counted = sum(terms.hashes.nbytes + terms.counts.nbytes for terms in words)
        return PAGE_BYTES + counted + LINK_BYTES * len(view.links) + len(view.text)

    def without_text(self) -> "PageState":
        """Return the state with only what comparing needs: neither text nor DOM rows."""
        return (
            replace(self, masked_view=self.masked_view.without_content())
            if self.masked_view
            else self
        )


@dataclass(frozen=True, slots=True)
class VisitContent:
    """What one visit showed, under its page's mask; None where the content was not seen."""

    uid: bytes
    time: datetime
    outcome: Outcome
    masked_view: MaskedView | None


class KnownLinks:
    """Every link that pages ever had, also those of visits not yet written."""

    def __init__(self, written: Callable[[int], frozenset[str]]) -> None:
        self._load = written
        self._written: dict[int, frozenset[str]] = {}
        self._noted: dict[int, set[str]] = {}

    def add(self, page_id: int, links: LinkDelta | None) -> None:
        """Take in the links of a visit that is about to be written."""
        if links is not None and links.added:
            self._noted.setdefault(page_id, set()).update(links.added)

    def count_new(self, page_id: int, urls: Sequence[str]) -> int:
        """Return how many of these links the page never had before."""
        if not urls:
            return 0
        if page_id not in self._written:
            self._written[page_id] = self._load(page_id)
        written, noted = self._written[page_id], self._noted.get(page_id, set())
        return sum(url not in written and url not in noted for url in urls)


def measure_change(before: PageState, seen: VisitContent) -> Change | None:
    """Measure a visit against the state before it; None where there is nothing to compare.

    The return of a page that was gone is a change, whatever it shows.
    """
    if seen.outcome is Outcome.NOT_MODIFIED and before.last_look_uid is not None:
        return replace(NOTHING_CHANGED, changed=before.is_gone, mask=before.criteria.mask.version)
    if seen.masked_view is None or before.masked_view is None:
        return None
    change = before.criteria.compare_masked(before.masked_view, seen.masked_view)
    return replace(change, changed=change.changed or before.is_gone)


def measure_links(before: PageState, seen: VisitContent, change: Change | None) -> LinkDelta | None:
    """Return which links came and went; at the first look all came."""
    if seen.masked_view is None:
        return None
    if before.masked_view is None:
        return LinkDelta(seen.masked_view.view.links.urls)
    if change is None or not (change.new_links or change.removed_links):
        return None
    return LinkDelta(change.new_links, change.removed_links)


def is_gone_after(gone: bool, outcome: Outcome) -> bool:
    """Say whether a page is gone after a visit; failures tell nothing of it.

    >>> is_gone_after(True, Outcome.TIMEOUT), is_gone_after(True, Outcome.OK)
    (True, False)
    """
    return outcome is Outcome.GONE or (gone and not outcome.is_look)


def next_state(before: PageState, seen: VisitContent) -> PageState:
    """Return the state in which a visit leaves its page."""
    if seen.masked_view is not None:
        return PageState(before.criteria, seen.time, seen.uid, seen.masked_view)
    gone = is_gone_after(before.is_gone, seen.outcome)
    return PageState(before.criteria, seen.time, before.last_look_uid, before.masked_view, gone)
