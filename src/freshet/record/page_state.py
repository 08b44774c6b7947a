"""The state of a page after its visits so far, and the comparison of the next visit with it."""

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
    """The state of a page after some visits.

    ``masked_view`` and ``last_look_uid`` belong to the last look with content; ``is_gone`` is true
    if the page was missing when last asked for; failed visits do not count.
    """

    criteria: ChangeCriteria = DEFAULT_CRITERIA
    last_visit_time: datetime | None = None
    last_look_uid: bytes | None = None
    masked_view: MaskedView | None = None
    is_gone: bool = False

    @property
    def memory_bytes(self) -> int:
        """Return the approximate memory that the state takes."""
        if self.masked_view is None:
            return PAGE_BYTES
        view, visible_terms = self.masked_view.view, self.masked_view.terms
        tables = [view.terms]
        if visible_terms is not None and visible_terms is not view.terms:
            tables.append(visible_terms)
        term_bytes = sum(terms.hashes.nbytes + terms.counts.nbytes for terms in tables)
        return PAGE_BYTES + term_bytes + LINK_BYTES * len(view.links) + len(view.text)

    def without_text(self) -> "PageState":
        """Return the state without text and DOM rows, unless comparisons need them."""
        if self.masked_view is None or self.criteria.reads_text:
            return self
        return replace(self, masked_view=self.masked_view.without_content())


class KnownLinks:
    """Every link that pages ever had, including those of visits not yet written."""

    def __init__(self, read_links: Callable[[int], frozenset[str]]) -> None:
        self._read_links = read_links
        self._written: dict[int, frozenset[str]] = {}
        self._unwritten: dict[int, set[str]] = {}

    def add(self, page_id: int, links: LinkDelta | None) -> None:
        """Add the links of a visit that is about to be written."""
        if links is not None and links.added:
            self._unwritten.setdefault(page_id, set()).update(links.added)

    def count_new(self, page_id: int, urls: Sequence[str]) -> int:
        """Return how many of these links the page never had before."""
        if not urls:
            return 0
        if page_id not in self._written:
            self._written[page_id] = self._read_links(page_id)
        written, unwritten = self._written[page_id], self._unwritten.get(page_id, set())
        return sum(url not in written and url not in unwritten for url in urls)


def measure_change(
    before: PageState, outcome: Outcome, masked_view: MaskedView | None
) -> Change | None:
    """Compare a visit with the state before it; None if there is nothing to compare.

    A page that was gone and is back has changed, whatever it shows.
    """
    if outcome is Outcome.NOT_MODIFIED and before.last_look_uid is not None:
        return replace(NOTHING_CHANGED, changed=before.is_gone, mask=before.criteria.mask.version)
    if masked_view is None or before.masked_view is None:
        return None
    change = before.criteria.compare_masked(before.masked_view, masked_view)
    return replace(change, changed=change.changed or before.is_gone)


def measure_links(
    before: PageState, masked_view: MaskedView | None, change: Change | None
) -> LinkDelta | None:
    """Return the links that a visit added and removed; the first look adds all its links."""
    if masked_view is None:
        return None
    if before.masked_view is None:
        return LinkDelta(masked_view.view.links.urls)
    if change is None or not (change.new_links or change.removed_links):
        return None
    return LinkDelta(change.new_links, change.removed_links)


def is_gone_after(was_gone: bool, outcome: Outcome) -> bool:
    """Whether a page is gone after a visit; a failed visit changes nothing.

    >>> is_gone_after(True, Outcome.TIMEOUT), is_gone_after(True, Outcome.OK)
    (True, False)
    """
    return outcome is Outcome.GONE or (was_gone and not outcome.is_look)
