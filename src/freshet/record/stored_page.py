"""A page with its stored visits and versions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from freshet.archive.catalog.rows import HistoryRow, LinkDelta
from freshet.core.errors import NotFoundError, StorageError, UsageError
from freshet.core.local_time import assume_local_zone, format_to_second, parse_local_time
from freshet.core.types import Outcome, Page, Snapshot, View
from freshet.record.files import CollectionFiles
from freshet.record.parsed_visit import decode_snapshot, parse_visit

VersionChoice = int | str | datetime


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A look with content: its number in the page's history, counted from 1."""

    number: int
    row: HistoryRow

    @property
    def time(self) -> datetime:
        """Return when it was seen."""
        return self.row.visit.time


class StoredPage(Page):
    """A page that can read its history, versions and views.

    The files it reads from are no part of its value: it compares and prints as a page does.
    """

    _files: CollectionFiles

    def __init__(self, page: Page, files: CollectionFiles) -> None:
        super().__init__(
            page.id, page.url, page.source, page.host, page.site, page.directory, page.added,
            page.paused, page.tags,
        )  # fmt: skip
        object.__setattr__(self, "_files", files)

    def history(self, *, limit: int | None = None, changed: bool = False) -> list[HistoryRow]:
        """Return the page's visits in time order, links named; ``limit`` keeps the latest.

        With ``changed`` only visits that found a change are returned.
        """
        rows = self._files.catalog.history(self.id, limit=None if changed else limit)
        if changed:
            rows = [row for row in rows if row.change is not None and row.change.changed]
            rows = rows[-limit:] if limit is not None else rows
        since = rows[0].visit.time if rows else None
        deltas = self._files.catalog.link_deltas(self.id, since=since)
        return [_with_links(row, deltas.get(row.visit.id or 0)) for row in rows]

    @cached_property
    def versions(self) -> Sequence[StoredVersion]:
        """Return the looks with content, oldest first."""
        rows = self._files.catalog.history(self.id)
        looks = [row for row in rows if row.visit.outcome is Outcome.OK]
        return [StoredVersion(number, row) for number, row in enumerate(looks, 1)]

    def version(self, which: VersionChoice) -> StoredVersion:
        """Return a version by number (1 is the first, -1 the last) or the one seen at a time.

        A time is a datetime or text (``2026-03-01T12:00``); without a zone it is of this machine's.
        """
        if not self.versions:
            raise NotFoundError(
                f"{self.url} has no version yet; 'freshet history' lists its visits"
            )
        if isinstance(which, datetime):
            return self._at(assume_local_zone(which))
        if isinstance(which, str):
            number = _number(which)
            return self._at(_moment(which)) if number is None else self.version(number)
        place = which - 1 if which > 0 else which + len(self.versions)
        if which == 0 or not 0 <= place < len(self.versions):
            raise NotFoundError(
                f"{self.url} has versions 1 to {len(self.versions)}, not {which};"
                " 'freshet history' lists them"
            )
        return self.versions[place]

    def snapshot(self, which: VersionChoice = -1) -> Snapshot:
        """Return the bytes of a version, content codings undone."""
        version = self.version(which)
        found = self._files.snapshots.read(version.row.visit, self.url)
        if found is None:
            raise NotFoundError(
                f"{self.url}: the bytes of version {version.number} are no longer kept;"
                f" {self._nearest_kept(version.number)}"
            )
        return decode_snapshot(found, self._files.settings.limits)

    def view(self, which: VersionChoice = -1, *, dom: bool = False) -> View:
        """Return a version as it is seen: text, terms, links, facts, and DOM rows if wanted."""
        view = parse_visit(self.snapshot(which), self._files.settings.limits, dom=dom).view
        if view is None:
            raise NotFoundError(
                f"{self.url}: version {which} cannot be read; choose another,"
                " 'freshet history' lists them"
            )
        return view

    def view_of_visit(self, row: HistoryRow, *, dom: bool = False) -> View | None:
        """Return what a visit of the history showed; None where its bytes cannot be read."""
        return read_visit_view(self._files, self, row, dom=dom)

    def _nearest_kept(self, number: int) -> str:
        kept = [version.number for version in self.versions if version.row.visit.location]
        near = sorted(sorted(kept, key=lambda other: abs(other - number))[:2])
        if not near:
            return "none of its versions are"
        return f"the nearest that are: {' and '.join(map(str, near))}"

    def _at(self, moment: datetime) -> StoredVersion:
        earlier = [version for version in self.versions if version.time <= moment]
        if not earlier:
            first = self.versions[0].time
            raise NotFoundError(
                f"{self.url} was first seen at {format_to_second(first)}, after that;"
                " give a later time, or the number of a version"
            )
        return earlier[-1]


def read_visit_view(
    files: CollectionFiles, page: Page, row: HistoryRow, *, dom: bool = False
) -> View | None:
    """Return what a visit showed; None where its bytes are not kept or cannot be read."""
    try:
        found = files.snapshots.read(row.visit, page.url)
    except (StorageError, UsageError):
        return None
    return parse_visit(found, files.settings.limits, dom=dom).view if found else None


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
    """Read a date or time that names a version."""
    try:
        return parse_local_time(text)
    except ValueError:
        raise UsageError(
            f"{text!r} names no version; give a number (1, -1) or a time (2026-03-01T12:00)"
        ) from None
