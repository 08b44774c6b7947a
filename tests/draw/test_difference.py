from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from freshet.draw.diff_sheet import ADDED, REMOVED, SAME, DiffSheet, render_diff_sheet

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


def test_what_went_and_came_is_marked() -> None:
    page = render_diff_sheet(
        DiffSheet(
            "https://example.org/", ["a fact"], [(SAME, "at "), (REMOVED, "ten"), (ADDED, "six")]
        )
    )
    assert "at <del>ten</del><ins>six</ins>" in page
    assert '<p class="facts">a fact</p>' in page


def test_what_a_page_says_is_never_markup() -> None:
    sheet = DiffSheet(
        HOSTILE, [HOSTILE], [(ADDED, HOSTILE)], (f"javascript:{HOSTILE}",), (HOSTILE,)
    )
    page = render_diff_sheet(sheet)
    assert set(Reader(page).tags) <= {"ins", "del", "h2", "ul", "li"}
    assert HOSTILE not in page
    assert "<script" not in page
    assert "<img" not in page


def test_long_stretches_that_stayed_are_folded_but_kept() -> None:
    stayed = "".join(f"line {place}\n" for place in range(50))
    page = render_diff_sheet(DiffSheet("t", [], [(ADDED, "new\n"), (SAME, stayed), (ADDED, "end")]))
    assert "44 lines stayed the same" in page
    assert page.index("line 2\n") < page.index("<details>") < page.index("line 3\n")
    assert page.index("line 46\n") < page.index("</details>") < page.index("line 47\n")


def test_short_stretches_are_not_folded() -> None:
    stayed = "".join(f"line {place}\n" for place in range(8))
    assert "<details>" not in render_diff_sheet(
        DiffSheet("t", [], [(ADDED, "a"), (SAME, stayed), (ADDED, "b")])
    )


def test_two_versions_without_text_say_so() -> None:
    assert "Neither version has any text." in render_diff_sheet(DiffSheet("t", [], []))


def test_characters_that_steer_are_replaced_and_the_sheet_can_be_written() -> None:
    page = render_diff_sheet(DiffSheet("t", [], [(ADDED, "a\x00b\x1b[31m\u202ec\ud800")]))
    assert "a\ufffdb\ufffd[31m\ufffdc\ufffd" in page
    assert page.encode()


texts = st.text("ab<>&\"' ", min_size=1, max_size=30)
pieces = st.lists(st.tuples(st.sampled_from([SAME, REMOVED, ADDED]), texts), min_size=1, max_size=6)


@given(pieces)
def test_the_text_is_all_there(held: list[tuple[str, str]]) -> None:
    read = Reader(render_diff_sheet(DiffSheet("t", [], held))).text
    assert read.partition(">")[2].strip("\n") == "".join(text for _, text in held)
