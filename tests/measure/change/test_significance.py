from collections.abc import Callable
from math import erfc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import TermCounts
from freshet.measure.change.significance import is_significant, p_value, two_sample_p_value

MakeTerms = Callable[[str], TermCounts]

counts = st.lists(st.integers(1, 300), max_size=40)


def in_order(numbers: list[int]) -> TermCounts:
    return TermCounts(np.arange(len(numbers), dtype=np.uint64), np.array(numbers, dtype=np.uint32))


def front_page(day: int) -> str:
    furniture = "the of and to in a is that for it " * 12
    stories = " ".join(f"story{day}word{number}" for number in range(200))
    return furniture + stories


def test_two_empty_pages_do_not_differ(terms_of: MakeTerms) -> None:
    assert not is_significant(terms_of(""), terms_of(""))
    assert (
        p_value(terms_of(""), terms_of("")) == two_sample_p_value(terms_of(""), terms_of("")) == 1
    )


def test_a_page_that_became_empty_differs(terms_of: MakeTerms) -> None:
    assert is_significant(terms_of("some words"), terms_of(""))
    assert is_significant(terms_of(""), terms_of("some words"))
    assert two_sample_p_value(terms_of(""), terms_of("some words")) == 0


def test_a_replaced_front_page_differs(terms_of: MakeTerms) -> None:
    assert is_significant(terms_of(front_page(1)), terms_of(front_page(2)))


def test_the_pooled_test_is_blind_to_a_replaced_front_page(terms_of: MakeTerms) -> None:
    assert two_sample_p_value(terms_of(front_page(1)), terms_of(front_page(2))) > 0.99


def test_one_new_word_on_a_long_page_is_chance(terms_of: MakeTerms) -> None:
    page = front_page(1)
    assert not is_significant(terms_of(page), terms_of(f"{page} word"))


def test_the_level_decides(terms_of: MakeTerms) -> None:
    old, new = terms_of("a " * 50 + "b " * 50), terms_of("a " * 42 + "b " * 58)
    assert 0.05 < p_value(old, new) < 0.2
    assert not is_significant(old, new)
    assert is_significant(old, new, level=0.2)


def test_the_default_expects_the_old_shares_with_one_half_added() -> None:
    old, new = in_order([19, 9]), in_order([24, 6])
    first, second = 30 * 19.5 / 29, 30 * 9.5 / 29
    statistic = (24 - first) ** 2 / first + (6 - second) ** 2 / second
    assert p_value(old, new) == pytest.approx(erfc((statistic / 2) ** 0.5))


def test_the_pooled_test_sees_frequent_words_shift() -> None:
    assert two_sample_p_value(in_order([90, 10]), in_order([10, 90])) < 1e-6


def test_a_page_of_one_word_cannot_differ_in_distribution(terms_of: MakeTerms) -> None:
    assert p_value(terms_of("tick"), terms_of("tick tick tick")) == 1


@given(counts)
def test_a_page_does_not_differ_from_itself(numbers: list[int]) -> None:
    page = in_order(numbers)
    assert not is_significant(page, page)
    assert two_sample_p_value(page, page) == pytest.approx(1)


@given(counts, counts)
def test_chances_lie_between_nought_and_one(old: list[int], new: list[int]) -> None:
    assert 0 <= p_value(in_order(old), in_order(new)) <= 1
    assert 0 <= two_sample_p_value(in_order(old), in_order(new)) <= 1
