import hypothesis
import hypothesis.strategies as st
import pytest

from freshet.core.types import ContentKind, Snapshot, View
from freshet.view.bounds import ViewLimits
from freshet.view.parse import parse_snapshot


def view_of(body: bytes, media_type: str = "") -> View:
    headers = (("Content-Type", media_type),) if media_type else ()
    return parse_snapshot(Snapshot("http://x.org/dir/page", body, headers=headers))


@pytest.mark.parametrize(
    ("body", "media_type", "kind"),
    [
        (b"<p>x", "", ContentKind.HTML),
        (b"<p>x", "text/html; charset=utf-8", ContentKind.HTML),
        (b"plain", "text/plain", ContentKind.TEXT),
        (b"# head", "text/markdown", ContentKind.MARKDOWN),
        (b'{"a": 1}', "", ContentKind.JSON),
        (b'{"a": 1}', "application/ld+json", ContentKind.JSON),
        (b'<?xml version="1.0"?><rss><channel/></rss>', "text/html", ContentKind.FEED),
        (b"<urlset></urlset>", "application/xml", ContentKind.SITEMAP),
        (b"\x89PNG\r\n\x1a\n", "text/html", ContentKind.BINARY),
        (b"%PDF-1.7", "", ContentKind.BINARY),
        (b"anything", "image/png", ContentKind.BINARY),
        (b"", "", ContentKind.TEXT),
    ],
)
def test_the_kind_of_a_snapshot_follows_from_its_content(
    body: bytes, media_type: str, kind: ContentKind
):
    assert view_of(body, media_type).kind == kind


def test_a_binary_has_only_bytes():
    view = view_of(b"%PDF-1.7 http://x.org/a", "application/pdf")
    assert (view.text, len(view.links), len(view.terms), view.facts.bytes) == ("", 0, 0, 23)
    assert view.body_hash != view_of(b"%PDF-1.6").body_hash


@pytest.mark.parametrize(
    ("body", "media_type", "charset"),
    [
        ("<p>café".encode(), "text/html", "utf-8"),
        ("<p>café".encode("latin-1"), "text/html; charset=ISO-8859-1", "cp1252"),
        (b"<meta charset=windows-1252><p>caf\xe9", "", "cp1252"),
        (b"<meta charset=utf-16><p>caf\xc3\xa9", "", "utf-8"),
        ("<p>café".encode("utf-16"), "text/html; charset=utf-8", "utf-16-le"),
        (b"\xef\xbb\xbf<p>caf\xc3\xa9", "text/html; charset=latin1", "utf-8"),
        ("<p>café".encode(), "text/html; charset=no-such", "utf-8"),
        (b"<meta charset=utf-8><p>caf\xe9", "text/html; charset='", "iso8859-2"),
    ],
)
def test_the_charset_is_detected_despite_false_declarations(
    body: bytes, media_type: str, charset: str
):
    view = view_of(body, media_type)
    assert view.text == "café"
    assert view.charset == charset


def test_a_few_broken_characters_do_not_change_the_charset():
    view = view_of("ä".encode() * 50 + b"\xff", "text/html; charset=utf-8")
    assert (view.charset, view.text) == ("utf-8", "ä" * 50 + "\ufffd")


def test_statistics_count_the_parts_of_the_view():
    facts = view_of(b"<p>one two two <a href=/a>x</a><a href=http://other.net/>y</a>").facts
    assert (facts.words, facts.distinct_words) == (4, 3)
    assert (facts.links_internal, facts.links_external) == (1, 1)
    assert (facts.elements, facts.depth, facts.truncated) == (6, 4, False)


def test_text_hash_ignores_markup_and_white_space():
    assert view_of(b"<p>a  b</p>").text_hash == view_of(b"<div>a <b>b</b>\n</div>").text_hash
    assert view_of(b"<p>a</p>").text_hash != view_of(b"<p>b</p>").text_hash


def test_structure_hash_ignores_text_and_sees_nesting():
    assert view_of(b"<p>a</p>").structure_hash == view_of(b"<p id=x>b</p>").structure_hash
    assert view_of(b"<i></i><b></b>").structure_hash != view_of(b"<i><b></b></i>").structure_hash


def test_a_body_over_the_limit_is_cut():
    view = parse_snapshot(
        Snapshot("http://x.org/", b"<p>abc def"), limits=ViewLimits(max_body_bytes=6)
    )
    assert (view.text, view.facts.truncated, view.facts.bytes) == ("abc", True, 10)


def test_dom_rows_are_made_only_on_request():
    assert view_of(b"<p>x").dom is None


@hypothesis.given(st.binary(max_size=300), st.sampled_from(["", "text/html", "application/json"]))
@hypothesis.settings(max_examples=150, deadline=None)
def test_no_bytes_make_it_fail(body: bytes, media_type: str):
    view = parse_snapshot(
        Snapshot("http://x.org/", body, headers=(("content-type", media_type),)), dom=True
    )
    assert view.facts.bytes == len(body)
