import pytest

from freshet.measure.noise.line_pattern import common_pattern, line_shape, literal_pattern
from freshet.measure.noise.mask import Mask, MaskRule, visible_text


def pattern(*texts: str) -> str:
    pattern_text = common_pattern(texts)
    assert pattern_text is not None
    return pattern_text


def test_numbers_that_differ_are_left_open() -> None:
    assert pattern("3 of 40 seats left", "12 of 40 seats left") == "# of 40 seats left"


def test_a_date_is_left_open_as_a_whole() -> None:
    first, second = "Made on Monday, 3 May 2026 at 9:05:01", "Made on Monday, 3 May 2026 at 9:05:02"
    pattern_text = pattern(first, second)
    tomorrow = "Made on Friday, 31 December 2027 at 23:59:59"
    assert visible_text(tomorrow, Mask(1, (MaskRule(pattern_text),))) == ""


def test_a_word_between_numbers_is_left_open_as_a_month_of_any_language() -> None:
    assert pattern("Dnia 3 maja 2026", "Dnia 4 maja 2026") == "Dnia # maja 2026"
    assert pattern("Dnia 3 maja 2026 9", "Dnia 4 maja 2026 8") == "Dnia # * # #"


def test_words_that_differ_are_left_open_together() -> None:
    assert pattern("Advert: buy red tea", "Advert: sell an old boat") == "Advert: *"
    assert pattern("Advert: buy tea", "Advert: sell boats") == "Advert: *"


def test_only_the_sentence_around_a_number_is_part_of_it() -> None:
    texts = [f"We are open. It was seen {n} times. Come in!" for n in (5, 6)]
    assert pattern(*texts) == "It was seen # times"


def test_signs_of_patterns_are_taken_as_they_are() -> None:
    pattern_text = pattern("Rule #7 * seen 5", "Rule #7 * seen 6")
    assert visible_text("Rule #7 * seen 812", Mask(1, (MaskRule(pattern_text),))) == ""
    assert pattern("/tmp holds 3 files", "/tmp holds 4 files").startswith("\\/")


@pytest.mark.parametrize(
    "texts", [("12", "13"), ("9:05", "9:06"), ("red", "blue"), ("a 1", "a 2"), ("x", "x"), ()]
)
def test_too_little_in_common_makes_no_pattern(texts: tuple[str, ...]) -> None:
    assert common_pattern(texts) is None


def test_what_follows_words_may_be_too_little_to_tell_them() -> None:
    texts = ["buy red tea by tomorrow evening", "sell an old boat by tomorrow evening"]
    assert common_pattern(texts) == "* by tomorrow evening"
    assert common_pattern(texts, words_after=False) is None


def test_a_short_line_is_no_pattern_of_its_own() -> None:
    assert literal_pattern("More") is None
    assert literal_pattern("/More of the harbour*") == "\\/More of the harbour\\*"


def test_units_of_time_do_not_part_lines_of_one_shape() -> None:
    assert line_shape("3 minutes ago") == line_shape("1 hour ago")
    assert pattern("Posted 3 minutes ago", "Posted 1 hour ago") == "Posted # * ago"
