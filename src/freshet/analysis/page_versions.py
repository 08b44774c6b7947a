"""Read the stored looks at a page as a series; each distinct payload is parsed once.

A look without bytes shows the version of the look before it, if it is known to be the same: "not
modified", or a report of no change. After a reported change the version is unknown until the next
look with bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freshet.analysis.stored_doms import StoredDoms
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
MAX_DOM_ROWS = 500_000
NO_VERSION = -1
MANY = "because there are very many"

PayloadKey = tuple[bytes, int | None]
SnapshotReader = Callable[[Visit], Snapshot | None]


@dataclass(frozen=True, slots=True)
class PageVersions:
    """The looks at a page as series, and the number of looks that are missing.

    ``series`` has the words of versions and ``dom_series`` their DOM rows, if wanted. The bytes of
    ``lost`` looks are no longer stored, those of ``unreadable`` looks cannot be decoded, and
    ``unseen`` looks never had any. Of a page with very many words only those of every
    ``word_stride``-th version are in memory, the others being left out. DOM rows that do not fit
    into memory are read again when they are needed.
    """

    series: VersionSeries
    dom_series: VersionSeries
    looks: int
    lost: int = 0
    unreadable: int = 0
    unseen: int = 0
    word_stride: int = 1

    @property
    def missing_note(self) -> str:
        """Describe missing data; empty if complete."""
        notes = [
            (self.lost, f"bytes no longer stored: {self.lost} looks"),
            (self.unreadable, f"bytes that cannot be read: {self.unreadable} looks"),
            (self.unseen, f"bytes never stored: {self.unseen} looks"),
            (self.word_stride > 1, f"words of one version in {self.word_stride} only, {MANY}"),
        ]
        return "; ".join(text for applies, text in notes if applies)


def read_page_versions(
    rows: Sequence[HistoryRow],
    read_snapshot: SnapshotReader,
    limits: LimitSettings,
    *,
    dom: bool = True,
    mask: Mask = NO_MASK,
) -> PageVersions:
    """Return the looks among a page's visits as series; ``read_snapshot`` returns its bytes.

    Words are those that the mask leaves visible; DOM rows are those of the whole page.
    """
    looks = [row for row in rows if row.visit.outcome.is_look]
    library = _VersionLibrary(_stored_visits(looks), read_snapshot, limits, mask, dom=dom)
    look_versions = np.empty(len(looks), np.int32)
    current, unseen = NO_VERSION, 0
    for look_index, row in enumerate(looks):
        if row.visit.outcome is Outcome.OK:
            current = library.version(row.visit)
        elif row.visit.outcome is Outcome.REPORTED and not _is_unchanged(row):
            current = NO_VERSION
        unseen += current == NO_VERSION and row.visit.outcome is not Outcome.OK
        look_versions[look_index] = current
    times = np.array([to_epoch(row.visit.time) for row in looks], np.float64)
    return PageVersions(
        _word_series(times, look_versions, library),
        _dom_series(times, look_versions, library),
        len(looks),
        lost=library.lost,
        unreadable=library.unreadable,
        unseen=unseen,
        word_stride=library.terms.stride,
    )


def _is_unchanged(row: HistoryRow) -> bool:
    return row.change is not None and not row.change.changed


def _payload_key(visit: Visit) -> PayloadKey:
    """Return a key of the bytes of a visit; a visit without digest has its own key."""
    return (visit.digest, visit.size) if visit.digest else (visit.uid, None)


def _stored_visits(looks: Sequence[HistoryRow]) -> dict[PayloadKey, Visit]:
    """Return the first visit of each payload whose record is still stored."""
    visits = [row.visit for row in looks if row.visit.location is not None]
    return {_payload_key(visit): visit for visit in reversed(visits)}


def _word_series(
    times: FloatArray, look_versions: IndexArray, library: "_VersionLibrary"
) -> VersionSeries:
    """Return the looks at versions whose words are in memory, with new version numbers."""
    stored_numbers = sorted(library.terms.values)
    new_numbers = np.full(library.versions + 1, NO_VERSION, np.int32)
    new_numbers[stored_numbers] = np.arange(len(stored_numbers))
    new_versions = new_numbers[look_versions]
    is_stored = new_versions != NO_VERSION
    terms = [library.terms.values[number] for number in stored_numbers]
    return build_series(times[is_stored].tolist(), new_versions[is_stored].tolist(), terms)


def _dom_series(
    times: FloatArray, look_versions: IndexArray, library: "_VersionLibrary"
) -> VersionSeries:
    """Return the looks at versions, with the DOM rows of each version."""
    is_stored = look_versions != NO_VERSION
    return build_series(
        times[is_stored].tolist(),
        look_versions[is_stored].tolist(),
        (),
        library.doms,
        has_dom=library.doms.has_dom,
    )


class _ThinnedTerms:
    """Word counts by version; when there are too many, every second version is dropped."""

    def __init__(self, max_rows: int) -> None:
        self.values: dict[int, TermCounts] = {}
        self.stride = 1
        self._max_rows = max_rows
        self._rows = 0

    def put(self, number: int, value: TermCounts) -> None:
        """Store the words of a version, and drop others until all fit."""
        if number % self.stride:
            return
        self.values[number] = value
        self._rows += len(value)
        while len(self.values) > 1 and self._rows > self._max_rows:
            self.stride *= 2
            self.values = {n: value for n, value in self.values.items() if not n % self.stride}
            self._rows = sum(map(len, self.values.values()))


class _VersionLibrary:
    """The distinct versions of a page, numbered in order of appearance."""

    def __init__(
        self,
        stored_visits: dict[PayloadKey, Visit],
        read_snapshot: SnapshotReader,
        limits: LimitSettings,
        mask: Mask,
        *,
        dom: bool,
    ) -> None:
        self.terms = _ThinnedTerms(MAX_TERMS)
        self.doms = StoredDoms(self._read_dom, MAX_DOM_ROWS)
        self.dom = dom
        self.lost = self.unreadable = 0
        self._stored_visits, self._read_snapshot = stored_visits, read_snapshot
        self._limits, self._mask = limits, mask
        self._numbers: dict[PayloadKey, int] = {}
        self._payloads: list[PayloadKey] = []
        self._unreadable: set[PayloadKey] = set()

    @property
    def versions(self) -> int:
        """Return the number of versions so far."""
        return len(self._payloads)

    def version(self, visit: Visit) -> int:
        """Return the version number of a visit's bytes, or that there is none."""
        payload = _payload_key(visit)
        if payload not in self._numbers:
            self._numbers[payload] = self._add_version(payload)
        number = self._numbers[payload]
        if number == NO_VERSION:
            unreadable = payload in self._unreadable
            self.unreadable += unreadable
            self.lost += not unreadable
        return number

    def _add_version(self, payload: PayloadKey) -> int:
        """Parse a payload and store its words and DOM rows."""
        try:
            view = self._view(payload)
        except BadInputError:
            self._unreadable.add(payload)
            return NO_VERSION
        except (StorageError, NotFoundError):
            return NO_VERSION
        if view is None:
            return NO_VERSION
        self._payloads.append(payload)
        self.terms.put(self.versions - 1, self._visible_words(view))
        self.doms.append(view.dom if self.dom and view.kind is ContentKind.HTML else None)
        return self.versions - 1

    def _read_dom(self, version: int) -> DomRows:
        """Read the DOM rows of a version again."""
        view = self._view(self._payloads[version])
        if view is None or view.dom is None:
            raise StorageError("a version was removed during its analysis; analyse the page again")
        return view.dom

    def _visible_words(self, view: View) -> TermCounts:
        """Return the words of a view that the mask leaves visible."""
        return count_words(visible_view_text(view, self._mask)) if self._mask.rules else view.terms

    def _view(self, payload: PayloadKey) -> View | None:
        visit = self._stored_visits.get(payload)
        snapshot = self._read_snapshot(visit) if visit else None
        if snapshot is None:
            return None
        decoded = decode_snapshot(snapshot, self._limits)
        return parse_snapshot(
            decoded,
            dom=self._mask.reads_dom or self.dom,
            limits=ViewLimits(max_body_bytes=self._limits.body_bytes),
        )
