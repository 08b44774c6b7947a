from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from freshet.analysis import collection_analysis as analysing
from freshet.analysis.analysis_scope import AnalysisScope
from freshet.analysis.collection_analysis import analyse_collection
from freshet.analysis.page_measurement import PageBatchMeasurer, PageMeasurement
from freshet.analysis.page_study import study_page
from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.errors import NotFoundError, UsageError
from freshet.core.types import Change, Outcome
from freshet.engine.local import LocalEngine
from freshet.engine.result_cache import Columns
from freshet.measure.statistics.page_summary import PageChangeSummary
from tests.crawl import test_bursts as crawled
from tests.record.record_samples import URL, html, make_collection, observe, record

NEWS = AnalysisScope(tag="news")
HERE = LocalEngine(1)
PDF = b"%PDF-1.7 \x00\xff binary"


def measurement_of(folder: Path, *observations: Observation) -> PageMeasurement:
    """Return the measurement of a page with these observations."""
    with make_collection(folder) as collection:
        record(collection, observations)
        return next(iter(analyse_collection(collection, engine=HERE).page_measurements()))


def summary_of(folder: Path, *observations: Observation) -> PageChangeSummary:
    return measurement_of(folder, *observations).summary


def site(name: str, days: int, *, every: int) -> list[Observation]:
    """Return daily looks at a page that changes every few looks; never if that is 0."""
    url = f"https://{name}"
    return [
        observe(day, html(f"news {day // every if every else 0}", name), url=url)
        for day in range(days)
    ]


def fill(collection: Collection) -> None:
    """Record pages of two domains: six that change each second day, six that do each fifth."""
    lively = [site(f"a{n}.example.com/", 12, every=2) for n in range(6)]
    quiet = [site(f"b{n}.example.org/x/y", 24, every=4 + n % 3) for n in range(6)]
    record(collection, *lively, *quiet, site("c.example.net/z", 5, every=0))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analyse") / "c"
    with make_collection(folder) as collection:
        fill(collection)
    return folder


def test_pages_are_counted_and_their_groups_compared(filled: Path) -> None:
    with Collection.open(filled) as collection:
        analysis = analyse_collection(collection, by="tld", engine=HERE)
    assert (analysis.pages, analysis.total.pages, analysis.is_sample) == (13, 13, False)
    assert analysis.total.never_changed == pytest.approx(1 / 13)
    assert [(row.name, row.pages) for row in analysis.groups] == [
        ("com", 6),
        ("org", 6),
        ("net", 1),
    ]
    lively, quiet, still = analysis.groups
    assert lively.interval_hours.mean == pytest.approx(48)
    assert quiet.interval_hours.mean == pytest.approx(24 * 5, rel=0.05)
    assert (still.interval_hours.mean, still.never_changed) == (None, 1.0)
    assert lively.expected_hours.mean is not None
    assert quiet.expected_hours.mean is not None
    assert lively.expected_hours.mean < quiet.expected_hours.mean
    interval = analysis.tests[0]
    assert (interval.figure, interval.untested) == ("interval_hours", ("net",))
    assert interval.p is not None
    assert interval.p < 0.01
    assert int(analysis.intervals.counts.sum()) == 12
    assert analysis.intervals.lacking == 1


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("depth", {"0": 6, "1": 1, "2": 6}),
        ("kind", {"html": 13}),
        ("tag", {"none": 13}),
        ("importance", {"1": 13}),
        ("source", {"live": 13}),
    ],
)
def test_pages_can_be_grouped_in_many_ways(filled: Path, by: str, groups: dict[str, int]) -> None:
    with Collection.open(filled) as collection:
        analysis = analyse_collection(collection, by=by, engine=HERE)
    assert {row.name: row.pages for row in analysis.groups} == groups


def test_a_page_with_two_tags_counts_in_both(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, site("a.org/", 3, every=1), site("b.org/", 3, every=1))
        first, second = collection.pages()
        collection.tag("news", [first, second])
        collection.tag("local", [first])
        analysis = collection.analyse("tag", processes=1)
    assert {row.name: row.pages for row in analysis.groups} == {"news": 2, "local": 1}
    assert analysis.total.pages == 2


def test_only_pages_of_a_tag_or_a_source_are_taken(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        imported = [replace(item, source="old") for item in site("a.org/", 3, every=1)]
        record(collection, imported, site("b.org/", 3, every=1))
        collection.tag("news", list(collection.pages(source="")))
        assert collection.analyse("source", processes=1).pages == 2
        assert [row.name for row in collection.analyse("source", source="old", processes=1).groups
                ] == ["old"]  # fmt: skip
        assert [row.name for row in collection.analyse("source", tag="news", processes=1).groups
                ] == ["live"]  # fmt: skip


def test_survival_of_a_group_never_rises_though_pages_are_known_from_other_times_on(
    tmp_path: Path,
) -> None:
    with make_collection(tmp_path / "c") as collection:
        hourly = [
            observe(hour / 24, b"<p>one<p>two" if hour < 3 else b"<p>one") for hour in range(40)
        ]
        record(collection, hourly, site("daily.example.org/", 40, every=1))
        survival = analyse_collection(collection, engine=HERE).total.survival
    shares = [item.mean for item in survival]
    assert [item.pages for item in survival] == [1, 1, 1, 1, 1, 1]
    assert shares[1] is not None
    assert shares[1] < 1.0
    assert shares[2:] == [shares[1]] * 4


def test_a_page_has_the_same_rate_alone_and_among_all(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        fill(collection)
        among = {
            page.page_id: page.summary
            for page in analyse_collection(collection, engine=HERE).page_measurements()
        }
        for page in (
            next(iter(collection.pages(source=""))),
            collection.page("https://b1.example.org/x/y"),
        ):
            alone = study_page(collection, page).summary.expected_hours
            assert alone == pytest.approx(among[page.id].expected_hours, rel=1e-5)


def test_an_analysis_has_the_results_of_bursts(tmp_path: Path) -> None:
    clock = FixedClock(crawled.NOON)
    folder = crawled.make(tmp_path / "c", crawled.TICKER)
    with crawled.crawling(folder, clock) as crawl:
        web = crawled.Web(crawl, clock, {crawled.TICKER: crawled.other_words})
        for _ in range(5):
            web.ask_for(crawled.TICKER)
            web.visit()
            clock.at += crawled.HOUR
        crawled.until_fast(web)
        web.go_on(crawled.HOUR, 2 * crawled.MINUTE)
    with Collection.open(folder, clock=clock) as collection:
        rows = {row.minutes: row.any for row in collection.analyse(processes=1).bursts}
        assert rows.keys() >= {2, 16, 32}
        assert rows[2] == 1.0
        assert collection.analyse(source="", processes=1).bursts == ()


def test_a_group_that_is_not_known_is_refused(filled: Path) -> None:
    with (
        Collection.open(filled) as collection,
        pytest.raises(UsageError, match="'colour'; choose one of tld, depth"),
    ):
        analyse_collection(collection, by="colour")


def test_an_empty_collection_has_an_empty_table(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        analysis = analyse_collection(collection, engine=HERE)
    assert (analysis.pages, analysis.groups, analysis.total.never_changed) == (0, (), None)
    assert [test.why for test in analysis.tests] == [
        "fewer than two groups have 5 pages with a figure"
    ] * 4


def test_several_processes_say_what_one_says(filled: Path) -> None:
    with Collection.open(filled) as collection:
        work = PageBatchMeasurer(str(filled))
        batches: list[Columns] = [{"page": np.array(ids)} for ids in ([1, 2, 3], [13], [])]
        beside = list(LocalEngine(2).map(work, batches))
        for ours, theirs in zip(map(work, batches), beside, strict=True):
            assert list(ours) == list(theirs)
            for name in ours:
                np.testing.assert_array_equal(ours[name], theirs[name])
        assert [len(result["page"]) for result in beside] == [3, 1, 0]
        assert collection.catalog.counts().pages == 13


def test_an_analysis_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysing, "PAGES_PER_BATCH", 2)
    with make_collection(tmp_path / "c") as collection:
        record(collection, *(site(f"{n}.example.org/", 3, every=1) for n in range(8)))

        def stop(done: int, total: int) -> None:
            assert total == 8
            if done == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            analyse_collection(collection, engine=HERE, progress=stop)
        assert len(list((collection.path / "analysis" / "all").iterdir())) == 2
        engine = _RecordingEngine()
        complete = analyse_collection(collection, engine=engine)
        assert engine.pages == [5, 6, 7, 8]
        record(collection, [observe(9, html("late"), url="https://3.example.org/")])
        again = _RecordingEngine()
        newer = analyse_collection(collection, engine=again)
        assert again.pages == [3, 4]
        assert (complete.pages, newer.pages) == (8, 8)
        assert [page.summary.looks for page in newer.page_measurements()] == [
            3,
            3,
            3,
            4,
            3,
            3,
            3,
            3,
        ]


def test_a_page_that_grows_does_not_have_other_batches_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysing, "PAGES_PER_BATCH", 4)
    monkeypatch.setattr(analysing, "MIN_VISITS_FOR_OWN_BATCH", 10)
    with make_collection(tmp_path / "c") as collection:
        record(collection, *(site(f"{n}.example.org/", 3, every=1) for n in range(16)))
        analyse_collection(collection, engine=HERE)
        grown = "https://5.example.org/"
        for days, measured_pages in (
            (range(3, 6), [5, 6, 7, 8]),
            (range(6, 12), [5, 6, 7, 8]),
            (range(12, 13), [6]),
        ):
            record(collection, [observe(day, html(f"late {day}"), url=grown) for day in days])
            engine = _RecordingEngine()
            complete = analyse_collection(collection, engine=engine)
            assert engine.pages == measured_pages
            assert [page.page_id for page in complete.page_measurements()] == list(range(1, 17))


class _RecordingEngine(LocalEngine):
    """Works in this process, and records the pages that it measures."""

    def __init__(self) -> None:
        super().__init__(1)
        self.pages: list[int] = []

    def map(self, function, batches, **options):  # type: ignore[no-untyped-def]
        def recorded(batch: Columns) -> Columns:
            self.pages += batch["page"].tolist()
            result: Columns = function(batch)
            return result

        return super().map(recorded, batches, **options)


def test_another_choice_of_pages_leaves_what_is_kept(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, site("a.org/", 3, every=1), site("b.org/", 3, every=1))
        collection.tag("news", [next(iter(collection.pages()))])
        complete = analyse_collection(collection, engine=HERE)
        assert analyse_collection(collection, scope=NEWS, engine=HERE).pages == 1
        assert len(list(complete.page_measurements())) == 2


def test_missing_result_files_raise_an_error_with_the_remedy(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, site("a.org/", 3, every=1))
        analysis = analyse_collection(collection, engine=HERE)
        analysis.result_files[0].unlink()
        with pytest.raises(NotFoundError, match="analyse the collection again"):
            list(analysis.page_measurements())


def test_one_version_says_how_little_there_is(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "c", observe(0, html("only")))
    assert (summary.looks, summary.changes, summary.interval_hours, summary.dice_mean) == (
        1,
        0,
        None,
        None,
    )
    why = dict(summary.why)
    assert why["interval_hours"] == "no two looks were compared"
    assert why["expected_hours"] == "no two looks were compared"
    assert why["stay"] == "fewer than two times are known"
    assert why["survival"] == "the history is too short"
    assert "a curve needs" in why["shape"]


def test_a_page_that_changed_at_every_look_has_no_rate(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "c", *(observe(day, html(f"day {day}")) for day in range(5)))
    assert (summary.interval_hours, summary.expected_hours) == (24.0, None)
    assert dict(summary.why)["expected_hours"] == "changed at every look"


def test_versions_out_of_order_give_what_versions_in_order_give(tmp_path: Path) -> None:
    observations = [observe(day, html(f"day {day}")) for day in range(12)]
    shuffled = [observations[n] for n in (5, 0, 11, 3, 8, 1, 10, 2, 7, 4, 9, 6)]
    first = measurement_of(tmp_path / "a", *observations)
    second = measurement_of(tmp_path / "b", *shuffled)
    assert first == second
    assert first.summary.changes == 11


def test_identical_times_are_looks_of_one_moment(tmp_path: Path) -> None:
    observations = [observe(0, html(text), uid=f"{n:016}".encode()) for n, text in enumerate("abc")]
    summary = summary_of(tmp_path / "c", *observations)
    assert (summary.looks, summary.interval_hours) == (3, None)
    assert summary.first == summary.last
    assert dict(summary.why)["interval_hours"] == "all versions have the same time"


def test_empty_pages_are_no_looks(tmp_path: Path) -> None:
    observations = [observe(0, html("a")), observe(1, b""), observe(2, b"<html></html>"),
                observe(3, html("a"))]  # fmt: skip
    summary = summary_of(tmp_path / "c", *observations)
    assert (summary.looks, summary.changes) == (2, 0)


def test_a_page_that_turns_into_a_pdf_is_changed_and_stays_measurable(tmp_path: Path) -> None:
    observations = [observe(day, html("a") if day < 5 else PDF) for day in range(12)]
    measurement = measurement_of(tmp_path / "c", *observations)
    assert (measurement.kind, measurement.summary.changes, measurement.summary.dice_mean) == (
        "binary",
        1,
        0.0,
    )
    assert measurement.summary.traits.survival[2] is None
    assert measurement.summary.traits.stay is not None


def test_a_gap_of_a_year_is_not_filled(tmp_path: Path) -> None:
    days = [*range(10), *range(375, 385)]
    summary = summary_of(tmp_path / "c", *(observe(day, html(f"day {day // 2}")) for day in days))
    assert summary.looks == 20
    assert summary.last is not None
    assert summary.first is not None
    assert summary.last - summary.first == 384 * 86_400
    survival = summary.traits.survival
    assert survival[2] == 1.0
    assert survival[3:] == (None, None, None)


def test_observations_without_bytes_count_for_intervals(tmp_path: Path) -> None:
    observations = [
        observe(day, None, outcome=Outcome.REPORTED, change=Change(day % 3 == 0))
        for day in range(13)
    ]
    measurement = measurement_of(tmp_path / "c", *observations)
    assert measurement.summary.interval_hours == pytest.approx(72)
    assert measurement.summary.expected_hours is not None
    assert measurement.summary.dice_mean is None
    assert dict(measurement.summary.why)["dice_mean"] == "no change has two versions to compare"
    assert dict(measurement.summary.why)["shape"] == "the page has no looks"
    assert (measurement.kind, measurement.left_out) == ("none", "bytes never stored: 13 looks")


def test_the_library_measures_a_page_by_its_own(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        other = [observe(0, html("quite another page"), url="https://example.org/other")]
        record(collection, [observe(day, html(f"day {day}")) for day in range(12)], other)
        page = collection.page(URL)
        assert len(page.series()) == 12
        assert page.curve().why == ""
        terms = page.terms()
        assert np.isfinite(terms.divergence).all()
        stays = terms.ids[terms.staying_power == 1.0]
        assert len(stays) > 5
        blocks = page.blocks()
        assert [block.changes for block in blocks] == [11]
        assert blocks[0].path == "/html[0]/body[0]/p[0]"
        assert blocks[0].sample.startswith("the river rose")


def test_a_page_without_versions_has_no_blocks_and_no_curve(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        page = collection.add("https://example.org/never")
        assert (len(page.series()), page.blocks(), len(page.terms())) == (0, (), 0)
        assert page.curve().why == "the page has no looks"


def test_ten_thousand_versions_stay_within_bounds(tmp_path: Path) -> None:
    observations = [observe(n / 24, f"<p>{n} of many".encode()) for n in range(10_000)]
    measurement = measurement_of(tmp_path / "c", *observations)
    assert measurement.summary.looks == 10_000
    assert measurement.summary.changes == 9_999
    assert measurement.summary.interval_hours == pytest.approx(1.0)
    assert measurement.summary.traits.survival == (1.0,) * 6
    assert measurement.left_out == ""


def test_an_analysis_of_a_period_has_its_own_results(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, site("a.org", 40, every=1))
        start = collection.page("https://a.org/").history()[0].visit.time
        period = (start + timedelta(days=10), start + timedelta(days=19))
        analysis = collection.analyse(period=period, processes=1)
        assert [page.summary.looks for page in analysis.page_measurements()] == [10]
        assert [page.summary.changes for page in analysis.page_measurements()] == [9]
        whole = collection.analyse(processes=1)
        assert [page.summary.looks for page in whole.page_measurements()] == [40]
        assert {test.figure for test in whole.tests} >= {"knot_hours", "knot_dice"}
