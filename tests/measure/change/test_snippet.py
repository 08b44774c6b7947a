import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.measure.change.snippet import snippet

texts = st.text(alphabet="ab ,.\n漢字é", max_size=60) | st.text(max_size=40)
STORY = (
    "The council met on Monday. It spoke of the harvest and of the roads, as it does each year. "
    "The mayor thanked all who had come."
)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_a_snippet_is_what_the_old_text_lacks() -> None:
    old = "Home\nNews of the day\nAbout"
    new = "Home\nFlood closes two bridges\nNews of the day\nAbout"
    assert snippet(old, new) == "Flood closes two bridges"


def test_a_line_that_only_moved_or_stands_twice_is_not_new() -> None:
    assert snippet("Home\nNews\nAbout us", "About us\nHome\nNews\nHome") == ""


def test_a_snippet_prefers_the_line_with_more_new_words_when_room_is_short() -> None:
    new = "a b c\nnew words galore indeed\nb c a"
    assert snippet("a b c\n", new, limit=24) == "new words galore indeed"


def test_a_changed_word_is_shown_with_its_sentence() -> None:
    old, new = "Price: 10 euro today", "Price: 12 euro today"
    assert snippet(old, new) == "Price: 12 euro today"


def test_a_new_sentence_is_shown_without_those_around_it() -> None:
    new = STORY.replace("The mayor", "A bridge will be built by spring. The mayor")
    assert snippet(STORY, new) == "A bridge will be built by spring."


def test_a_change_deep_in_a_long_line_is_shown_with_a_little_around_it() -> None:
    line = " ".join(f"item{place}" for place in range(400))
    shown = snippet(line, line.replace("item200 ", "item200 marmalade "))
    assert shown.startswith("…item19")
    assert set(shown.strip("…").split()) <= {*line.split(), "marmalade"}
    assert "item200 marmalade item201" in shown
    assert shown.endswith("…")
    assert len(shown) < 120


def test_neighbouring_sentences_follow_each_other_and_others_are_parted() -> None:
    old = "Alpha stands here first.\nOmega closes the page."
    came = "Rain fell on the hills. Rivers rose by noon."
    new = f"{came}\nAlpha stands here first.\nStorks returned today.\nOmega closes the page."
    assert snippet(old, new) == f"{came} … Storks returned today."


def test_the_most_telling_lines_win_where_not_all_fit() -> None:
    dull = "".join(f"the old words again {place}\n" for place in range(40))
    telling = "Volcano erupts near Grindavik, thousands flee overnight\n"
    assert snippet("the old words again\n", dull + telling, limit=60) == telling.strip()


def test_numbers_are_no_great_news() -> None:
    new = "Views 48213 77 1290 553 9920\nMinister resigns over letter\n"
    assert snippet("Views\n", new, limit=40) == "Minister resigns over letter"


def test_the_same_news_is_told_once() -> None:
    head = "Minister resigns over letter"
    new = f"{head}\nMore news\n{head}: live\nEditors\n"
    assert snippet("More news\nEditors\n", new).count("Minister resigns") == 1


def test_words_that_come_and_go_are_no_great_news() -> None:
    old, new = "Home\n", "Home\nGreat lamps by Lumina Works\nHarbour closed after storm\n"
    earlier = ["Home\nGreat lamps by Lumina Works\n"] * 3
    assert snippet(old, new, limit=30) == "Great lamps by Lumina Works"
    assert snippet(old, new, limit=30, earlier=earlier) == "Harbour closed after storm"


def test_a_snippet_of_one_long_line_ends_at_a_word() -> None:
    assert snippet("", "seven words are far too many here", limit=15) == "seven words…"


def test_a_value_that_stands_elsewhere_too_is_shown_with_its_line() -> None:
    old = "Chart contest. $50,000\nSticker contest. $25,000\n"
    new = "Chart contest. $50,000\nSticker contest. $50,000\n"
    assert snippet(old, new) == "Sticker contest. $50,000"


def test_text_without_spaces_has_snippets_too() -> None:
    old = "今日は晴れです。" * 20
    assert snippet(old, f"{old}橋が二つ閉鎖された。") == "橋が二つ閉鎖された。"
    assert len(snippet("", "橋" * 1000)) == 300


def test_a_word_without_end_is_cut() -> None:
    shown = snippet("", "x" * 5000)
    assert shown == "x" * 299 + "…"


@pytest.mark.parametrize("shift", range(6))
def test_what_is_drawn_as_one_is_not_cut_apart(shift: int) -> None:
    shown = snippet("", "w" * (20 + shift) + FAMILY * 20, limit=40)
    assert len(shown) <= 40
    assert not shown.rstrip("…").endswith("\u200d")
    assert shown.rstrip("…").count("\U0001f468") == shown.count("\U0001f467")


def test_an_accent_stays_with_its_letter() -> None:
    shown = snippet("", "e\u0301" * 200, limit=10)
    assert unicodedata.normalize("NFC", shown.rstrip("…")) == "é" * 4


def test_nothing_new_gives_no_snippet() -> None:
    assert snippet("one two", "one") == snippet("", "") == snippet("same", "same") == ""


@given(texts, texts, st.integers(1, 30))
def test_a_snippet_stays_within_its_limit(old: str, new: str, limit: int) -> None:
    assert len(snippet(old, new, limit=limit)) <= limit


@given(st.text(max_size=1200), st.lists(texts, max_size=3))
def test_a_snippet_stays_within_three_hundred_characters(new: str, earlier: list[str]) -> None:
    assert len(snippet("", new, earlier=earlier)) <= 300


@given(texts, texts)
def test_a_snippet_is_made_of_the_new_text(old: str, new: str) -> None:
    plain = " ".join(new.split())
    for part in snippet(old, new, limit=30).split(" … "):
        assert all(piece in plain for piece in part.strip("…").split())
