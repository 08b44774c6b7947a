from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from freshet.analysis import page_versions
from freshet.analysis.page_traits import page_traits
from freshet.analysis.page_versions import PageVersions, read_page_versions
from freshet.archive.catalog.rows import HistoryRow
from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.settings import LimitSettings
from freshet.core.types import Change, Outcome, RecordLocation, Snapshot, Visit
from freshet.measure.dynamics.structure.element_history import element_history
from freshet.view.words import count_words
from tests.record.record_samples import START, URL, html, make_collection, observe, record

PDF = b"%PDF-1.7 \x00\xff binary"


def read_versions(collection: Collection, *, dom: bool = True) -> PageVersions:
    page = collection.page(URL)
    rows = collection.catalog.history(page.id)
    return read_page_versions(
        rows, lambda visit: collection.snapshots.read(visit, URL), LimitSettings(), dom=dom
    )


def recorded_versions(folder: Path, *observations: Observation) -> PageVersions:
    with make_collection(folder) as collection:
        record(collection, observations)
        return read_versions(collection)


def days(versions: PageVersions) -> list[float]:
    start = START.timestamp()
    return ((versions.series.times - start) / 86_400).tolist()


def reported(day: float, changed: bool) -> Observation:
    return observe(day, None, outcome=Outcome.REPORTED, change=Change(changed))


def unchanged(day: float) -> Observation:
    return observe(day, None, outcome=Outcome.NOT_MODIFIED)


def test_looks_at_the_same_bytes_share_a_version(tmp_path: Path) -> None:
    versions = recorded_versions(
        tmp_path / "c", *(observe(day, html("ab"[day % 2])) for day in range(4))
    )
    assert versions.series.version_indices.tolist() == [0, 1, 0, 1]
    assert len(versions.series.terms) == 2
    assert versions.dom_series.version_indices.tolist() == [0, 1, 0, 1]
    assert versions.missing_note == ""


def test_looks_come_in_time_order_whatever_order_they_were_stored_in(tmp_path: Path) -> None:
    observations = [observe(day, html(f"day {day}")) for day in (3, 0, 2, 1)]
    versions = recorded_versions(tmp_path / "c", *observations)
    assert days(versions) == [0, 1, 2, 3]
    texts = [versions.series.terms[version].hashes for version in versions.series.version_indices]
    assert [count_words(f"{day}").hashes[0] in ids for day, ids in enumerate(texts)] == [True] * 4


def test_a_look_without_bytes_shows_what_the_one_before_showed(tmp_path: Path) -> None:
    versions = recorded_versions(
        tmp_path / "c",
        observe(0, html("a")),
        unchanged(1),
        reported(2, False),
        observe(3, html("b")),
        unchanged(4),
    )
    assert versions.series.version_indices.tolist() == [0, 0, 0, 1, 1]
    assert versions.unseen == 0


def test_after_a_reported_change_nothing_is_known_until_the_next_bytes(tmp_path: Path) -> None:
    versions = recorded_versions(
        tmp_path / "c",
        observe(0, html("a")),
        reported(1, True),
        reported(2, False),
        observe(3, html("c")),
    )
    assert days(versions) == [0, 3]
    assert (versions.looks, versions.unseen) == (4, 2)
    assert versions.missing_note == "bytes never stored: 2 looks"


def test_failed_visits_are_no_looks(tmp_path: Path) -> None:
    versions = recorded_versions(
        tmp_path / "c",
        observe(0, html("a")),
        observe(1, None, outcome=Outcome.TIMEOUT),
        observe(2, html("a")),
    )
    assert (days(versions), versions.looks) == ([0, 2], 2)


def test_a_page_that_turns_into_a_pdf_has_no_elements_then(tmp_path: Path) -> None:
    versions = recorded_versions(
        tmp_path / "c", observe(0, html("a")), observe(1, PDF), observe(2, html("b"))
    )
    assert [len(terms) > 0 for terms in versions.series.terms] == [True, False, True]
    doms = [versions.dom_series.doms[version] for version in versions.dom_series.version_indices]
    assert [dom is not None for dom in doms] == [True, False, True]


def test_bytes_that_are_no_longer_kept_are_left_out_and_counted(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, html(f"day {day}")) for day in range(3)])
        visits = [row.visit.id for row in collection.page(URL).history()]
        collection.catalog.set_locations({visits[1]: None})
        versions = read_versions(collection)
    assert (days(versions), versions.lost) == ([0, 2], 1)
    assert versions.missing_note == "bytes no longer stored: 1 looks"


def test_a_damaged_archive_is_counted_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, html(f"day {day}")) for day in range(2)])
        for file in collection.archive_folder.glob("*.warc.gz"):
            file.write_bytes(b"\x00" * file.stat().st_size)
        versions = read_versions(collection)
    assert (len(versions.series), versions.lost) == (0, 2)


def test_bytes_that_cannot_be_decoded_are_counted() -> None:
    coded = (("content-type", "text/html"), ("content-encoding", "gzip"))
    rows = _rows([Snapshot(URL, b"not gzip", headers=coded), Snapshot(URL, html("a"))])
    versions = read_page_versions(rows, lambda visit: _BODIES[visit.uid], LimitSettings())
    assert (len(versions.series), versions.unreadable) == (1, 1)


_BODIES: dict[bytes, Snapshot] = {}


def _rows(snapshots: Sequence[Snapshot]) -> list[HistoryRow]:
    """Return a history whose bytes are at hand without an archive."""
    _BODIES.clear()
    rows = []
    for number, snapshot in enumerate(snapshots):
        uid = f"{number:016}".encode()
        _BODIES[uid] = snapshot
        time = START + timedelta(hours=number)
        location = RecordLocation("x", number, 1)
        rows.append(HistoryRow(Visit(uid, 1, time, Outcome.OK, location=location)))
    return rows


def test_the_elements_of_very_many_versions_are_all_used_and_some_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_versions, "MAX_DOM_ROWS", 30)
    rows = _rows([Snapshot(URL, html(f"number {n}")) for n in range(100)])
    reads = []

    def read(visit: Visit) -> Snapshot:
        reads.append(visit.uid)
        return _BODIES[visit.uid]

    versions = read_page_versions(rows, read, LimitSettings())
    assert len(reads) == 100
    assert len(versions.series) == len(versions.series.terms) == len(versions.dom_series) == 100
    assert all(dom is not None for dom in versions.dom_series.doms)
    assert 190 <= len(reads) <= 200
    assert versions.missing_note == ""


def test_the_words_of_very_large_histories_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_versions, "MAX_TERMS", 200)
    rows = _rows([Snapshot(URL, html(f"number {n}")) for n in range(100)])
    versions = read_page_versions(
        rows, lambda visit: _BODIES[visit.uid], LimitSettings(), dom=False
    )
    assert versions.word_stride == 16
    assert sum(map(len, versions.series.terms)) <= 200
    assert np.diff(versions.series.times).tolist() == [16 * 3600] * (len(versions.series) - 1)
    assert "words of one version in 16 only" in versions.missing_note
    assert not versions.dom_series.has_dom.any()


def test_a_page_that_was_never_seen_has_an_empty_series() -> None:
    versions = read_page_versions([], lambda visit: None, LimitSettings())
    assert (len(versions.series), len(versions.dom_series), versions.looks) == (0, 0, 0)


@pytest.mark.parametrize(("most", "is_whole"), [(3_000_000, True), (400, False)])
def test_survival_is_given_only_for_times_that_the_used_versions_resolve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, is_whole: bool
) -> None:
    bounded = partial(element_history, max_runs=most)
    monkeypatch.setattr("freshet.analysis.page_traits.element_history", bounded)
    rows = [f"<p>{number}</p>" + "<p>x</p>" * (number < 2) for number in range(10 * 24)]
    pages = [f"<html><body>{row}</body></html>".encode() for row in rows]
    versions = recorded_versions(
        tmp_path / "c", *(observe(hour / 24, page) for hour, page in enumerate(pages))
    )
    is_known = [share is not None for share in page_traits(versions, URL).survival]
    assert is_known[:2] == [is_whole, True]
    assert is_known[2]
