"""The order of storage does not matter: a history reads as if it had come in time order."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.archive.observation import Observation
from freshet.core.types import Change, Outcome
from freshet.record import remeasurement as late_visits
from freshet.record.remeasurement import unmeasured_pages
from tests.record.record_samples import (
    bodies,
    html,
    make_collection,
    marks,
    observe,
    page_facts,
    record,
)

CONTENTS = (
    html("one", "a"),
    html("two", "a", "b"),
    html("two", "c"),
    html("three and four"),
    b"",
    b"<title>Just a moment...</title><p>Checking your browser before you go on</p>",
)


def visit(day: int, kind: int) -> Observation:
    if kind < len(CONTENTS):
        return observe(day, CONTENTS[kind])
    return (
        observe(day, b"<h1>Not found</h1>", status=404),
        observe(day, outcome=Outcome.NOT_MODIFIED, status=304),
        observe(day, outcome=Outcome.REPORTED, change=Change(True)),
        observe(day, outcome=Outcome.TIMEOUT),
    )[kind - len(CONTENTS)]


KINDS = len(CONTENTS) + 4
HISTORIES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, KINDS - 1)), min_size=1, max_size=8, unique=True
)


def in_batches(observations: list[Observation], cuts: set[int]) -> list[list[Observation]]:
    edges = [0, *sorted(cut for cut in cuts if cut < len(observations)), len(observations)]
    return [observations[a:b] for a, b in pairwise(edges)]


def outcome_of(batches: list[list[Observation]]) -> tuple[list, list[bytes], bool]:
    with TemporaryDirectory() as folder, make_collection(Path(folder) / "c") as collection:
        record(collection, *batches)
        return page_facts(collection), bodies(collection), collection.check().is_sound


@settings(max_examples=60, deadline=None, derandomize=True)
@given(history=HISTORIES, cuts=st.sets(st.integers(1, 7)), chance=st.randoms())
def test_any_order_and_any_batches_give_the_same_history(history, cuts, chance) -> None:
    observations = [visit(day, kind) for day, kind in history]
    shuffled = observations.copy()
    chance.shuffle(shuffled)
    in_time = sorted(shuffled, key=lambda observation: observation.time)
    assert outcome_of(in_batches(shuffled, cuts)) == outcome_of([in_time])


@settings(max_examples=20, deadline=None, derandomize=True)
@given(history=HISTORIES, cuts=st.sets(st.integers(1, 7)))
def test_reopening_between_batches_gives_the_same_history(history, cuts) -> None:
    observations = [visit(day, kind) for day, kind in history]
    with TemporaryDirectory() as folder, make_collection(Path(folder) / "c") as collection:
        for batch in in_batches(observations, cuts):
            record(collection, batch)
        reopened = page_facts(collection), bodies(collection), collection.check().is_sound
    assert reopened == outcome_of([sorted(observations, key=lambda observation: observation.time)])


@settings(max_examples=20, deadline=None, derandomize=True)
@given(history=HISTORIES)
def test_measuring_again_alters_nothing_when_nothing_else_did(history) -> None:
    with TemporaryDirectory() as folder, make_collection(Path(folder) / "c") as collection:
        record(collection, [visit(day, kind) for day, kind in history])
        before = page_facts(collection)
        collection.measure_again()
        assert page_facts(collection) == before


def test_the_histories_of_these_tests_know_every_kind_of_visit(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [visit(kind, kind) for kind in range(KINDS)])
        outcomes = [outcome for outcome, _ in marks(collection)]
        assert outcomes == [
            *[Outcome.OK] * 4,
            Outcome.EMPTY,
            Outcome.CAPTCHA,
            Outcome.GONE,
            Outcome.NOT_MODIFIED,
            Outcome.REPORTED,
            Outcome.TIMEOUT,
        ]


def test_visits_of_the_same_moment_stay_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    observations = [observe(1, html(word)) for word in ("one", "two", "three")]
    with make_collection(tmp_path / "c") as collection:
        record(collection, observations)
        assert bodies(collection) == [html("one"), html("two"), html("three")]


def test_a_late_look_becomes_what_the_next_visit_is_compared_with(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection, collection.recording() as recorder:
        recorder.record([observe(1, html("one")), observe(9, outcome=Outcome.TIMEOUT)])
        recorder.record([observe(5, html("five"))])
        recorder.record([observe(10, html("five"))])
        assert [changed for _, changed in marks(collection)] == [None, True, None, False]


@pytest.mark.parametrize("source", ["", "elsewhere"])
def test_a_crash_between_a_late_visit_and_its_neighbours_is_made_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    def crash(*_: object) -> int:
        raise KeyboardInterrupt

    first = observe(1, html("one", "a"), source=source)
    observations = [first, observe(3, html("three", "c"), source=source)]
    late = observe(2, html("two", "b", "c"), source=source)
    with (
        make_collection(tmp_path / "plain") as plain,
        make_collection(tmp_path / "crashed") as crashed,
    ):
        record(plain, [observations[0], late, observations[1]])
        record(crashed, observations)
        with monkeypatch.context() as patch:
            patch.setattr("freshet.record.recorder.remeasure_history", crash)
            with pytest.raises(KeyboardInterrupt):
                record(crashed, [late])
        assert unmeasured_pages(crashed.catalog)
        record(crashed, [])
        assert not unmeasured_pages(crashed.catalog)
        assert page_facts(crashed, source=source) == page_facts(plain, source=source)


def test_only_looks_next_to_a_late_one_are_viewed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    known = late_visits.HistoryViews.get

    def counted(self: late_visits.HistoryViews, row) -> object:
        read.append(row.visit.uid)
        return known(self, row)

    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, html(f"day {day}")) for day in range(0, 40, 2)])
        monkeypatch.setattr(late_visits.HistoryViews, "get", counted)
        record(collection, [observe(21, html("late"))])
        assert len(set(read)) == 3
