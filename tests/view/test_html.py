import hypothesis
import hypothesis.strategies as st
import pytest

from freshet.view.bounds import ViewLimits
from freshet.view.dom import full_path, type_path
from freshet.view.formats.html import ParsedDocument, parse_html
from freshet.view.tags import tag_meanings
from tests.view.plain_walk import walk

NAMES = [*tag_meanings(), "b", "i", "span", "foreignObject", "noscript", "font", "g"]
TEXTS = ["x", " ", "a b", "&lt;", "&amp;amp;", "&nbsp;", "é", "<", "</", "<!--", "-->", "\n", "\0"]
LINKS = ["<a href='/x?a=1&amp;b=\"2\"' rel=NoFollow>", '<a href=#t "q =z>', "<area href=y>"]
PIECES = st.sampled_from([
    *TEXTS,
    *LINKS,
    *(f"<{name}>" for name in NAMES),
    *(f"</{name}>" for name in NAMES),
])


def parsed(html: str) -> ParsedDocument:
    return parse_html(html, dom=True, limits=ViewLimits())


def text(html: str) -> str:
    return parsed(html).content.text


def check_against_walk(html: str) -> None:
    """Compare the compiled passes with the plain walk."""
    ours, plain = parsed(html), walk(html)
    assert ours.content.text == plain.text
    assert [href for href, _, _ in ours.content.hrefs] == list(dict.fromkeys(plain.hrefs))
    rows = ours.dom
    assert [rows.names[tag] for tag in rows.tag] == [element.name for element in plain.elements]
    for row, element in enumerate(plain.elements):
        assert full_path(rows, row) == element.full_path
        assert type_path(rows, row) == element.type_path
        assert (rows.node_hash[row], rows.subtree_hash[row]) == element.hashes()


@hypothesis.given(st.lists(PIECES, max_size=25).map("".join))
@hypothesis.settings(max_examples=400, deadline=None)
def test_the_compiled_passes_equal_a_plain_walk(html: str):
    check_against_walk(html)


@pytest.mark.parametrize(
    "html",
    [
        "<svg><style>a&lt;/style>b</style></svg>c",
        "<svg><style><g>x</g></style></svg>c",
        "<svg><source>x</source></svg><source>y",
        "<math><annotation-xml><area>x",
        "<math><annotation-xml encoding=text/html><br>x<svg><br>y",
        "<svg><plaintext>&lt;x</svg>c",
        "<plaintext></plaintext><p>x",
        "<table><plaintext>x</plaintext>",
        "<script><!--<script></script>--></script>c",
        "<xmp><b>&amp;</xmp>",
        "<p><![CDATA[x]]><svg>a<![CDATA[b<c]]></svg>",
        "<!-- a > b -- c --><p>x<!--->y<?pi z>",
        "<template>a<p>b<template>c</template></template>d",
        "<frameset><frame>",
        "",
    ],
)
def test_ambiguous_markup_is_read_correctly(html: str):
    check_against_walk(html)


def test_blocks_are_on_lines_of_their_own():
    assert text("a<div> b  c<p>d</div>e<br>f <i>g</i>h") == "a\nb c\nd\ne\nf gh"


def test_scripts_styles_comments_templates_and_titles_are_not_text():
    html = "<title>t</title><style>s</style><p>a<script>b</script><!--c--><template>d</template>"
    assert text(html) == "a"


def test_noscript_is_text_because_pages_are_fetched_without_scripting():
    assert text("<noscript>please <b>enable</b></noscript>") == "please enable"


def test_character_references_are_decoded_once():
    assert text("&lt;p&gt; &amp;lt; &quot;q&quot; a&nbsp;&nbsp;b &copy;") == '<p> &lt; "q" a b ©'


def test_the_title_is_the_first_and_on_one_line():
    assert parsed("<title> a\n b </title><title>c</title>").content.title == "a b"


def test_the_language_is_the_declared_one_if_that_is_sane():
    assert parsed("<html lang=de-AT><p>hello").content.language == "de"
    assert parsed("<html lang='{{lang}}'><p>hello").content.language == ""


def test_structure_is_the_same_however_its_markup_is_written():
    assert parsed("<p>a<p>b").structure_hash == parsed("<p>c</p><p>d</p>").structure_hash
