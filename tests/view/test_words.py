"""Words, their ids and their counts."""

import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import TermCounts
from freshet.view.case_folding import FOLDABLE, fold_text
from freshet.view.character_classes import CODE_POINTS, character_class, class_table
from freshet.view.kernels import words as kernels
from freshet.view.words import count_words, split_words, term_id, vocabulary

SCRIPTS = st.text(
    alphabet="aé'\u2019ßﬁ1 -\u0301\u0302\u0345가각ᄀ가ﾊﾞか\u3099東ไดกิ\ufe0f\u2126İŉ\ud800"
)


def counted_one_by_one(text: str) -> dict[int, int]:
    return Counter(term_id(word) for word in split_words(text))


def as_mapping(terms: TermCounts) -> dict[int, int]:
    return dict(zip(terms.hashes.tolist(), terms.counts.tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" .,;!", []),
        ("Hello, world!", ["hello", "world"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("isn't 'quoted' dogs' o''clock", ["isn't", "quoted", "dogs", "o", "clock"]),
        ("l\u2019été", ["l'été"]),
        ("snake_case 3.14 x2", ["snake", "case", "3", "14", "x2"]),
        ("Straße ﬁne Ⅷ x²", ["strasse", "fine", "viii", "x2"]),
        ("东京abc都", ["东", "京", "abc", "都"]),
        ("カタカナ ｶﾞ", ["カ", "タ", "カ", "ナ", "ガ"]),
        ("한국어 русский", ["한국어", "русский"]),
        ("ดี", ["ด", "ี"]),
        ("e\u0301te\u0301", ["été"]),
        ("葛\ufe00飾", ["葛\ufe00", "飾"]),
        ("हिन्दी", ["हिन्दी"]),
    ],
)
def test_words_follow_the_shared_definition(text: str, expected: list[str]) -> None:
    assert list(split_words(text)) == expected


def test_a_word_is_counted_as_often_as_it_occurs() -> None:
    terms = count_words("Rain rain RAIN sun")
    assert as_mapping(terms) == {term_id("rain"): 3, term_id("sun"): 1}


def test_ids_are_sorted_and_have_the_shared_types() -> None:
    terms = count_words("one two three four two")
    assert terms.hashes.dtype == np.uint64
    assert terms.counts.dtype == np.uint32
    assert np.all(terms.hashes[1:] > terms.hashes[:-1])
    assert terms.total == 5


def test_term_ids_never_move() -> None:
    assert term_id("rain") == 0x3BF8_17F6_E4C3_C51A
    assert term_id("été") == 0xD59B_FD0C_42D1_0428


def test_the_vocabulary_names_every_counted_id() -> None:
    text = "Ein Fluss, l'été, 東京"
    names = vocabulary(text)
    assert {names[term] for term in count_words(text).hashes.tolist()} == set(split_words(text))


@given(st.text())
def test_compiled_and_plain_counts_agree_on_any_text(text: str) -> None:
    assert as_mapping(count_words(text)) == counted_one_by_one(text)


@given(SCRIPTS)
def test_compiled_and_plain_counts_agree_where_characters_join(text: str) -> None:
    assert as_mapping(count_words(text)) == counted_one_by_one(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_compiled_and_plain_counts_agree_on_ascii(text: str) -> None:
    assert as_mapping(count_words(text)) == counted_one_by_one(text)


def test_the_class_table_agrees_with_the_plain_class_of_every_character() -> None:
    plain = np.fromiter(map(character_class, map(chr, range(CODE_POINTS))), np.uint8)
    assert np.array_equal(class_table(), plain)


def test_characters_outside_the_foldable_ranges_fold_to_themselves() -> None:
    foldable = {code for span in FOLDABLE for code in span}
    unfoldable = [chr(code) for code in range(CODE_POINTS) if code not in foldable]
    assert [char for char in unfoldable if fold_text(char) != char] == []
    assert [char for char in unfoldable if unicodedata.combining(char)] == []


def test_ids_made_to_collide_are_counted_by_sorting_instead() -> None:
    ids = np.arange(20_000, dtype=np.uint64) << np.uint64(40)
    assert len(kernels.count_ids(ids)[0]) == 0


def test_words_made_to_collide_are_still_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = np.empty(0, np.uint64), np.empty(0, np.uint32)
    monkeypatch.setattr(kernels, "count_ids", lambda ids: empty)
    assert as_mapping(count_words("a b a")) == {term_id("a"): 2, term_id("b"): 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\u2699\ufe0f", []),
        ("\u2764\ufe0f love", ["love"]),
        ("#\ufe0f\u20e3", []),
        ("1\ufe0f\u20e3 a", ["1\ufe0f\u20e3", "a"]),
        ("\u2764\ufe0f\u200d\U0001f525", []),
        ("\u845b\U000e0100", ["\u845b\U000e0100"]),
    ],
)
def test_the_variation_selector_of_an_emoji_is_no_word(text: str, words: list[str]) -> None:
    assert list(split_words(text)) == words
    assert sorted(count_words(text).hashes.tolist()) == sorted(map(term_id, words))
