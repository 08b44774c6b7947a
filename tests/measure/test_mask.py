import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.errors import SettingsError
from freshet.measure.mask import LONGEST_PATTERN, NO_MASK, Mask, visible_text


def masked(text: str, *patterns: str) -> str:
    return visible_text(text, Mask(1, patterns))


def test_literal_text_is_hidden_wherever_it_stands() -> None:
    assert masked("Advert. News. Advert. More.", "Advert.") == "News. More."


def test_a_hash_sign_stands_for_a_number() -> None:
    assert masked("Seen 1024 times today", "Seen # times") == "today"
    assert masked("Seen many times today", "Seen # times") == "Seen many times today"


def test_a_star_runs_to_the_nearest_fit_on_its_line() -> None:
    assert masked("[ad one] news [ad two] more", "[*]") == "news more"
    assert masked("[open\nnever closed]", "[*]") == "[open never closed]"


def test_a_star_at_the_end_hides_the_rest_of_the_line() -> None:
    assert masked("Views: 12, likes: 3\nText", "Views:*") == "Text"


def test_a_star_in_front_reaches_back_on_its_line() -> None:
    assert masked("Title\n3 minutes ago\nText", "*ago") == "Title Text"


def test_a_space_fits_any_white_space() -> None:
    assert masked("Updated\n  5\tminutes ago", "Updated # minutes ago") == ""


def test_a_backslash_takes_the_next_character_as_it_is() -> None:
    assert masked("5 * 3 and 5 x 3", r"5 \* 3") == "and 5 x 3"
    assert masked("take #7 now", r"\##") == "take now"


def test_characters_of_regular_expressions_are_plain() -> None:
    assert masked("a+b (c) [d] e|f", "a+b", "(c)", "e|f") == "[d]"


def test_no_mask_hides_nothing() -> None:
    assert visible_text(" all  of\nit ", NO_MASK) == "all of it"


@pytest.mark.parametrize("pattern", ["", "  ", "*", " * * "])
def test_a_pattern_that_hides_everything_is_refused(pattern: str) -> None:
    with pytest.raises(SettingsError, match="give it text"):
        masked("text", pattern)


def test_an_endless_pattern_is_refused() -> None:
    with pytest.raises(SettingsError, match="use at most"):
        masked("text", "x" * (LONGEST_PATTERN + 1))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a*a*a*a*a*a*a*a*b", "a" * 50_000),
        ("#x", "1" * 50_000),
        ("# # # x", "1 " * 25_000),
        (" a", " " * 50_000),
    ],
)
def test_patterns_that_would_try_for_ever_end_soon(pattern: str, text: str) -> None:
    assert masked(text, pattern) == " ".join(text.split())


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_pattern_is_refused_or_leaves_a_shorter_text(pattern: str, text: str) -> None:
    try:
        left = masked(text, pattern)
    except SettingsError:
        return
    assert len(left) <= len(visible_text(text, NO_MASK)) + text.count(pattern)
