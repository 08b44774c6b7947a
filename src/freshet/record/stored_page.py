"""A page with its stored visits and versions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from freshet.archive.catalog.rows import HistoryRow, LinkDelta
from freshet.core.errors import NotFoundError, StorageError, UsageError
from freshet.core.local_time import assume_local_zone, format_to_second, parse_local_time
from freshet.core.types import Outcome, Page, Snapshot, View
from freshet.record.collection_reader import CollectionReader
from freshet.record.parsed_visit import decode_snapshot, parse_visit

VersionChoice = int | str | datetime


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version of a page: a look with content, numbered from 1 in the page's history."""

    number: int
    row: HistoryRow

    @property
    def time(self) -> datetime:
        """Return the time of the look."""
        return self.row.visit.time


class StoredPage(Page):
    """A page that can read its history, versions and views.

    Two stored pages are equal if the pages are; the reader that they were read with does not count.
    """

    _reader: CollectionReader

    def __init__(self, page: Page, reader: CollectionReader) -> None:
        super().__init__(
            page.id, page.url, page.source, page.host, page.site, page.directory, page.added,
            page.paused, page.tags,
        )  # fmt: skip
        object.__setattr__(self, "_reader", reader)

    def history(self, *, limit: int | None = None, changed: bool = False) -> list[HistoryRow]:
        """Return the page's visits in time order, with the links that each added and removed.

        ``limit`` keeps the latest visits, ``changed`` those that found a change.
        """
        rows = self._reader.catalog.history(self.id, limit=None if changed else limit)
        if changed:
            rows = [row for row in rows if row.change is not None and row.change.changed]
            rows = rows[-limit:] if limit is not None else rows
        since = rows[0].visit.time if rows else None
        deltas = self._reader.catalog.link_deltas(self.id, since=since)
        return [_with_links(row, deltas.get(row.visit.id or 0)) for row in rows]

    @cached_property
    def versions(self) -> Sequence[StoredVersion]:
        """Return the versions of the page, oldest first."""
        rows = self._reader.catalog.history(self.id)
        looks = [row for row in rows if row.visit.outcome is Outcome.OK]
        return [StoredVersion(number, row) for number, row in enumerate(looks, 1)]

    def version(self, choice: VersionChoice) -> StoredVersion:
        """Return a version by number (1 is the first, -1 the last) or the one seen at a time.

        A time is a datetime or text (``2026-03-01T12:00``), by default in the local time zone.
        """
        if not self.versions:
            raise NotFoundError(
                f"{self.url} has no version yet; 'freshet history' lists its visits"
            )
        if isinstance(choice, datetime):
            return self._version_at(assume_local_zone(choice))
        if isinstance(choice, str):
            return self.version(_parse_choice(choice))
        index = choice - 1 if choice > 0 else choice + len(self.versions)
        if choice == 0 or not 0 <= index < len(self.versions):
            raise NotFoundError(
                f"{self.url} has versions 1 to {len(self.versions)}, not {choice};"
                " 'freshet history' lists them"
            )
        return self.versions[index]

    def snapshot(self, choice: VersionChoice = -1) -> Snapshot:
        """Return the bytes of a version, with content codings undone."""
        version = self.version(choice)
        snapshot = self._reader.snapshots.read(version.row.visit, self.url)
        if snapshot is None:
            raise NotFoundError(
                f"{self.url}: the bytes of version {version.number} are no longer kept;"
                f" {self._nearest_stored(version.number)}"
            )
        return decode_snapshot(snapshot, self._reader.settings.limits)

    def view(self, choice: VersionChoice = -1, *, dom: bool = False) -> View:
        """Return the view of a version; ``dom`` adds its DOM rows."""
        view = parse_visit(self.snapshot(choice), self._reader.settings.limits, dom=dom).view
        if view is None:
            raise NotFoundError(
                f"{self.url}: version {choice} cannot be read; choose another,"
                " 'freshet history' lists them"
            )
        return view

    def view_of_visit(self, row: HistoryRow, *, dom: bool = False) -> View | None:
        """Return the view of a visit; None where its bytes are lost or cannot be read."""
        return read_visit_view(self._reader, self, row, dom=dom)

    def _nearest_stored(self, number: int) -> str:
        """Name the two versions nearest to a number whose bytes are stored."""
        stored = [version.number for version in self.versions if version.row.visit.location]
        nearest = sorted(stored, key=lambda candidate: abs(candidate - number))[:2]
        if not nearest:
            return "none of its versions are"
        return f"the nearest that are: {' and '.join(map(str, sorted(nearest)))}"

    def _version_at(self, time: datetime) -> StoredVersion:
        earlier = [version for version in self.versions if version.time <= time]
        if not earlier:
            first = self.versions[0].time
            raise NotFoundError(
                f"{self.url} was first seen at {format_to_second(first)}, after that;"
                " give a later time, or the number of a version"
            )
        return earlier[-1]


def read_visit_view(
    reader: CollectionReader, page: Page, row: HistoryRow, *, dom: bool = False
) -> View | None:
    """Return the view of a visit to a page; None where its bytes are lost or cannot be read."""
    try:
        snapshot = reader.snapshots.read(row.visit, page.url)
    except (StorageError, UsageError):
        return None
    return parse_visit(snapshot, reader.settings.limits, dom=dom).view if snapshot else None


def _with_links(row: HistoryRow, delta: LinkDelta | None) -> HistoryRow:
    """Return a row with the links that its visit added and removed."""
    if row.change is None or delta is None:
        return row
    change = replace(row.change, new_links=delta.added, removed_links=delta.removed)
    return replace(row, change=change)


def _parse_choice(text: str) -> int | datetime:
    """Return the number or the time that a text gives for a version."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return parse_local_time(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a version; give a number (1, -1) or a time (2026-03-01T12:00)"
        ) from None
