import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.measure.change.snippet import make_snippet

texts = st.text(alphabet="ab ,.\n漢字é", max_size=60) | st.text(max_size=40)
STORY = (
    "The council met on Monday. It spoke of the harvest and of the roads, as it does each year. "
    "The mayor thanked all who had come."
)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_a_snippet_is_what_the_old_text_lacks() -> None:
    old = "Home\nNews of the day\nAbout"
    new = "Home\nFlood closes two bridges\nNews of the day\nAbout"
    assert make_snippet(old, new) == "Flood closes two bridges"


def test_a_line_that_only_moved_or_stands_twice_is_not_new() -> None:
    assert make_snippet("Home\nNews\nAbout us", "About us\nHome\nNews\nHome") == ""


def test_a_snippet_prefers_the_line_with_more_new_words_when_room_is_short() -> None:
    new = "a b c\nnew words galore indeed\nb c a"
    assert make_snippet("a b c\n", new, max_chars=24) == "new words galore indeed"


def test_a_changed_word_is_shown_with_its_sentence() -> None:
    old, new = "Price: 10 euro today", "Price: 12 euro today"
    assert make_snippet(old, new) == "Price: 12 euro today"


def test_a_new_sentence_is_shown_without_those_around_it() -> None:
    new = STORY.replace("The mayor", "A bridge will be built by spring. The mayor")
    assert make_snippet(STORY, new) == "A bridge will be built by spring."


def test_a_change_deep_in_a_long_line_is_shown_with_a_little_around_it() -> None:
    line = " ".join(f"item{number}" for number in range(400))
    shown = make_snippet(line, line.replace("item200 ", "item200 marmalade "))
    assert shown.startswith("…item19")
    assert set(shown.strip("…").split()) <= {*line.split(), "marmalade"}
    assert "item200 marmalade item201" in shown
    assert shown.endswith("…")
    assert len(shown) < 120


def test_neighbouring_sentences_follow_each_other_and_others_are_parted() -> None:
    old = "Alpha stands here first.\nOmega closes the page."
    came = "Rain fell on the hills. Rivers rose by noon."
    new = f"{came}\nAlpha stands here first.\nStorks returned today.\nOmega closes the page."
    assert make_snippet(old, new) == f"{came} … Storks returned today."


def test_the_most_telling_lines_win_where_not_all_fit() -> None:
    dull = "".join(f"the old words again {number}\n" for number in range(40))
    telling = "Volcano erupts near Grindavik, thousands flee overnight\n"
    assert make_snippet("the old words again\n", dull + telling, max_chars=60) == telling.strip()


def test_numbers_are_no_great_news() -> None:
    new = "Views 48213 77 1290 553 9920\nMinister resigns over letter\n"
    assert make_snippet("Views\n", new, max_chars=40) == "Minister resigns over letter"


def test_the_same_change_is_reported_once() -> None:
    head = "Minister resigns over letter"
    new = f"{head}\nMore news\n{head}: live\nEditors\n"
    assert make_snippet("More news\nEditors\n", new).count("Minister resigns") == 1


def test_words_that_come_and_go_are_no_great_news() -> None:
    old, new = "Home\n", "Home\nGreat lamps by Lumina Works\nHarbour closed after storm\n"
    earlier = ["Home\nGreat lamps by Lumina Works\n"] * 3
    assert make_snippet(old, new, max_chars=30) == "Great lamps by Lumina Works"
    assert (
        make_snippet(old, new, max_chars=30, earlier_texts=earlier) == "Harbour closed after storm"
    )


def test_a_snippet_of_one_long_line_ends_at_a_word() -> None:
    assert make_snippet("", "seven words are far too many here", max_chars=15) == "seven words…"


def test_a_value_that_stands_elsewhere_too_is_shown_with_its_line() -> None:
    old = "Chart contest. $50,000\nSticker contest. $25,000\n"
    new = "Chart contest. $50,000\nSticker contest. $50,000\n"
    assert make_snippet(old, new) == "Sticker contest. $50,000"


def test_text_without_spaces_has_snippets_too() -> None:
    old = "今日は晴れです。" * 20
    assert make_snippet(old, f"{old}橋が二つ閉鎖された。") == "橋が二つ閉鎖された。"
    assert len(make_snippet("", "橋" * 1000)) == 300


def test_a_word_without_end_is_cut() -> None:
    shown = make_snippet("", "x" * 5000)
    assert shown == "x" * 299 + "…"


@pytest.mark.parametrize("shift", range(6))
def test_what_is_drawn_as_one_is_not_cut_apart(shift: int) -> None:
    shown = make_snippet("", "w" * (20 + shift) + FAMILY * 20, max_chars=40)
    assert len(shown) <= 40
    assert not shown.rstrip("…").endswith("\u200d")
    assert shown.rstrip("…").count("\U0001f468") == shown.count("\U0001f467")


def test_an_accent_stays_with_its_letter() -> None:
    shown = make_snippet("", "e\u0301" * 200, max_chars=10)
    assert unicodedata.normalize("NFC", shown.rstrip("…")) == "é" * 4


def test_nothing_new_gives_no_snippet() -> None:
    assert (
        make_snippet("one two", "one") == make_snippet("", "") == make_snippet("same", "same") == ""
    )


@given(texts, texts, st.integers(1, 30))
def test_a_snippet_stays_within_its_limit(old: str, new: str, limit: int) -> None:
    assert len(make_snippet(old, new, max_chars=limit)) <= limit


@given(st.text(max_size=1200), st.lists(texts, max_size=3))
def test_a_snippet_stays_within_three_hundred_characters(new: str, earlier: list[str]) -> None:
    assert len(make_snippet("", new, earlier_texts=earlier)) <= 300


@given(texts, texts)
def test_a_snippet_is_made_of_the_new_text(old: str, new: str) -> None:
    plain = " ".join(new.split())
    for passage in make_snippet(old, new, max_chars=30).split(" … "):
        assert all(piece in plain for piece in passage.strip("…").split())
