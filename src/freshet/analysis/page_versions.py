"""A page's stored looks become a Series: each distinct payload is read and viewed once.

A look without bytes of its own shows what the look before it showed, where it is known to be the
same: "not modified", or an observation that reports no change. What was shown after a reported
change is not known until the next look with bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from freshet.archive.catalog.rows import HistoryRow
from freshet.core.clock import to_epoch
from freshet.core.errors import BadInputError, NotFoundError, StorageError
from freshet.core.settings import LimitSettings
from freshet.core.types import (
    ContentKind,
    DomRows,
    FloatArray,
    IndexArray,
    Outcome,
    Snapshot,
    TermCounts,
    View,
    Visit,
)
from freshet.core.version_series import VersionSeries, build_series
from freshet.measure.noise.mask import NO_MASK, Mask, visible_view_text
from freshet.record.parsed_visit import decode_snapshot
from freshet.view.bounds import ViewLimits
from freshet.view.parse import parse_snapshot
from freshet.view.words import count_words

MAX_TERMS = 3_000_000
MAX_DOMS = 500
MAX_DOM_ROWS = 500_000
NO_VERSION = -1
THINNING_REASON = "as there are very many"

PayloadKey = tuple[bytes, int | None]
SnapshotReader = Callable[[Visit], Snapshot | None]
T = TypeVar("T", TermCounts, DomRows)


@dataclass(frozen=True, slots=True)
class PageVersions:
    """A page's looks as a series, and how many of them it leaves out.

    ``series`` holds the words of versions and ``dom_series`` their DOM rows, where those were asked
    for. ``lost`` looks have bytes that are no longer kept, ``unreadable`` ones bytes that cannot
    be decoded, and ``unseen`` ones never had any. Of a page with very many or very large versions
    only every so many are held: the words of every ``word_stride``-th, the others being left out,
    and the DOM rows of every ``dom_stride``-th, which stand for those of the next ones too.
    """

    series: VersionSeries
    dom_series: VersionSeries
    looks: int
    lost: int = 0
    unreadable: int = 0
    unseen: int = 0
    word_stride: int = 1
    dom_stride: int = 1

    @property
    def missing_note(self) -> str:
        """Say in words what the series is short of; nothing where it is whole."""
        parts = [
            (self.lost, f"bytes no longer kept: {self.lost} looks"),
            (self.unreadable, f"bytes that cannot be read: {self.unreadable} looks"),
            (self.unseen, f"bytes never kept: {self.unseen} looks"),
            (
                self.word_stride > 1,
                f"words of one version in {self.word_stride} only, {THINNING_REASON}",
            ),
            (
                self.dom_stride > 1,
                f"elements of one version in {self.dom_stride} only, {THINNING_REASON}",
            ),
        ]
        return "; ".join(text for holds, text in parts if holds)


def read_page_versions(
    rows: Sequence[HistoryRow],
    read: SnapshotReader,
    limits: LimitSettings,
    *,
    dom: bool = True,
    mask: Mask = NO_MASK,
) -> PageVersions:
    """Return the looks among a page's visits as a series; ``read`` gives the bytes of a visit.

    Words are those that the mask leaves; DOM rows are those of the whole page.
    """
    looks = [row for row in rows if row.visit.outcome.is_look]
    library = _VersionLibrary(_kept(looks), read, limits, mask, dom=dom)
    shown = np.empty(len(looks), np.int32)
    current, unseen = NO_VERSION, 0
    for place, row in enumerate(looks):
        if row.visit.outcome is Outcome.OK:
            current = library.version(row.visit)
        elif row.visit.outcome is Outcome.REPORTED and not _same(row):
            current = NO_VERSION
        unseen += current == NO_VERSION and row.visit.outcome is not Outcome.OK
        shown[place] = current
    times = np.array([to_epoch(row.visit.time) for row in looks], np.float64)
    return PageVersions(
        _words(times, shown, library),
        _doms(times, shown, library),
        len(looks),
        lost=library.lost,
        unreadable=library.unreadable,
        unseen=unseen,
        word_stride=library.terms.stride,
        dom_stride=library.doms.stride,
    )


def _same(row: HistoryRow) -> bool:
    return row.change is not None and not row.change.changed


def _payload(visit: Visit) -> PayloadKey:
    """Return what tells the bytes of a visit from others; a visit without digest is its own."""
    return (visit.digest, visit.size) if visit.digest else (visit.uid, None)


def _kept(looks: Sequence[HistoryRow]) -> dict[PayloadKey, Visit]:
    """Return the first visit of each payload whose record is still kept."""
    visits = [row.visit for row in looks if row.visit.location is not None]
    return {_payload(visit): visit for visit in reversed(visits)}


def _words(times: FloatArray, shown: IndexArray, library: "_VersionLibrary") -> VersionSeries:
    """Return the looks at versions whose words are held, these numbered anew."""
    numbers = sorted(library.terms.held)
    place = np.full(library.versions + 1, NO_VERSION, np.int32)
    place[numbers] = np.arange(len(numbers))
    found = place[shown]
    seen = found != NO_VERSION
    terms = [library.terms.held[number] for number in numbers]
    return build_series(times[seen].tolist(), found[seen].tolist(), terms)


def _doms(times: FloatArray, shown: IndexArray, library: "_VersionLibrary") -> VersionSeries:
    """Return the looks at versions with the DOM rows that stand for them; the last has none."""
    numbers = sorted(library.doms.held)
    place = np.searchsorted(numbers, np.arange(library.versions), side="right") - 1
    place[~np.array(library.marked_up, np.bool_)] = len(numbers)
    seen = shown != NO_VERSION
    doms = [*(library.doms.held[number] for number in numbers), None]
    return build_series(times[seen].tolist(), place[shown[seen]].tolist(), (), doms)


class _ThinnedValues(Generic[T]):
    """Values by number, of which every second is let go whenever there are too many."""

    def __init__(self, most: int, most_rows: int) -> None:
        self.held: dict[int, T] = {}
        self.stride = 1
        self._most, self._most_rows = most, most_rows
        self._rows = 0

    def wants(self, number: int) -> bool:
        """Whether a value of that number would be held."""
        return number % self.stride == 0

    def put(self, number: int, value: T) -> None:
        """Hold a value, and let others go until all fit."""
        if not self.wants(number):
            return
        self.held[number] = value
        self._rows += len(value)
        while len(self.held) > 1 and (len(self.held) > self._most or self._rows > self._most_rows):
            self.stride *= 2
            self.held = {at: held for at, held in self.held.items() if self.wants(at)}
            self._rows = sum(map(len, self.held.values()))


class _VersionLibrary:
    """The distinct versions of a page, numbered as they are first met."""

    def __init__(
        self,
        kept: dict[PayloadKey, Visit],
        read: SnapshotReader,
        limits: LimitSettings,
        mask: Mask,
        *,
        dom: bool,
    ) -> None:
        self.terms = _ThinnedValues[TermCounts](MAX_TERMS, MAX_TERMS)
        self.doms = _ThinnedValues[DomRows](MAX_DOMS, MAX_DOM_ROWS)
        self.dom = dom
        self.marked_up: list[bool] = []
        self.lost = self.unreadable = 0
        self._kept, self._read, self._limits, self._mask = kept, read, limits, mask
        self._numbers: dict[PayloadKey, int] = {}
        self._unreadable: set[PayloadKey] = set()

    @property
    def versions(self) -> int:
        """Return how many versions were met."""
        return len(self.marked_up)

    def version(self, visit: Visit) -> int:
        """Return the number of the version that a visit brought, or that there is none."""
        payload = _payload(visit)
        if payload not in self._numbers:
            self._numbers[payload] = self._take_in(payload)
        number = self._numbers[payload]
        if number == NO_VERSION:
            unreadable = payload in self._unreadable
            self.unreadable += unreadable
            self.lost += not unreadable
        return number

    def _take_in(self, payload: PayloadKey) -> int:
        """View a payload and hold what measures need of it."""
        try:
            view = self._view(payload)
        except BadInputError:
            self._unreadable.add(payload)
            return NO_VERSION
        except (StorageError, NotFoundError):
            return NO_VERSION
        if view is None:
            return NO_VERSION
        number = self.versions
        self.marked_up.append(self.dom and view.kind is ContentKind.HTML)
        self.terms.put(number, self._words(view))
        if self.dom and view.dom is not None:
            self.doms.put(number, view.dom)
        return number

    def _words(self, view: View) -> TermCounts:
        """Return the words that the mask leaves of a view."""
        return count_words(visible_view_text(view, self._mask)) if self._mask.rules else view.terms

    def _view(self, payload: PayloadKey) -> View | None:
        visit = self._kept.get(payload)
        snapshot = self._read(visit) if visit else None
        if snapshot is None:
            return None
        plain = decode_snapshot(snapshot, self._limits)
        wanted = self._mask.reads_dom or (self.dom and self.doms.wants(self.versions))
        return parse_snapshot(
            plain, dom=wanted, limits=ViewLimits(max_body_bytes=self._limits.body_bytes)
        )
