"""One page looked at in full, however odd its history, and its pictures."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from freshet.analysis.analysis_scope import AnalysisPeriod
from freshet.analysis.charts import ChartFiles, draw_page_charts
from freshet.analysis.page_study import PageStudy, lifespan_heatmap, study_page
from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.types import Outcome
from tests.record.record_samples import (
    CLOCK,
    START,
    URL,
    WORDS,
    html,
    make_collection,
    observe,
    record,
)

PDF = b"%PDF-1.7 \x00\xff binary"
OTHER = "https://example.org/other"
ALL = ("changes", "curve", "words", "staying-power", "blocks", "survival", "calendar")


def study_of(folder: Path, *observations: Observation) -> PageStudy:
    """Return the study of a page with these observations, beside a page that never changes."""
    with make_collection(folder) as collection:
        record(collection, [observe(0, html("other"), url=OTHER)], observations)
        return study_page(collection, collection.page(URL))


def draw_charts(study: PageStudy, folder: Path) -> ChartFiles:
    return draw_page_charts(study, folder, "json")


def daily(days: int) -> list[Observation]:
    return [observe(day, html(f"monday{day} tuesday{day}")) for day in range(days)]


def test_words_are_spelt_and_parted(tmp_path: Path) -> None:
    study = study_of(tmp_path / "c", *daily(12))
    spelt = study.spell_words(study.terms.spans.rows)
    assert set(spelt) == set(WORDS.split()) | {f"{d}day{n}" for n in range(12)
                                               for d in ("mon", "tues")}  # fmt: skip
    assert set(study.spell_words(study.split.go_high)) <= {f"{d}day{n}" for n in range(12)
                                                     for d in ("mon", "tues")}  # fmt: skip
    assert not study.has_no_neighbours


def test_words_are_spelt_where_a_look_brought_no_bytes(tmp_path: Path) -> None:
    unchanged = [observe(day, outcome=Outcome.NOT_MODIFIED) for day in (1.5, 2.0, 3.0)]
    study = study_of(
        tmp_path / "c", observe(0, html("old")), observe(1.2, html("fresh")), *unchanged
    )
    assert {"old", "fresh"} <= set(study.spell_words(study.terms.spans.rows))


def test_blocks_have_a_sample_of_their_text(tmp_path: Path) -> None:
    study = study_of(tmp_path / "c", *daily(4))
    [paragraph] = [block for block in study.blocks if block.path.endswith("/p[0]")]
    assert paragraph.sample == WORDS[:60]
    assert paragraph.changes == 3


def test_blocks_that_change_at_the_same_times_are_reported(tmp_path: Path) -> None:
    bodies = [f"<h1>herald</h1><p>{day // 3}</p><h2>{day // 3} more</h2>" for day in range(12)]
    study = study_of(tmp_path / "c", *(observe(n, body.encode()) for n, body in enumerate(bodies)))
    [bound] = study.co_changing
    assert [study.blocks[index].path[-5:] for index in bound.blocks] == ["/p[0]", "h2[0]"]
    assert len(bound.times) == 3


def test_a_version_whose_record_is_damaged_is_none(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, daily(2))
        page = collection.page(URL)
        row = page.history()[0]
        assert row.visit.location is not None
        assert page.view_of_visit(row) is not None
        [archive] = (collection.path / "archive").rglob("*.warc.gz")
        archive.write_bytes(b"\x00" * archive.stat().st_size)
    with Collection.open(tmp_path / "c", clock=CLOCK) as collection:
        page = collection.page(URL)
        assert page.view_of_visit(page.history()[0]) is None


def test_every_picture_of_a_lively_page_is_drawn(tmp_path: Path) -> None:
    study = draw_charts(study_of(tmp_path / "c", *daily(12)), tmp_path / "pictures")
    assert [path.stem for path in study.files] == list(ALL)
    assert study.missing_charts == ()
    assert all(path.stat().st_size for path in study.files)


def test_the_order_of_storage_does_not_matter(tmp_path: Path) -> None:
    first = study_of(tmp_path / "one", *daily(10))
    second = study_of(tmp_path / "other", *reversed(daily(10)))
    assert first.curve.dice.tolist() == second.curve.dice.tolist()
    assert first.words == second.words
    assert [block.changes for block in first.blocks] == [block.changes for block in second.blocks]


@pytest.mark.parametrize(
    ("observations", "stems"),
    [
        ([observe(0, html("one"))], {"blocks", "calendar"}),
        ([observe(0, html("one")), observe(0, html("two"))], {"blocks", "calendar"}),
        ([observe(0, html("one")), observe(1, PDF)], {"words", "staying-power", "calendar"}),
        ([observe(0, html("one")), observe(400, html("two"))], {"words", "calendar", "blocks"}),
        ([observe(0, html(""))], {"calendar"}),
        ([observe(0, status=404)], set()),
    ],
    ids=["one version", "the same moment", "turned into a PDF", "a year apart", "empty", "gone"],
)
def test_odd_histories_have_a_defined_answer(
    tmp_path: Path, observations: list[Observation], stems: set[str]
) -> None:
    study = study_of(tmp_path / "c", *observations)
    written = draw_charts(study, tmp_path / "pictures")
    assert study.curve.shape is None
    assert study.curve.why
    assert not len(study.curve)
    assert {path.stem for path in written.files} >= stems
    assert len(written.files) + len(written.missing_charts) == len(ALL)
    assert all(reason.startswith("no ") and ": " in reason for reason in written.missing_charts)


def test_words_are_compared_with_the_whole_collection_by_default(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        old = [replace(look, source="old") for look in daily(5)]
        record(collection, [observe(0, html("other"), url=OTHER)], old)
        page = collection.page(URL, source="old")
        study = study_page(collection, page)
        assert not study.has_no_neighbours
        assert len(page.terms().divergence) == len(study.terms)
        alone = study_page(collection, page, language_source=True)
    assert alone.has_no_neighbours


def test_a_study_of_a_period_has_its_looks_only(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, daily(60))
        page = collection.page(URL)
        period = AnalysisPeriod(START + timedelta(days=10), START + timedelta(days=20))
        study, whole = study_page(collection, page, period=period), study_page(collection, page)
    assert (study.summary.looks, study.summary.changes) == (11, 10)
    assert study.summary.first == (START + timedelta(days=10)).timestamp()
    assert study.curve.hours.max() <= 10 * 24
    assert whole.summary.looks == 60


def test_curves_cover_five_weeks_unless_a_period_is_given(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, daily(60))
        page = collection.page(URL)
        study = study_page(collection, page)
        longer = study_page(collection, page, period=AnalysisPeriod(since=START))
    assert study.curve.hours.max() <= 35 * 24 < longer.curve.hours.max()


def test_a_page_alone_in_its_collection_has_nothing_to_be_held_against(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, daily(5))
        study = study_page(collection, collection.page(URL))
    assert study.has_no_neighbours
    assert study.spell_words(study.split.go_high) == []
    assert len(study.terms) > 0


def test_a_stored_page_is_tinted(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, daily(5))
        page = collection.page(URL)
        drawn_page = lifespan_heatmap(page, study_page(collection, page))
    assert "monday4" in drawn_page
    assert 'title="changes at every look"' in drawn_page
    assert 'changes at every look<span class="freshet-scale"></span>all 4 days' in drawn_page


def test_what_is_no_web_page_says_so_when_tinted(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(0, html("one")), observe(1, PDF)])
        page = collection.page(URL)
        assert "not a web page" in lifespan_heatmap(page, study_page(collection, page))
