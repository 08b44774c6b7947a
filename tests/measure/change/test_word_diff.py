from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from freshet.measure.change.sequence_matching import match_sequences
from freshet.measure.change.word_diff import DiffKind, DiffPiece, diff_hunks, word_diff

texts = st.text(alphabet="ab ,.\n漢字é", max_size=60) | st.text(max_size=40)


def joined(pieces: Iterable[DiffPiece], *kinds: DiffKind) -> str:
    return "".join(piece.text for piece in pieces if piece.kind in kinds)


def spelled(pieces: Iterable[DiffPiece]) -> list[str]:
    marks = {DiffKind.SAME: " ", DiffKind.REMOVED: "-", DiffKind.ADDED: "+"}
    return [marks[piece.kind] + piece.text for piece in pieces]


def test_equal_texts_are_one_piece() -> None:
    assert word_diff("calm seas", "calm seas") == [DiffPiece(DiffKind.SAME, "calm seas")]
    assert word_diff("", "") == []


def test_a_changed_word_stands_alone() -> None:
    assert spelled(word_diff("Price: 10 euro today", "Price: 12 euro today")) == [
        " Price: ", "-10", "+12", "  euro today",
    ]  # fmt: skip


def test_a_new_line_is_added_whole() -> None:
    assert spelled(word_diff("one\nthree\n", "one\ntwo\nthree\n")) == [
        " one\n", "+two\n", " three\n",
    ]  # fmt: skip


def test_a_replaced_paragraph_is_not_cut_into_crumbs() -> None:
    old = "Heads of the states met in the old town of Ghent, and spoke of the harvest.\n"
    new = "Rain is due on the coast by noon, says the weather office in its last note.\n"
    assert spelled(word_diff(old, new)) == [f"-{old}", f"+{new}"]


def test_punctuation_alone_does_not_part_a_change() -> None:
    pieces = word_diff("The long title stays here: alpha, beta", "The long title stays here: x, y")
    assert spelled(pieces) == [" The long title stays here: ", "-alpha, beta", "+x, y"]


def test_a_line_break_in_both_texts_is_no_part_of_a_change() -> None:
    old = "open: true\nowner: null.\n\nname: a\n"
    new = "open: false\nowner: Ada.\n\nname: a\n"
    assert spelled(word_diff(old, new)) == [
        " open: ", "-true", "+false", " \nowner: ", "-null.", "+Ada.", " \n\nname: a\n",
    ]  # fmt: skip


def test_text_without_spaces_is_compared_by_character() -> None:
    assert spelled(word_diff("今日は晴れです", "今日は雨です")) == [
        " 今日は", "-晴れ", "+雨", " です",
    ]  # fmt: skip


@given(texts, texts)
def test_pieces_join_to_both_texts(old: str, new: str) -> None:
    pieces = word_diff(old, new)
    assert joined(pieces, DiffKind.SAME, DiffKind.REMOVED) == old
    assert joined(pieces, DiffKind.SAME, DiffKind.ADDED) == new


@given(texts, texts)
def test_no_two_neighbours_have_the_same_fate_and_none_is_empty(old: str, new: str) -> None:
    pieces = word_diff(old, new)
    kinds = [piece.kind for piece in pieces]
    assert all(a != b for a, b in pairwise(kinds))
    assert all(piece.text for piece in pieces)


items = st.lists(st.sampled_from("abcdef"), max_size=40)


@given(items, items)
def test_matches_are_equal_and_rise_on_both_sides(a: list[str], b: list[str]) -> None:
    pairs = match_sequences(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in pairwise(pairs))


@given(items)
def test_a_sequence_matches_itself_throughout(a: list[str]) -> None:
    assert match_sequences(a, a) == [(number, number) for number in range(len(a))]


def test_long_texts_that_difflib_would_chew_on_are_done_at_once() -> None:
    old = " ".join(f"w{number % 50} x{number % 7}" for number in range(20_000))
    new = " ".join(f"w{number % 49} y{number % 11}" for number in range(20_000))
    pieces = word_diff(old, new)
    assert joined(pieces, DiffKind.SAME, DiffKind.ADDED) == new


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(count))


def test_a_hunk_has_a_few_lines_around_its_change() -> None:
    hunks = diff_hunks(word_diff(numbered(20), numbered(20).replace("line 10\n", "changed\n")))
    assert len(hunks) == 1
    assert spelled(hunks[0]) == [
        " line 7\nline 8\nline 9\n", "-line 10\n", "+changed\n", " line 11\nline 12\nline 13\n",
    ]  # fmt: skip


def test_near_changes_share_a_hunk_and_far_ones_do_not() -> None:
    old = numbered(40)
    near = old.replace("line 10\n", "").replace("line 14\n", "")
    far = old.replace("line 10\n", "").replace("line 30\n", "")
    assert len(diff_hunks(word_diff(old, near))) == 1
    assert len(diff_hunks(word_diff(old, far))) == 2


def test_without_context_only_the_changes_are_left() -> None:
    hunks = diff_hunks(word_diff(numbered(9), numbered(9).replace("line 4\n", "")), context=0)
    assert [spelled(hunk) for hunk in hunks] == [["-line 4\n"]]


def test_equal_texts_have_no_hunks() -> None:
    assert diff_hunks(word_diff("same", "same")) == []


def test_context_is_bounded_where_a_text_has_no_lines() -> None:
    long = "word " * 5_000
    hunks = diff_hunks(word_diff(f"{long}old {long}", f"{long}new {long}"))
    assert sum(len(piece.text) for piece in hunks[0]) < 2_000


@given(texts, texts, st.integers(0, 4))
def test_hunks_keep_every_change(old: str, new: str, context: int) -> None:
    pieces = word_diff(old, new)
    shown = [piece for hunk in diff_hunks(pieces, context=context) for piece in hunk]
    changed = (DiffKind.REMOVED, DiffKind.ADDED)
    assert [p for p in shown if p.kind in changed] == [p for p in pieces if p.kind in changed]
