import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.errors import SettingsError
from freshet.core.types import Snapshot, View
from freshet.measure.noise import mask as masks
from freshet.measure.noise.mask import NO_MASK, Mask, MaskRule, visible_text, visible_view_text
from freshet.measure.noise.mask_pattern import MAX_PATTERN_CHARS, compile_pattern
from freshet.view.parse import parse_snapshot


def masked(text: str, *patterns: str) -> str:
    return visible_text(text, Mask(1, tuple(MaskRule(pattern) for pattern in patterns)))


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
    with pytest.raises(SettingsError, match="add text to"):
        masked("text", pattern)


def test_an_endless_pattern_is_refused() -> None:
    with pytest.raises(SettingsError, match="use at most"):
        masked("text", "x" * (MAX_PATTERN_CHARS + 1))


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
        visible = masked(text, pattern)
    except SettingsError:
        return
    assert len(visible) <= len(visible_text(text, NO_MASK)) + text.count(pattern)


PAGE = "<main><p>Früh <b>am</b> Tag</p><p>12 users</p></main><aside>Buy</aside><aside>now</aside>"


def seen(html: str, *, dom: bool = True) -> View:
    return parse_snapshot(Snapshot("https://example.org/", html.encode()), dom=dom)


def left(html: str, *rules: str) -> str:
    return visible_view_text(seen(html), Mask(1, tuple(map(MaskRule, rules))))


def test_a_path_with_places_hides_that_element() -> None:
    assert left(PAGE, "/html[0]/body[0]/aside[1]") == "Früh am Tag 12 users Buy"
    assert left(PAGE, "/html[0]/body[0]/main[0]/p[0]/b[0]") == "Früh Tag 12 users Buy now"


def test_a_path_without_places_hides_all_such_elements() -> None:
    assert left(PAGE, "/html/body/aside") == "Früh am Tag 12 users"
    assert left(PAGE, "/HTML/body[0]/main/p[1]") == "Früh am Tag Buy now"


def test_a_path_that_leads_nowhere_hides_nothing() -> None:
    full_text = left(PAGE)
    assert (
        left(PAGE, "/html/body/p", "/html/body/aside[2]", "/body/aside", "/html/nav") == full_text
    )


def test_paths_and_patterns_work_together() -> None:
    assert left(PAGE, "/html/body/aside", "# users") == "Früh am Tag"


def test_a_path_needs_dom_rows_and_only_html_has_them() -> None:
    mask = Mask(1, (MaskRule("/html/body/aside"),))
    with pytest.raises(TypeError, match="dom=True"):
        visible_view_text(seen(PAGE, dom=False), mask)
    text = parse_snapshot(Snapshot("https://example.org/a.txt", b"plain words here"), dom=True)
    assert visible_view_text(text, mask) == "plain words here"


@pytest.mark.parametrize(
    "path", ["/", "//p", "/html/body/p[x]", "/html/body/ p", "/html/p[1", "/a b"]
)
def test_a_path_that_cannot_be_read_says_how_to_write_one(path: str) -> None:
    with pytest.raises(SettingsError, match=r"/html\[0\]/body\[0\]/aside\[1\]"):
        MaskRule(path)


@pytest.mark.parametrize("path", ["/html", "/html[0]", "/html/body", "/html[0]/body[0]"])
def test_a_path_that_hides_the_whole_page_is_refused(path: str) -> None:
    with pytest.raises(SettingsError, match="hides the whole of every page"):
        MaskRule(path)


def test_a_rule_is_made_by_hand_or_learnt() -> None:
    with pytest.raises(SettingsError, match="use hand or learnt"):
        MaskRule("seen # times", "guessed")  # type: ignore[arg-type]


def test_text_that_begins_with_a_slash_is_written_with_a_backslash() -> None:
    assert masked("sizes /12 and 12", r"\/#") == "sizes and 12"


rules_of = st.lists(
    st.sampled_from(["a", "b*", "#", "a#b", "* c", "a b", "ab", "c*a", "1*b", r"\#", "a*"]),
    max_size=4,
    unique=True,
).map(lambda whats: Mask(1, tuple(map(MaskRule, whats))))
texts = st.text(alphabet="ab c1#\n", max_size=60)


@given(texts, rules_of)
def test_masking_twice_is_masking_once(text: str, mask: Mask) -> None:
    once = masks.text_with_holes(text, mask)
    assert masks.text_with_holes(once, mask) == once


@given(texts, rules_of)
def test_the_order_of_rules_does_not_matter(text: str, mask: Mask) -> None:
    assert visible_text(text, mask) == visible_text(text, Mask(1, mask.rules[::-1]))


@given(texts, rules_of)
def test_nothing_is_hidden_that_no_rule_hits(text: str, mask: Mask) -> None:
    lines = "\n".join(" ".join(line.split()) for line in text.splitlines())
    hit = set()
    for rule in mask.rules:
        for span in compile_pattern(rule.what).spans(lines):
            hit.update(range(*span))
    visible_lines = "".join(character for at, character in enumerate(lines) if at not in hit)
    assert "".join(visible_text(text, mask).split()) == "".join(visible_lines.split())


@pytest.mark.parametrize("path", ["/html/body/aside", "/html[0]/body[0]/main[0]/p[1]"])
def test_hidden_elements_are_those_whose_rows_the_path_names(path: str) -> None:
    view = seen(PAGE)
    assert view.dom is not None
    rows = masks.rows_at_path(view.dom, path)
    names = {view.dom.names[view.dom.tag[row]] for row in rows}
    assert names == {path.rpartition("/")[2].partition("[")[0]}
