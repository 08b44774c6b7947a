"""Targets: which steps of a page are labelled as changed, relevant or with a new link."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import xxhash

from freshet.core.content.content_grid import ContentGrid, changed_steps
from freshet.core.content.sparse_rows import count_rows
from freshet.core.errors import UsageError
from freshet.core.types import TermCounts
from freshet.measure.targets.becomes_relevant import BecomesRelevant, WeightedQuery
from freshet.measure.targets.content_targets import (
    AnyTextChange,
    DistributionShift,
    SignificanceTest,
    SignificantChange,
    WordsChanged,
)
from freshet.measure.targets.new_outlink import NewOutlink
from freshet.measure.targets.target import Target
from freshet.measure.targets.target_names import TARGETS, target_of_name

MakeTerms = Callable[[str], TermCounts]
MakeGrid = Callable[..., ContentGrid]


@pytest.fixture
def grid_of(terms_of: MakeTerms) -> MakeGrid:
    """Return what makes a grid of pages, each given as its texts by step; None is unknown."""

    def make(*pages: Sequence[str | None], links: Sequence[Sequence[str]] = ()) -> ContentGrid:
        cells = [(text, page) for page, row in enumerate(pages) for text in row]
        versions = list(dict.fromkeys(cell for cell in cells if cell[0] is not None))
        terms, vocabulary = count_rows([terms_of(text or "") for text, _ in versions])
        link_rows = [terms_of(" ".join(urls)) for urls in links] or [terms_of("")] * len(versions)
        rows = [-1 if cell[0] is None else versions.index(cell) for cell in cells]
        hashes = [xxhash.xxh3_64_intdigest((text or "").encode()) for text, _ in versions]
        return ContentGrid(
            tuple(map(str, range(len(pages)))),
            np.zeros(len(pages), np.uint64),
            np.arange(float(len(pages[0]))),
            np.array(rows, np.int32).reshape(len(pages), -1),
            terms,
            vocabulary,
            np.array(hashes, np.uint64),
            count_rows(link_rows)[0],
        )

    return make


def words(day: int, count: int) -> str:
    return " ".join(f"story{day}word{number}" for number in range(count))


def front_page(day: int) -> str:
    return "the of and to in a is that for it " * 12 + words(day, 200)


def query(terms_of: MakeTerms, text: str, weight: float = 1.0) -> WeightedQuery:
    return WeightedQuery(terms_of(text).hashes, weight)


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_every_target_is_unknown_beside_unknown_versions(target: Target, grid_of: MakeGrid) -> None:
    labels = target.labels(grid_of([None, "a", "a", None, "b"]))
    assert labels.tolist() == [[-1, 0, -1, -1]]
    assert labels.dtype == np.int32
    assert target.labels(grid_of(["a", "b"]), horizon=2).shape == (1, 0)


def test_a_replaced_page_is_significant_under_the_default_only(grid_of: MakeGrid) -> None:
    grid = grid_of([front_page(1), front_page(2)])
    assert SignificantChange().labels(grid).tolist() == [[1]]
    assert SignificantChange(test=SignificanceTest.TWO_SAMPLE).labels(grid).tolist() == [[0]]


def test_two_empty_pages_are_not_significant_and_an_emptied_page_is(grid_of: MakeGrid) -> None:
    grid = grid_of(["", "", "a few words", ""])
    assert SignificantChange().labels(grid).tolist() == [[0, 1, 1]]


def test_the_level_of_significance_is_a_parameter(grid_of: MakeGrid) -> None:
    grid = grid_of(["a " * 50 + "b " * 50, "a " * 42 + "b " * 58])
    assert SignificantChange().labels(grid).tolist() == [[0]]
    assert SignificantChange(level=0.2).labels(grid).tolist() == [[1]]


def test_ten_changed_words_are_enough_and_nine_are_not(grid_of: MakeGrid) -> None:
    page = front_page(1)
    grid = grid_of([page, f"{page} {words(2, 9)}", page, f"{page} {words(2, 10)}"])
    assert WordsChanged().labels(grid).tolist() == [[0, 0, 1]]
    assert WordsChanged(9).labels(grid).tolist() == [[1, 1, 1]]
    assert (WordsChanged().name, WordsChanged(9).name) == ("words10", "words9")


def test_the_distance_of_distributions_is_compared_with_the_least(grid_of: MakeGrid) -> None:
    grid = grid_of([words(1, 999), words(1, 1000), words(1, 1006)])
    assert DistributionShift().labels(grid).tolist() == [[0, 1]]


def test_any_text_change_is_that_of_the_grid_for_every_horizon(grid_of: MakeGrid) -> None:
    grid = grid_of(["a", "b", "a", "a", None], ["x", "x", "y", "x", "x"])
    for horizon in (1, 2):
        labels = AnyTextChange().labels(grid, horizon)
        np.testing.assert_array_equal(labels, changed_steps(grid, horizon))


def test_only_a_link_that_was_not_there_is_new(grid_of: MakeGrid) -> None:
    grid = grid_of(["1", "2", "3", "4"], links=[["a", "b"], ["b"], ["b", "c"], ["a", "b"]])
    assert NewOutlink().labels(grid).tolist() == [[0, 1, 1]]
    assert NewOutlink().labels(grid, horizon=3).tolist() == [[0]]


def test_a_page_becomes_relevant_when_it_enters_the_first_results(
    grid_of: MakeGrid, terms_of: MakeTerms
) -> None:
    grid = grid_of(
        ["rain today", "rain today", "sun today"],
        ["sun today", "rain rain rain", "rain rain rain"],
    )
    target = BecomesRelevant([query(terms_of, "rain")], top=1)
    assert target.labels(grid).tolist() == [[0, 0], [1, 0]]
    assert target.results(grid)[:, :, 0].tolist() == [[True, False], [False, True], [False, True]]


def test_a_page_without_the_words_is_not_relevant_even_if_results_are_few(
    grid_of: MakeGrid, terms_of: MakeTerms
) -> None:
    target = BecomesRelevant([query(terms_of, "snow"), query(terms_of, "a rain")], top=5)
    assert target.labels(grid_of(["sun", "wind", "rain"], ["", "", ""])).tolist() == [
        [0, 1],
        [0, 0],
    ]


def test_queries_count_by_their_weight(grid_of: MakeGrid, terms_of: MakeTerms) -> None:
    grid = grid_of(["sun", "rain"], ["wind", "snow"])
    queries = [query(terms_of, "rain", 0.2), query(terms_of, "snow", 0.7)]
    assert BecomesRelevant(queries, min_weight=0.5).labels(grid).tolist() == [[0], [1]]
    assert BecomesRelevant([query(terms_of, "rain", 0.0)]).labels(grid).tolist() == [[0], [0]]
    assert BecomesRelevant([]).labels(grid).tolist() == [[0], [0]]


def test_a_pair_of_versions_is_compared_once(
    grid_of: MakeGrid, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs: list[tuple[int, int]] = []
    monkeypatch.setattr(
        NewOutlink, "is_met", lambda _, __, before, after: bool(pairs.append((before, after)))
    )
    NewOutlink().labels(grid_of(["a", "b"] * 5))
    assert sorted(pairs) == [(0, 1), (1, 0)]


def test_targets_have_the_names_of_the_tables() -> None:
    assert list(TARGETS) == ["any_text", "words10", "l1", "significant", "new_outlink"]
    assert all(isinstance(target, Target) for target in TARGETS.values())
    assert BecomesRelevant([]).name == "relevant"
    with pytest.raises(UsageError, match="words11"):
        target_of_name("words11")


def test_a_horizon_lies_in_the_future(grid_of: MakeGrid) -> None:
    with pytest.raises(ValueError, match="future"):
        AnyTextChange().labels(grid_of(["a", "b"]), horizon=0)
