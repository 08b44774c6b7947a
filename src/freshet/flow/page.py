"""One page of a collection: its history, its versions, and what differs between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from freshet.archive.catalog.rows import HistoryRow, LinkDelta
from freshet.core.errors import NotFound, UsageError
from freshet.core.local_time import in_a_zone, moment_named, to_second
from freshet.core.series import Series
from freshet.core.types import Change, Outcome, Page, Snapshot, View
from freshet.flow.forecast import PageForecast, forecast
from freshet.flow.gauge import Gauge, gauges
from freshet.flow.past import Past, blocks_of
from freshet.flow.sight import decoded, see
from freshet.flow.traits import curve_of
from freshet.measure.curve.curve import Curve
from freshet.measure.mask import hidden, without
from freshet.measure.news import LIMIT, snippet
from freshet.measure.pattern import HOLE
from freshet.measure.structure.blocks import Block
from freshet.measure.terms.table import TermTable, term_table
from freshet.measure.wording import Piece, difference, hunks

Which = int | str | datetime

REMEMBERED = 5


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
    """Two versions of a page, compared: the change, and the words that went and came.

    The words are all that differ; ``change`` says whether that counts, by the page's ``counts_as``
    and under its mask.
    """

    old: Version
    new: Version
    change: Change
    words: list[Piece]
    counts_as: str

    def hunks(self, *, context: int) -> list[tuple[Piece, ...]]:
        """Return each change of the words with so many lines around it."""
        return hunks(self.words, context=context)


@dataclass(frozen=True, slots=True)
class News:
    """What is new in a version since another one, as short as a search result; empty if nothing."""

    old: Version
    new: Version
    change: Change
    text: str


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

    def history(self, *, limit: int | None = None, changed: bool = False) -> list[HistoryRow]:
        """Return the page's visits in time order, links named; ``limit`` keeps the latest.

        With ``changed`` only visits that found a change are returned.
        """
        rows = self._past.catalog.history(self.id, limit=None if changed else limit)
        if changed:
            rows = [row for row in rows if row.change is not None and row.change.changed]
            rows = rows[-limit:] if limit is not None else rows
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
        """Return a version by number (1 is the first, -1 the last) or the one seen at a time.

        A time is a datetime or text (``2026-03-01T12:00``); without a zone it is of this machine's.
        """
        if not self.versions:
            raise NotFound(f"{self.url} has no version yet; 'freshet history' lists its visits")
        if isinstance(which, datetime):
            return self._at(in_a_zone(which))
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

    def view_of(self, row: HistoryRow, *, dom: bool = False) -> View | None:
        """Return what a visit of the history showed; None where its bytes cannot be read."""
        return self._past.view(self, row, dom=dom)

    def forecast(self) -> PageForecast:
        """Return how likely the page is to have changed by when."""
        return forecast(self._past.catalog, self._past.settings, self, self._past.clock)

    def series(self) -> Series:
        """Return the page's looks in time order, with the words of each version they showed."""
        return self._past.history(self, dom=False).series

    def curve(self) -> Curve:
        """Return how alike the page stays to what it was, with its knot where it has one."""
        return curve_of(self.series(), self.url)

    def terms(self) -> TermTable:
        """Return when each word was there, how well it stays, and how telling it is here."""
        return term_table(self.series(), self._past.language(self))

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks of the page and how each lives; none where no version has any."""
        looks = self._past.catalog.last_looks([self.id])
        last = self._past.view(self, looks[self.id], dom=True) if looks else None
        return blocks_of(self._past.history(self, dom=True), last)

    def difference(self, old: Which | None = None, new: Which | None = None) -> Difference:
        """Compare two versions; without any, those around the last change."""
        (first, second), gauge = self._pair(old, new), self._gauge()
        before, after = self._views([first, second], gauge)
        words = difference(before.text, after.text)
        return Difference(first, second, gauge.compare(before, after), words, gauge.counts_as)

    def news(self, since: Which, *, limit: int = LIMIT) -> News:
        """Return what is new in the last version since the one seen at a time.

        What the page's mask hides is left out; words that a few versions before then had, too, are
        no great news.
        """
        first, last, gauge = self.version(since), self.version(-1), self._gauge()
        before, after = self._views([first, last], gauge)
        texts = [_text_left(view, gauge) for view in (before, after)]
        earlier = [_text_left(view, gauge) for view in self._views_before(first, gauge)]
        told = snippet(*texts, earlier=earlier, limit=limit)
        return News(first, last, gauge.compare(before, after), told)

    def _gauge(self) -> Gauge:
        return gauges(self._past.catalog, self._past.settings, [self.id])[self.id]

    def _views(self, versions: Sequence[Version], gauge: Gauge) -> list[View]:
        return [self.view(version.number, dom=gauge.reads_dom) for version in versions]

    def _views_before(self, version: Version, gauge: Gauge) -> list[View]:
        """Return a few different views from before a version, as far as their bytes are kept."""
        earlier = {each.row.visit.digest: each.row for each in self.versions[: version.number - 1]}
        earlier.pop(version.row.visit.digest, None)
        nearest = list(earlier.values())[-REMEMBERED:]
        views = (self.view_of(row, dom=gauge.reads_dom) for row in nearest)
        return [view for view in views if view is not None]

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
                f"{self.url} was first seen at {to_second(first)}, after that;"
                " give a later time, or the number of a version"
            )
        return earlier[-1]


def _text_left(view: View, gauge: Gauge) -> str:
    """Return what of a view's text its mask leaves, line by line."""
    return without(view.text, hidden(view, gauge.mask)).replace(HOLE, " ")


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
        return moment_named(text)
    except ValueError:
        raise UsageError(
            f"{text!r} names no version; give a number (1, -1) or a time (2026-03-01T12:00)"
        ) from None
