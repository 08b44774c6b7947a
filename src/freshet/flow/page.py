"""One page of a collection: its history, its versions, and what differs between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from freshet.archive.catalog.base import Catalog
from freshet.archive.catalog.rows import HistoryRow
from freshet.archive.history import History
from freshet.core.errors import NotFound, UsageError
from freshet.core.settings import Settings
from freshet.core.types import Change, Outcome, Page, Snapshot, View
from freshet.flow.sight import decoded, see
from freshet.measure.change import compare
from freshet.measure.wording import Piece, difference

Which = int | str | datetime


@dataclass(frozen=True, slots=True)
class Version:
    """A look with content: its number in the page's history, counted from 1."""

    number: int
    row: HistoryRow

    @property
    def time(self) -> datetime:
        """Return when it was seen."""
        return self.row.visit.time


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions of a page, compared: the change, and the words that went and came."""

    old: Version
    new: Version
    change: Change
    words: list[Piece]


class CollectionPage:
    """A page with its past."""

    def __init__(self, page: Page, catalog: Catalog, history: History, settings: Settings) -> None:
        self.page = page
        self._catalog = catalog
        self._history = history
        self._settings = settings

    def history(self, *, limit: int | None = None) -> list[HistoryRow]:
        """Return the page's visits in time order; ``limit`` keeps the latest."""
        return self._catalog.history(self.page.id, limit=limit)

    @cached_property
    def versions(self) -> Sequence[Version]:
        """Return the looks with content, oldest first."""
        looks = [row for row in self.history() if row.visit.outcome is Outcome.OK]
        return [Version(number, row) for number, row in enumerate(looks, 1)]

    def version(self, which: Which) -> Version:
        """Return a version by number (1 is the first, -1 the last) or the one seen at a time."""
        if not self.versions:
            raise NotFound(f"{self.page.url} has no version yet")
        if isinstance(which, datetime):
            return self._at(which)
        if isinstance(which, str):
            number = _number(which)
            return self._at(_moment(which)) if number is None else self.version(number)
        place = which - 1 if which > 0 else which + len(self.versions)
        if which == 0 or not 0 <= place < len(self.versions):
            raise NotFound(
                f"{self.page.url} has versions 1 to {len(self.versions)}, not {which};"
                " 'freshet history' lists them"
            )
        return self.versions[place]

    def snapshot(self, which: Which = -1) -> Snapshot:
        """Return the bytes of a version, content codings undone."""
        version = self.version(which)
        found = self._history.snapshot(version.row.visit, self.page.url)
        if found is None:
            raise NotFound(
                f"{self.page.url}: the bytes of version {version.number} are no longer kept;"
                " 'freshet history' shows which are"
            )
        return decoded(found, self._settings.limits)

    def view(self, which: Which = -1, *, dom: bool = False) -> View:
        """Return a version as it is seen: text, terms, links, facts, and DOM rows if wanted."""
        view = see(self.snapshot(which), self._settings.limits, dom=dom).view
        if view is None:
            raise NotFound(f"{self.page.url}: version {which} cannot be read")
        return view

    def view_of(self, row: HistoryRow) -> View | None:
        """Return what a visit of the history showed; None where its bytes are not kept."""
        found = self._history.snapshot(row.visit, self.page.url)
        return see(found, self._settings.limits).view if found else None

    def difference(self, old: Which | None = None, new: Which | None = None) -> Difference:
        """Compare two versions; without any, those around the last change."""
        first, second = self._pair(old, new)
        before, after = self.view(first.number), self.view(second.number)
        return Difference(
            first, second, compare(before, after), difference(before.text, after.text)
        )

    def _pair(self, old: Which | None, new: Which | None) -> tuple[Version, Version]:
        if len(self.versions) < 2 and old is None:
            raise NotFound(f"{self.page.url} has fewer than two versions, so nothing to compare")
        if old is not None:
            return self.version(old), self.version(-1 if new is None else new)
        changed = [v for v in self.versions[1:] if v.row.change and v.row.change.changed]
        later = changed[-1] if changed else self.versions[-1]
        return self.versions[later.number - 2], later

    def _at(self, moment: datetime) -> Version:
        earlier = [version for version in self.versions if version.time <= moment]
        if not earlier:
            first = self.versions[0].time
            raise NotFound(f"{self.page.url} was first seen at {first.isoformat()}, after that")
        return earlier[-1]


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _moment(text: str) -> datetime:
    """Read a date (its end is meant) or a time.

    >>> _moment("2026-03-01").isoformat()
    '2026-03-01T23:59:59.999999+00:00'
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{text!r} names no version; give a number (1, -1) or a time (2026-03-01T12:00)"
        ) from None
    if len(text) == len("2026-03-01"):
        moment += timedelta(days=1, microseconds=-1)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
