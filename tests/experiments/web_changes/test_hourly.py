"""Pages of the hourly web have the words and elements of their composition."""

from itertools import pairwise

import numpy as np
import pytest
from experiments.web_changes.composition import (
    BLINK_PATTERNS,
    HOURS,
    BlinkPattern,
    CompositionParameters,
    draw_composition,
)
from experiments.web_changes.experiment import observe_page, summarise_page_history
from experiments.web_changes.hourly import (
    ONE_PAGE_PER_SITE,
    START,
    HourlyPage,
    hourly_series,
    hourly_web,
    look_times,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.version_series import VersionSeries
from freshet.world.change_processes import HOUR
from freshet.world.population import draw_population

PAGES = 120
STILL = BlinkPattern(0.0, -1.0)


@pytest.fixture(scope="module")
def web() -> list[HourlyPage]:
    return list(hourly_web(PAGES, 1))


def successive_dice(series: VersionSeries) -> list[float]:
    """Return how alike each version is to the one before it, by counting words."""
    sets = [set(series.terms[version].hashes.tolist()) for version in series.version_indices]
    return [2 * len(a & b) / (len(a) + len(b)) for a, b in pairwise(sets) if a != b]


def test_pages_are_the_same_for_the_same_seed_one_by_one(web: list[HourlyPage]) -> None:
    again = next(hourly_web(PAGES, 1, within=range(7, 8)))
    assert again.url == web[7].url
    assert again.words(START).tolist() == web[7].words(START).tolist()
    assert next(hourly_web(PAGES, 2)).words(START).tolist() != web[0].words(START).tolist()


def test_pages_change_in_the_hours_of_their_population(web: list[HourlyPage]) -> None:
    people = draw_population(ONE_PAGE_PER_SITE, PAGES, HOURS, 1)
    for page, changed in zip(web, people.changed, strict=True):
        series = hourly_series(page)
        assert np.array_equal(
            np.diff(series.version_indices) != 0, changed | (page.composition.blinking > 0)
        )


def test_versions_are_as_alike_as_their_population_says(web: list[HourlyPage]) -> None:
    people = draw_population(ONE_PAGE_PER_SITE, PAGES, HOURS, 1)
    measured = [successive_dice(hourly_series(page)) for page in web]
    means = [(np.mean(dice), people.dice[n]) for n, dice in enumerate(measured) if dice]
    measured_dice, wanted = np.array(means).T
    assert measured_dice.mean() == pytest.approx(wanted.mean(), abs=0.005)
    assert np.abs(measured_dice - wanted).max() < 0.1


def test_a_list_is_renewed_in_the_hours_that_were_drawn() -> None:
    habits = CompositionParameters(settle=1.0, drift=0.0, hours=(100.0, 0.0))
    lists = [
        draw_composition(habits, np.random.default_rng(n), 96.0, 0.9, STILL) for n in range(20)
    ]
    assert all(parts.pieces * parts.piece_hours == pytest.approx(100.0) for parts in lists)


def test_the_list_of_a_lively_page_turns_over(web: list[HourlyPage]) -> None:
    page = max(web, key=lambda page: int(page.arrivals[-1]))
    parts = page.composition
    renewed = int(np.searchsorted(page.arrivals, parts.pieces))
    first, later = page.words(START), page.words(START + HOUR * renewed)
    assert len(np.intersect1d(first, later)) == parts.standing
    assert len(np.intersect1d(first, page.words(START + HOUR * (renewed - 1)))) > parts.standing


def test_two_visits_at_once_differ_only_where_words_blink_at_every_visit(
    web: list[HourlyPage],
) -> None:
    moment = START + 60
    differing = {
        page.composition.blink.minutes
        for page in web
        if not np.array_equal(page.words(moment), page.words(moment, 1))
    }
    assert differing == {0.0}


def test_words_that_blink_are_others_at_the_next_tick_not_within_it(web: list[HourlyPage]) -> None:
    ticking = [
        page
        for page in web
        if page.composition.blink.minutes > 0 and not page.composition.blink.text_count
    ]
    assert ticking
    for page in ticking:
        moment, tick = START + 60, page.composition.blink.minutes * 60
        assert np.array_equal(page.words(moment), page.words(moment + tick - 61))
        assert not np.array_equal(page.words(moment), page.words(moment + tick))


def test_lively_pages_blink_as_often_as_in_table_2() -> None:
    web = list(hourly_web(1000, 3))
    for blink in BLINK_PATTERNS:
        share = sum(page.composition.blink == blink for page in web) / len(web)
        assert share == pytest.approx(blink.share, abs=0.01)


def test_boxes_vanish_and_do_not_return(web: list[HourlyPage]) -> None:
    for page in web:
        boxes = [page.boxes(hour) for hour in range(HOURS + 1)]
        assert boxes == sorted(boxes, reverse=True)
        assert boxes[0] == boxes[1] == page.composition.boxes
        assert boxes[-1] == 0


def test_returning_elements_are_absent_once_and_return(web: list[HourlyPage]) -> None:
    pages = [page for page in web if page.composition.returning]
    assert 0 < len(pages) < len(web)
    for page in pages:
        counts = [page.returning(hour) for hour in range(HOURS + 1)]
        first, end = page.composition.absence
        assert [hour for hour, count in enumerate(counts) if not count] == list(range(first, end))
        assert counts[0] == counts[1] == counts[-1] == page.composition.returning


def test_returning_elements_survive_with_a_break(web: list[HourlyPage]) -> None:
    page = next(page for page in web if page.composition.returning and not page.composition.boxes)
    traits = summarise_page_history(observe_page(page)).traits
    assert traits.survival[-1] == 1.0
    assert traits.unbroken_survival[-1] < 1.0


def test_the_html_contains_every_box_and_piece(web: list[HourlyPage]) -> None:
    for page in web[:20]:
        html = page.html(START + 100 * HOUR)
        assert html.count("class='box'") == page.boxes(100)
        assert html.count("class='returning'") == page.returning(100)
        assert html.count("<li>") == page.composition.pieces


def test_looks_fall_on_every_hour_of_five_weeks() -> None:
    times = look_times()
    assert len(times) == HOURS + 1
    assert times[-1] - times[0] == 35 * 86_400


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.floats(0, 200),
    st.floats(0.02, 0.98),
    st.sampled_from([STILL, *BLINK_PATTERNS]),
)
def test_every_composition_is_possible(
    seed: int, rate: float, dice: float, blink: BlinkPattern
) -> None:
    parts = draw_composition(
        CompositionParameters(), np.random.default_rng(seed), rate, dice, blink
    )
    assert parts.standing >= 1
    assert (
        min(parts.pieces, parts.words_per_piece, parts.fleeting, parts.blinking, parts.boxes) >= 0
    )
    assert 50 <= parts.words <= 1100
    assert len(parts.losses) <= parts.boxes
    assert np.all((parts.losses > 1) & (parts.losses <= HOURS))
