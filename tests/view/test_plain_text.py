"""Plain text, Markdown and JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.types import ContentKind
from freshet.view.formats import json_text
from freshet.view.formats.plain_text import MAX_TITLE_CHARS, read


def targets(text: str, kind: ContentKind) -> list[str]:
    return [href for href, _, _ in read(text, kind).hrefs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://example.org/a, then http://example.org/b.", ["https://example.org/a", "http://example.org/b"]),
        ("(https://example.org/a)", ["https://example.org/a"]),
        ("https://example.org/a_(b)", ["https://example.org/a_(b)"]),
        ("<https://example.org/a>", ["https://example.org/a"]),
        ("HTTPS://EXAMPLE.ORG", ["HTTPS://EXAMPLE.ORG"]),
        ("ftp://example.org mailto:a@b www.example.org", []),
    ],
)  # fmt: skip
def test_addresses_in_a_text_are_links(text: str, expected: list[str]) -> None:
    assert targets(text, ContentKind.TEXT) == expected


def test_the_text_stays_as_it_is() -> None:
    text = "  One\n\n\ttwo *three*  "
    assert read(text, ContentKind.TEXT).text == text
    assert read(text, ContentKind.MARKDOWN).text == text


def test_the_first_line_is_the_title_and_is_cut() -> None:
    assert read("\n\n  First   line \nsecond", ContentKind.TEXT).title == "First line"
    assert len(read("x" * 10_000, ContentKind.TEXT).title) == MAX_TITLE_CHARS
    assert read("", ContentKind.TEXT).title == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[more](/a)", [("/a", "more", "")]),
        ("[more](</a> 'title')", [("/a", "more", "")]),
        ("[a [b] c](x_(y).html)", [("x_(y).html", "a [b] c", "")]),
        ("[![logo](i.png)](/home)", [("/home", "logo", "")]),
        ("![logo](i.png)", []),
        ("<https://example.org/>", [("https://example.org/", "", "")]),
        ("at https://example.org/.", [("https://example.org/", "", "")]),
        ("[ref]: https://example.org/r 'R'", [("https://example.org/r", "ref", "")]),
        ("[empty]()", []),
        ("- [x] done", []),
    ],
)
def test_links_of_markdown(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert list(read(text, ContentKind.MARKDOWN).hrefs) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("intro\n\n## The [river](/r) ##\n", "The river"),
        ("Rain\n====\n", "Rain"),
        ("no heading\nat all", "no heading"),
        ("#hashtag", "#hashtag"),
    ],
)
def test_the_first_heading_is_the_title(text: str, expected: str) -> None:
    assert read(text, ContentKind.MARKDOWN).title == expected


def test_values_of_json_are_lines_with_their_paths_in_order() -> None:
    text = '{"title": "Rain", "n": 1.50, "list": [true, null, "a\\n b", {"k": -2}], "o": {}}'
    reading = read(text, ContentKind.JSON)
    assert reading.title == "Rain"
    assert reading.text.split("\n") == [
        "title: Rain",
        "n: 1.50",
        "list[]: true",
        "list[]: null",
        "list[]: a b",
        "- list[].k: -2",
        "o: {}",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"on": true}', '{"on": false}'),
        ('{"owner": null}', '{"owner": 0}'),
        ('{"a": 1}', '{"b": 1}'),
        ('{"a": {}}', '{"a": []}'),
        ('{"a": []}', '{"a": [[]]}'),
        ('{"a": "true"}', '{"a": true}'),
        ('{"a": "1.5"}', '{"a": 1.5}'),
        ('{"a": ""}', '{"a": null}'),
        ('{"a.b": 1}', '{"a": {"b": 1}}'),
        ('{"a[]": 1}', '{"a": [1]}'),
        ('[{"a": 1}, {"b": 2}]', '[{"a": 1, "b": 2}]'),
        ("[[1], [2]]", "[[1, 2]]"),
        ("[[[1]]]", "[[1]]"),
        ("[1]", "1"),
    ],
)
def test_json_that_differs_is_other_text(old: str, new: str) -> None:
    assert read(old, ContentKind.JSON).text != read(new, ContentKind.JSON).text


def test_a_new_first_item_of_an_array_leaves_the_lines_of_the_others() -> None:
    items = [{"name": f"n{number}", "price": number} for number in range(3)]
    old, new = (
        read(json.dumps({"items": array}), ContentKind.JSON).text.split("\n")
        for array in (items[1:], items)
    )
    assert new == ["- items[].name: n0", "items[].price: 0", *old]


def test_keys_that_look_like_paths_are_quoted() -> None:
    text = '{"a.b": {"": 1}, "content-type": 2, "x y": [3], "\u00fc": 4}'
    assert read(text, ContentKind.JSON).text.split("\n") == [
        '["a.b"][""]: 1',
        "content-type: 2",
        '["x y"][]: 3',
        "ü: 4",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[" + ",".join(["0"] * (json_text.MAX_VALUES + 2)) + "]",
        "[" * (json_text.MAX_DEPTH + 1) + "1" + "]" * (json_text.MAX_DEPTH + 1),
        "[" * 5000 + "1" + "]" * 5000,
        "[" * 100_000,
        '{"' + "k" * 400_000 + '": [' + ",".join(["0"] * 100) + "]}",
    ],
    ids=["many values", "deep", "deeper than the parser goes", "deep and broken", "long paths"],
)
def test_json_beyond_the_bounds_is_read_as_it_is_written(text: str) -> None:
    shown = read(text, ContentKind.JSON).text
    assert shown.replace("\n", "") == text
    assert shown.count("\n") > 50


def test_json_at_the_bounds_has_paths() -> None:
    deep = "[" * json_text.MAX_DEPTH + "1" + "]" * json_text.MAX_DEPTH
    assert read(deep, ContentKind.JSON).text.endswith("[]: 1")
    many = "[" + ",".join(["0"] * json_text.MAX_VALUES) + "]"
    assert read(many, ContentKind.JSON).text.endswith("[]: 0")


def test_addresses_that_are_values_of_json_are_links() -> None:
    text = '{"https://example.org/key": "https://example.org/a", "b": "see https://example.org/b"}'
    assert targets(text, ContentKind.JSON) == ["https://example.org/a"]


@pytest.mark.parametrize("text", ["{", "[1,]", "not json", "", "1" * 5000])
def test_broken_json_is_read_as_text(text: str) -> None:
    assert read(text, ContentKind.JSON).text == text


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert read('{"\\ud800": "\\ud800"}', ContentKind.JSON).text == "\ufffd: \ufffd"


def test_deep_json_does_not_end_the_program() -> None:
    text = "[" * 100_000 + "]" * 100_000
    assert read(text, ContentKind.JSON).hrefs == ()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    )
)
def test_any_json_is_read(document: object) -> None:
    text = read(json.dumps(document), ContentKind.JSON).text
    assert text.encode().decode() == text


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "![", "[a][", "<http://", "](", "[a]: ", "# ", "a\n"]
)
def test_hostile_markdown_takes_linear_time(piece: str) -> None:
    assert read(piece * 50_000, ContentKind.MARKDOWN).text


@given(st.text(alphabet="[]()!<>:# \nhttps:/a"))
def test_any_text_is_read(text: str) -> None:
    for kind in (ContentKind.TEXT, ContentKind.MARKDOWN, ContentKind.JSON):
        assert all(href for href, _, _ in read(text, kind).hrefs)
