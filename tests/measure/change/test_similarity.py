from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import TermCounts
from freshet.measure.change.similarity import (
    align_counts,
    dice,
    l1_distance,
    l2_distance,
    words_changed,
)

MakeTerms = Callable[[str], TermCounts]

counts = st.dictionaries(
    st.integers(0, 2**64 - 1) | st.integers(0, 5), st.integers(1, 1000), max_size=12
)


def as_terms(counted: dict[int, int]) -> TermCounts:
    ids = sorted(counted)
    return TermCounts(
        np.array(ids, dtype=np.uint64),
        np.array([counted[term] for term in ids], dtype=np.uint32),
    )


def test_two_empty_pages_are_equal(terms_of: MakeTerms) -> None:
    nothing = terms_of("")
    assert dice(nothing, nothing) == 1
    assert words_changed(nothing, nothing) == 0
    assert l1_distance(nothing, nothing) == l2_distance(nothing, nothing) == 0


def test_an_empty_page_shares_nothing_with_a_full_one(terms_of: MakeTerms) -> None:
    assert dice(terms_of(""), terms_of("one two")) == 0
    assert words_changed(terms_of("one two"), terms_of("")) == 2


def test_dice_counts_each_word_once(terms_of: MakeTerms) -> None:
    assert dice(terms_of("a a b"), terms_of("a c c c")) == pytest.approx(0.5)


def test_a_replaced_word_is_one_that_went_and_one_that_came(terms_of: MakeTerms) -> None:
    assert words_changed(terms_of("rain in spain"), terms_of("sun in spain")) == 2


def test_distances_are_of_shares_and_not_of_counts(terms_of: MakeTerms) -> None:
    assert l1_distance(terms_of("a b"), terms_of("a b a b")) == 0
    assert l1_distance(terms_of("a a a b"), terms_of("a b b b")) == pytest.approx(1.0)
    assert l2_distance(terms_of("a a a b"), terms_of("a b b b")) == pytest.approx(0.5**0.5)


def test_pages_without_a_common_word_are_as_far_apart_as_can_be(terms_of: MakeTerms) -> None:
    assert l1_distance(terms_of("a b"), terms_of("c d")) == pytest.approx(2.0)


@given(counts, counts)
def test_alignment_keeps_every_count(a: dict[int, int], b: dict[int, int]) -> None:
    aligned = align_counts(as_terms(a), as_terms(b))
    expected = [(a.get(term, 0), b.get(term, 0)) for term in sorted(a.keys() | b.keys())]
    assert list(zip(aligned.old.tolist(), aligned.new.tolist(), strict=True)) == expected


@given(counts, counts)
def test_measures_are_bounded_and_symmetric(a: dict[int, int], b: dict[int, int]) -> None:
    x, y = as_terms(a), as_terms(b)
    assert 0 <= dice(x, y) == dice(y, x) <= 1
    assert 0 <= words_changed(x, y) == words_changed(y, x) <= x.total + y.total
    assert l1_distance(x, y) == pytest.approx(l1_distance(y, x))
    assert 0 <= l2_distance(x, y) <= l1_distance(x, y) + 1e-9 <= 2 + 2e-9


@given(counts)
def test_a_page_is_equal_to_itself(a: dict[int, int]) -> None:
    x = as_terms(a)
    assert dice(x, x) == 1
    assert words_changed(x, x) == l1_distance(x, x) == l2_distance(x, x) == 0


@given(counts, counts)
def test_dice_is_one_for_equal_word_sets_only(a: dict[int, int], b: dict[int, int]) -> None:
    assert (dice(as_terms(a), as_terms(b)) == 1) == (a.keys() == b.keys())
