"""The state in which visits leave a page, and how the next visit is measured against it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from freshet.archive.catalog.rows import LinkDelta
from freshet.core.types import Change, Outcome
from freshet.measure.change.compare import Masked
from freshet.record.change_criteria import PLAIN, Gauge

BYTES_PER_LINK = 200
BYTES_PER_PAGE = 2_000
NOTHING_CHANGED = Change(
    changed=False, bytes=False, text=False, significant=False, structure=False, links=False,
    dice=1.0, words=0, new_internal=0, new_external=0, never_seen=0,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageState:
    """How the visits so far left a page.

    ``content`` and ``uid`` are those of the last look with content; ``gone`` says that the page was
    missing when last visited; ``latest`` is the time of the last visit.
    """

    gauge: Gauge = PLAIN
    latest: datetime | None = None
    uid: bytes | None = None
    content: Masked | None = None
    gone: bool = False

    @property
    def weight(self) -> int:
        """Return about how many bytes this takes."""
        if self.content is None:
            return BYTES_PER_PAGE
        view, left = self.content.view, self.content.terms
        words = [view.terms] if left is None or left is view.terms else [view.terms, left]
        counted = sum(terms.ids.nbytes + terms.counts.nbytes for terms in words)
        return BYTES_PER_PAGE + counted + BYTES_PER_LINK * len(view.links) + len(view.text)

    def light(self) -> "PageState":
        """Return the state with only what comparing needs: neither text nor DOM rows."""
        return replace(self, content=self.content.light()) if self.content else self


@dataclass(frozen=True, slots=True)
class Seen:
    """What one visit showed, under its page's mask; None where the content was not seen."""

    uid: bytes
    time: datetime
    outcome: Outcome
    content: Masked | None


class SeenLinks:
    """Every link that pages ever had, also those of visits not yet written."""

    def __init__(self, written: Callable[[int], frozenset[str]]) -> None:
        self._load = written
        self._written: dict[int, frozenset[str]] = {}
        self._noted: dict[int, set[str]] = {}

    def note(self, page_id: int, links: LinkDelta | None) -> None:
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


def change_since(before: PageState, seen: Seen) -> Change | None:
    """Measure a visit against the state before it; None where there is nothing to compare.

    The return of a page that was gone is a change, whatever it shows.
    """
    if seen.outcome is Outcome.NOT_MODIFIED and before.uid is not None:
        return replace(NOTHING_CHANGED, changed=before.gone, mask=before.gauge.mask.version)
    if seen.content is None or before.content is None:
        return None
    change = before.gauge.compare_masked(before.content, seen.content)
    return replace(change, changed=change.changed or before.gone)


def links_since(before: PageState, seen: Seen, change: Change | None) -> LinkDelta | None:
    """Return which links came and went; at the first look all came."""
    if seen.content is None:
        return None
    if before.content is None:
        return LinkDelta(seen.content.view.links.urls)
    if change is None or not (change.new_links or change.removed_links):
        return None
    return LinkDelta(change.new_links, change.removed_links)


def gone_after(gone: bool, outcome: Outcome) -> bool:
    """Say whether a page is gone after a visit; failures tell nothing of it.

    >>> gone_after(True, Outcome.TIMEOUT), gone_after(True, Outcome.OK)
    (True, False)
    """
    return outcome is Outcome.GONE or (gone and not outcome.is_look)


def state_after(before: PageState, seen: Seen) -> PageState:
    """Return the state in which a visit leaves its page."""
    if seen.content is not None:
        return PageState(before.gauge, seen.time, seen.uid, seen.content)
    gone = gone_after(before.gone, seen.outcome)
    return PageState(before.gauge, seen.time, before.uid, before.content, gone)
