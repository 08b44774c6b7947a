"""One page of a collection: its history, its versions, and what differs between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from freshet.archive.catalog.base import Catalog
from freshet.archive.catalog.rows import HistoryRow, LinkDelta
from freshet.archive.snapshots import Snapshots
from freshet.core.clock import Clock
from freshet.core.errors import NotFound, UsageError
from freshet.core.settings import Settings
from freshet.core.types import Change, Outcome, Page, Snapshot, View
from freshet.flow.forecast import PageForecast, forecast
from freshet.flow.sight import decoded, see
from freshet.measure.change import compare
from freshet.measure.wording import Piece, difference, hunks

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

    def hunks(self, *, context: int) -> list[tuple[Piece, ...]]:
        """Return each change of the words with so many lines around it."""
        return hunks(self.words, context=context)


@dataclass(frozen=True, slots=True)
class Past:
    """What a page's past is read from."""

    catalog: Catalog
    snapshots: Snapshots
    settings: Settings
    clock: Clock


class CollectionPage(Page):
    """A page with its past; every verb takes it.

    What the past is read from is no part of its value: it compares and prints as a page does.
    """

    _past: Past

    def __init__(self, page: Page, past: Past) -> None:
        super().__init__(
            page.id, page.url, page.source, page.host, page.site, page.directory, page.added,
            page.paused, page.tags,
        )  # fmt: skip
        object.__setattr__(self, "_past", past)

    def history(self, *, limit: int | None = None) -> list[HistoryRow]:
        """Return the page's visits in time order, links named; ``limit`` keeps the latest."""
        rows = self._past.catalog.history(self.id, limit=limit)
        since = rows[0].visit.time if rows else None
        deltas = self._past.catalog.link_deltas(self.id, since=since)
        return [_with_links(row, deltas.get(row.visit.id or 0)) for row in rows]

    @cached_property
    def versions(self) -> Sequence[Version]:
        """Return the looks with content, oldest first."""
        rows = self._past.catalog.history(self.id)
        looks = [row for row in rows if row.visit.outcome is Outcome.OK]
        return [Version(number, row) for number, row in enumerate(looks, 1)]

    def version(self, which: Which) -> Version:
        """Return a version by number (1 is the first, -1 the last) or the one seen at a time."""
        if not self.versions:
            raise NotFound(f"{self.url} has no version yet; 'freshet history' lists its visits")
        if isinstance(which, datetime):
            return self._at(which)
        if isinstance(which, str):
            number = _number(which)
            return self._at(_moment(which)) if number is None else self.version(number)
        place = which - 1 if which > 0 else which + len(self.versions)
        if which == 0 or not 0 <= place < len(self.versions):
            raise NotFound(
                f"{self.url} has versions 1 to {len(self.versions)}, not {which};"
                " 'freshet history' lists them"
            )
        return self.versions[place]

    def snapshot(self, which: Which = -1) -> Snapshot:
        """Return the bytes of a version, content codings undone."""
        version = self.version(which)
        found = self._past.snapshots.of(version.row.visit, self.url)
        if found is None:
            raise NotFound(
                f"{self.url}: the bytes of version {version.number} are no longer kept;"
                f" {self._nearest_kept(version.number)}"
            )
        return decoded(found, self._past.settings.limits)

    def view(self, which: Which = -1, *, dom: bool = False) -> View:
        """Return a version as it is seen: text, terms, links, facts, and DOM rows if wanted."""
        view = see(self.snapshot(which), self._past.settings.limits, dom=dom).view
        if view is None:
            raise NotFound(
                f"{self.url}: version {which} cannot be read; choose another,"
                " 'freshet history' lists them"
            )
        return view

    def view_of(self, row: HistoryRow) -> View | None:
        """Return what a visit of the history showed; None where its bytes are not kept."""
        found = self._past.snapshots.of(row.visit, self.url)
        return see(found, self._past.settings.limits).view if found else None

    def forecast(self) -> PageForecast:
        """Return how likely the page is to have changed by when."""
        return forecast(self._past.catalog, self._past.settings, self, self._past.clock)

    def difference(self, old: Which | None = None, new: Which | None = None) -> Difference:
        """Compare two versions; without any, those around the last change."""
        first, second = self._pair(old, new)
        before, after = self.view(first.number), self.view(second.number)
        return Difference(
            first, second, compare(before, after), difference(before.text, after.text)
        )

    def _pair(self, old: Which | None, new: Which | None) -> tuple[Version, Version]:
        if len(self.versions) < 2 and old is None:
            raise NotFound(
                f"{self.url} has fewer than two versions, so nothing to compare;"
                " 'freshet history' lists what there is"
            )
        if old is not None:
            return self.version(old), self.version(-1 if new is None else new)
        changed = [v for v in self.versions[1:] if v.row.change and v.row.change.changed]
        later = changed[-1] if changed else self.versions[-1]
        return self.versions[later.number - 2], later

    def _nearest_kept(self, number: int) -> str:
        kept = [version.number for version in self.versions if version.row.visit.location]
        near = sorted(sorted(kept, key=lambda other: abs(other - number))[:2])
        if not near:
            return "none of its versions are"
        return f"the nearest that are: {' and '.join(map(str, near))}"

    def _at(self, moment: datetime) -> Version:
        earlier = [version for version in self.versions if version.time <= moment]
        if not earlier:
            first = self.versions[0].time
            raise NotFound(
                f"{self.url} was first seen at {first.isoformat()}, after that;"
                " give a later time, or the number of a version"
            )
        return earlier[-1]


def _with_links(row: HistoryRow, delta: LinkDelta | None) -> HistoryRow:
    """Return a row whose change names the links that came and went."""
    if row.change is None or delta is None:
        return row
    named = replace(row.change, new_links=delta.added, removed_links=delta.removed)
    return replace(row, change=named)


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
