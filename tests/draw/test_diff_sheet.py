from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from freshet.draw.diff_sheet import render_diff_sheet
from freshet.measure.change.word_diff import DiffKind, DiffPiece

HOSTILE = '</del><script>alert(1)</script><img src=x onerror="go()"> & "quotes"'


class Reader(HTMLParser):
    """Which elements a page has, and what text the part that shows the difference holds."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page.partition('<div class="text"')[2].partition("</main>")[0])

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def same(text: str) -> DiffPiece:
    return DiffPiece(DiffKind.SAME, text)


def removed(text: str) -> DiffPiece:
    return DiffPiece(DiffKind.REMOVED, text)


def added(text: str) -> DiffPiece:
    return DiffPiece(DiffKind.ADDED, text)


def test_removed_and_added_text_is_marked() -> None:
    page = render_diff_sheet(
        "https://example.org/", ["a fact"], [same("at "), removed("ten"), added("six")]
    )
    assert "at <del>ten</del><ins>six</ins>" in page
    assert '<p class="facts">a fact</p>' in page


def test_text_of_a_page_is_never_markup() -> None:
    page = render_diff_sheet(
        HOSTILE,
        [HOSTILE],
        [added(HOSTILE)],
        new_links=(f"javascript:{HOSTILE}",),
        removed_links=(HOSTILE,),
    )
    assert set(Reader(page).tags) <= {"ins", "del", "h2", "ul", "li"}
    assert HOSTILE not in page
    assert "<script" not in page
    assert "<img" not in page


def test_long_unchanged_text_is_folded() -> None:
    unchanged = "".join(f"line {number}\n" for number in range(50))
    page = render_diff_sheet("t", [], [added("new\n"), same(unchanged), added("end")])
    assert "44 lines stayed the same" in page
    assert page.index("line 2\n") < page.index("<details>") < page.index("line 3\n")
    assert page.index("line 46\n") < page.index("</details>") < page.index("line 47\n")


def test_short_unchanged_text_is_not_folded() -> None:
    unchanged = "".join(f"line {number}\n" for number in range(8))
    page = render_diff_sheet("t", [], [added("a"), same(unchanged), added("b")])
    assert "<details>" not in page


def test_two_versions_without_text_say_so() -> None:
    assert "Neither version has any text." in render_diff_sheet("t", [], [])


def test_control_characters_are_replaced_and_the_sheet_can_be_written() -> None:
    page = render_diff_sheet("t", [], [added("a\x00b\x1b[31m\u202ec\ud800")])
    assert "a\ufffdb\ufffd[31m\ufffdc\ufffd" in page
    assert page.encode()


texts = st.text("ab<>&\"' ", min_size=1, max_size=30)
diff_pieces = st.builds(DiffPiece, st.sampled_from(DiffKind), texts)


@given(st.lists(diff_pieces, min_size=1, max_size=6))
def test_the_sheet_has_the_whole_text(pieces: list[DiffPiece]) -> None:
    text = Reader(render_diff_sheet("t", [], pieces)).text
    assert text.partition(">")[2].strip("\n") == "".join(piece.text for piece in pieces)
