"""Words over time: lifespans, staying power, divergence, and the table of both."""

import tracemalloc
from collections import Counter
from collections.abc import Sequence
from math import log
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import TermCounts
from freshet.core.version_series import VersionSeries, build_series
from freshet.measure.dynamics.terms.divergence import (
    EMPTY_LANGUAGE,
    LanguageModel,
    language_of_version,
    merge_all_languages,
    merge_languages,
    most_frequent_words,
    word_divergence,
)
from freshet.measure.dynamics.terms.lifespans import (
    WordLifespans,
    staying_power,
    word_lifespans,
    word_spans,
)
from freshet.measure.dynamics.terms.term_table import distinctive_words, split_terms, term_table
from freshet.measure.dynamics.time_grid import DAY, HOUR, versions_on_grid


def terms(words: Sequence[int]) -> TermCounts:
    counted = Counter(words)
    ids = sorted(counted)
    return TermCounts(np.array(ids, np.uint64), np.array([counted[i] for i in ids], np.uint32))


def hourly(*versions: Sequence[int]) -> VersionSeries:
    """A page looked at every hour, showing one version after the other."""
    times = [HOUR * point for point in range(len(versions))]
    return build_series(times, range(len(versions)), [terms(version) for version in versions])


def by_word(lives: WordLifespans) -> dict[int, tuple[int, int, int, int, int]]:
    columns = (lives.first, lives.last, lives.present_points, lives.spells, lives.counts)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return dict(zip(lives.ids.tolist(), rows, strict=True))


versions = st.lists(st.lists(st.integers(1, 12), max_size=8), min_size=1, max_size=6)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[float], list[int], list[TermCounts]]:
    texts = draw(versions)
    looks = draw(st.integers(1, 12))
    hours = draw(st.lists(st.integers(0, 40), min_size=looks, max_size=looks, unique=True))
    shown = draw(st.lists(st.integers(0, len(texts) - 1), min_size=looks, max_size=looks))
    return [HOUR * hour for hour in hours], shown, [terms(text) for text in texts]


def presence(
    series: VersionSeries, step: float
) -> tuple[dict[int, list[int]], dict[int, int], int]:
    """At which grid times each word is there and how often in all, by a plain loop."""
    there: dict[int, list[int]] = {}
    counts: dict[int, int] = {}
    shown = versions_on_grid(series.times, series.version_indices, step).tolist()
    for point, version in enumerate(shown):
        if version < 0:
            continue
        terms = series.terms[version]
        for word, count in zip(terms.hashes.tolist(), terms.counts.tolist(), strict=True):
            there.setdefault(word, []).append(point)
            counts[word] = counts.get(word, 0) + count
    return there, counts, sum(version >= 0 for version in shown)


def spells(places: list[int]) -> int:
    return sum(point - 1 not in places for point in places)


def test_words_are_ordered_by_first_appearance_and_then_by_longevity() -> None:
    lives = word_lifespans(hourly([1, 2], [2, 3], [2, 3, 4]))
    assert lives.ids.tolist() == [2, 1, 3, 4]
    assert lives.first.tolist() == [0, 0, 1, 2]
    assert lives.last.tolist() == [2, 0, 2, 2]


def test_a_word_that_comes_back_has_two_spells() -> None:
    assert by_word(word_lifespans(hourly([1], [2, 2], [1])))[1] == (0, 2, 2, 2, 2)


def test_counts_add_up_over_the_times_a_version_was_there() -> None:
    words = build_series([0.0, 3 * HOUR], [0, 1], [terms([7, 7]), terms([8])])
    assert by_word(word_lifespans(words, step=HOUR))[7] == (0, 2, 3, 1, 6)


def test_a_gap_of_which_nothing_is_known_ends_a_spell_and_counts_for_nothing() -> None:
    words = build_series([0.0, 365 * DAY], [0, 0], [terms([7])])
    lives = word_lifespans(words, step=DAY)
    assert (lives.grid_points, lives.known_points) == (366, 6)
    assert by_word(lives)[7] == (0, 365, 6, 2, 6)
    assert lives.staying_power.tolist() == [1.0]


def test_a_page_without_looks_has_no_words() -> None:
    lives = word_lifespans(build_series([], [], []))
    assert (len(lives), lives.grid_points, lives.known_points) == (0, 0, 0)
    assert len(word_spans(build_series([], [], []), lives)) == 0


def test_a_page_that_was_always_empty_has_no_words_but_known_times() -> None:
    lives = word_lifespans(hourly([], []))
    assert (len(lives), lives.known_points) == (0, 2)


@given(histories())
def test_the_compiled_tally_equals_a_plain_loop(
    history: tuple[list[float], list[int], list[TermCounts]],
) -> None:
    series = build_series(*history)
    lives = word_lifespans(series, step=HOUR)
    there, counts, known_points = presence(series, HOUR)
    assert lives.known_points == known_points
    assert by_word(lives) == {
        word: (places[0], places[-1], len(places), spells(places), counts[word])
        for word, places in there.items()
    }


@given(histories(), st.randoms(use_true_random=False))
def test_lifespans_do_not_depend_on_the_order_of_storage(
    history: tuple[list[float], list[int], list[TermCounts]], chance: Random
) -> None:
    times, shown, words = history
    looks = list(zip(times, shown, strict=True))
    chance.shuffle(looks)
    last = len(words) - 1
    reordered = build_series([t for t, _ in looks], [last - v for _, v in looks], words[::-1])
    a, b = word_lifespans(build_series(*history), step=HOUR), word_lifespans(reordered, step=HOUR)
    assert a.ids.tolist() == b.ids.tolist()
    assert by_word(a) == by_word(b)


@given(histories())
def test_spans_say_when_each_word_was_there(
    history: tuple[list[float], list[int], list[TermCounts]],
) -> None:
    series = build_series(*history)
    lives = word_lifespans(series, step=HOUR)
    drawn = word_spans(series, lives, max_words=None)
    there, _, _ = presence(series, HOUR)
    for row, word in enumerate(lives.ids.tolist()):
        words = drawn.row == row
        stretches = zip(drawn.begins[words].tolist(), drawn.ends[words].tolist(), strict=True)
        assert [at for stretch in stretches for at in range(*stretch)] == there[word]
    assert np.bincount(drawn.row, minlength=len(lives)).tolist() == lives.spells.tolist()


def test_a_picture_of_many_words_is_thinned_and_says_so() -> None:
    series = hourly(range(1, 2000), range(1000, 3000))
    lives = word_lifespans(series)
    drawn = word_spans(series, lives)
    assert (len(drawn.rows), drawn.word_count) == (400, 2999)
    assert (drawn.rows[0], drawn.rows[-1]) == (0, 2998)
    assert (drawn.ends - drawn.begins).sum() == lives.present_points[drawn.rows].sum()
    assert len(word_spans(series, lives, max_words=None).rows) == 2999


def test_many_versions_of_new_words_outgrow_the_first_table() -> None:
    series = hourly(*(range(point * 500 + 1, point * 500 + 600) for point in range(40)))
    lives = word_lifespans(series)
    assert len(lives) == 40 * 500 + 99
    assert set(by_word(lives).values()) == {
        *((point, point, 1, 1, 1) for point in range(40)),
        *((point, point + 1, 2, 1, 2) for point in range(39)),
    }


def test_ten_thousand_versions_take_little_room() -> None:
    count = 10_000
    words = [terms([*range(1, 30), 100 + point]) for point in range(count)]
    series = build_series(HOUR * np.arange(count), range(count), words)
    tracemalloc.start()
    table = term_table(series, EMPTY_LANGUAGE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    assert table.staying_power[:29].tolist() == [1.0] * 29
    assert table.lifespans.present_points[29:].tolist() == [1] * count


def test_staying_power_is_the_share_of_pairs_of_times_that_both_have_a_word() -> None:
    flags = [1, 1, 0, 1]
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    both = sum(flags[a] and flags[b] for a, b in pairs) / len(pairs)
    assert staying_power(np.array([3], np.int32), 4)[0] == pytest.approx(both)


def test_staying_power_of_one_known_time_is_no_number() -> None:
    table = term_table(hourly([1, 2]))
    assert np.isnan(table.staying_power).all()
    assert table.why == "one time is known; staying power needs two"
    assert term_table(build_series([], [], [])).why == "no version is known"


@given(histories())
def test_staying_power_lies_between_nought_and_one(
    history: tuple[list[float], list[int], list[TermCounts]],
) -> None:
    lives = word_lifespans(build_series(*history), step=HOUR)
    power = lives.staying_power
    assert lives.known_points < 2 or bool(np.all((power >= 0) & (power <= 1)))
    assert bool(np.all((lives.share > 0) & (lives.share <= 1)))


languages = st.lists(st.integers(1, 12), max_size=30).map(
    lambda words: language_of_version(terms(words))
)


def spelled(language: LanguageModel) -> tuple[list[int], list[int], int]:
    return language.ids.tolist(), language.counts.tolist(), language.total


@given(languages, languages, languages)
def test_languages_merge_in_any_order(a: LanguageModel, b: LanguageModel, c: LanguageModel) -> None:
    assert spelled(merge_languages(merge_languages(a, b), c)) == spelled(
        merge_languages(a, merge_languages(b, c))
    )
    assert spelled(merge_languages(a, b)) == spelled(merge_languages(b, a))
    assert spelled(merge_languages(a, EMPTY_LANGUAGE)) == spelled(a)


@given(st.lists(st.lists(st.integers(1, 12), max_size=10), max_size=6))
def test_a_merged_language_counts_every_word(texts: list[list[int]]) -> None:
    language = merge_all_languages(language_of_version(terms(text)) for text in texts)
    counted = Counter(word for text in texts for word in text)
    assert dict(zip(language.ids.tolist(), language.counts.tolist(), strict=True)) == counted
    assert language.total == sum(counted.values())


def test_a_language_cut_to_its_most_used_words_keeps_its_length() -> None:
    language = language_of_version(terms([1, 2, 2, 3, 3, 3, 4]))
    assert spelled(most_frequent_words(language, 2)) == ([2, 3], [2, 3], 7)
    assert most_frequent_words(language, 9) is language


@given(st.lists(st.integers(1, 12), min_size=1, max_size=20), languages)
def test_divergence_sums_to_that_of_the_document_from_its_collection(
    text: list[int], others: LanguageModel
) -> None:
    page = terms(text)
    language = merge_languages(others, language_of_version(page))
    collection = dict(zip(language.ids.tolist(), language.counts.tolist(), strict=True))
    expected = sum(
        n / len(text) * log((n / len(text)) / (collection[word] / language.total))
        for word, n in Counter(text).items()
    )
    divergences = word_divergence(page.hashes, page.counts, language)
    assert divergences.sum() == pytest.approx(expected, abs=1e-12)
    assert divergences.sum() >= -1e-12


@given(st.lists(st.integers(1, 12), min_size=1, max_size=20), languages)
def test_words_that_the_collection_lacks_have_a_finite_divergence(
    text: list[int], language: LanguageModel
) -> None:
    page = terms(text)
    divergences = word_divergence(page.hashes, page.counts, language)
    assert np.isfinite(divergences).all()
    assert divergences.sum() >= -1e-12


def test_a_word_that_the_collection_lacks_is_taken_as_met_once() -> None:
    language = language_of_version(terms([1, 1, 1]))
    assert word_divergence(np.array([9], np.uint64), np.array([5]), language)[0] == pytest.approx(
        log(4)
    )


WEB = language_of_version(terms([1] * 50 + [2] * 2 + [3] * 40 + [4] * 2 + [5] * 6))


def test_the_table_parts_words_by_staying_power_and_divergence() -> None:
    looks = [[1, 2], *[[1, 2]] * 8, [1, 2, 3, 4]]
    table = term_table(hourly(*looks), WEB)
    parts = split_terms(table)
    named = [table.ids[rows].tolist() for rows in (parts.stay_high, parts.stay_low)]
    assert named == [[2], [1]]
    assert table.ids[parts.go_high].tolist() == [4]
    assert table.ids[parts.go_low].tolist() == [3]
    assert (parts.stay, parts.go) == (2, 2)


def test_no_word_is_both_high_and_low_and_the_lists_are_short() -> None:
    table = term_table(hourly(*[range(1, 60)] * 3), EMPTY_LANGUAGE)
    parts = split_terms(table, top=40)
    assert not set(parts.stay_high.tolist()) & set(parts.stay_low.tolist())
    assert len(parts.stay_high) + len(parts.stay_low) == 59
    assert len(split_terms(table, top=3).stay_low) == 3


def test_without_a_collection_nothing_is_said_of_divergence() -> None:
    table = term_table(hourly([1], [1]))
    assert np.isnan(table.divergence).all()
    parts = split_terms(table)
    assert (parts.stay, len(parts.stay_high), len(parts.stay_low)) == (1, 0, 0)
    assert len(distinctive_words(table)) == 0


def test_divergence_at_a_time_is_that_of_the_version_shown_then() -> None:
    series = hourly([1, 2], [3, 4], [1, 3])
    for at, version in ((None, 0), (HOUR, 1), (1.5 * HOUR, 1), (9 * HOUR, 2)):
        table = term_table(series, WEB, at=at)
        words = series.terms[version]
        expected = dict(
            zip(words.hashes, word_divergence(words.hashes, words.counts, WEB), strict=True)
        )
        assert table.divergence_at.tolist() == [expected.get(word, 0.0) for word in table.ids]
    assert np.isnan(term_table(series, WEB, at=-1.0).divergence_at).all()


def test_the_most_telling_words_at_a_time_come_first() -> None:
    table = term_table(hourly([1, 2, 4, 4], [1]), WEB)
    assert table.ids[distinctive_words(table)].tolist() == [4, 2]


def test_the_table_gives_times_and_shares() -> None:
    table = term_table(hourly([1], [1, 2], [1], [1]), WEB)
    assert table.ids.tolist() == [1, 2]
    assert table.first.tolist() == [0.0, HOUR]
    assert table.last.tolist() == [3 * HOUR, HOUR]
    assert table.share.tolist() == [1.0, 0.25]
    assert table.staying_power.tolist() == [1.0, 0.0]
    assert table.divergence.sum() == pytest.approx(
        word_divergence(np.array([1, 2], np.uint64), np.array([4, 1]), WEB).sum()
    )
