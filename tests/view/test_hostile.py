"""Hostile pages: each gives a view without an exception and in bounded time."""

import pytest

from freshet.core.types import Snapshot, View
from freshet.view.bounds import ViewLimits, cut_to_limits
from freshet.view.formats.sitemap import MAX_ENTRIES
from freshet.view.formats.xml import MAX_VIEW_ELEMENTS
from freshet.view.parse import parse_snapshot

MANY = 100_000
FEW = ViewLimits(max_links=500)
PAGES = {
    "div": "<div>" * MANY,
    "b": "<b>" * MANY,
    "p": "<p>x" * MANY,
    "table": "<table>" * MANY,
    "cells": "<table><tr><td>" * MANY,
    "mixed": "<div><b><p><i><span>" * (MANY // 5),
    "self-closed": "<div/>" * MANY,
    "svg groups": "<svg>" + "<g>" * MANY + "</x>" * MANY,
    "math": "<math><mi>" * MANY,
    "templates": "<template>" * MANY,
    "headings": "<h1><div>" * MANY,
    "links in links": "<a><p></a>" * MANY,
    "fonts in paragraphs": "".join(f"<font x={i}><p>x" for i in range(MANY)),
    "unclosed bold, many blocks": "".join(f"<b x={i}>" for i in range(500)) + "<p>x" * MANY,
    "adoption": "<b>" * MANY + "<p>" + "</b>" * MANY,
    "misnested": "<b><i><p></b></i>" * MANY,
    "foster": "<table>" + "<div>" * MANY,
    "foster text": "<table>" + "x<tr>" * MANY,
    "ignored ends": "<span><table></span></table></x>" * MANY,
    "paragraph ends": "<span><p></span></p></x>" * MANY,
    "wrong ends": "<span>" * 10_000 + "</x>" * (MANY * 4),
    "list in definition": "<li><dd>" * MANY,
    "attributes": "<div " + " ".join(f"a{i}" for i in range(MANY)) + ">x",
    "slashed attributes": "<div/" + "/".join(f"a{i}" for i in range(MANY)) + ">x",
    "glued attributes": "<div " + "".join(f'a{i}="1"' for i in range(MANY)) + ">x",
    "body attributes": "".join(f"<body a{i}=1>" for i in range(MANY)),
    "long attribute": f"<a href='{'x' * 5_000_000}'>x</a>",
    "unclosed tags": "<div" * MANY,
    "comments": "<!--" * MANY,
    "unclosed script": "<script>" + "<" * 1_000_000,
    "tiny tags": "<i>" * 1_000_000,
    "breaks": "<br>" * 1_000_000,
    "links": "".join(f"<a href=/{i}>" for i in range(400_000)),
    "entities": "&" * 1_000_000,
    "nulls": "\0" * 1_000_000 + "<p>x",
    "plaintext ends": "<plaintext>" + "</plaintext>" * MANY,
    "foreign raw text": "<svg>" + "<style><g>x</g></style>" * 20_000,
    "nested scripts": "<script><!--<script></script>--></script>" * 20_000,
    "select": "<select>" + "<option>x" * MANY,
    "ruby": "<ruby><rt>" * MANY,
}


def view_of(body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> View:
    return parse_snapshot(Snapshot("http://x.org/", body, headers=headers), dom=True)


@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_is_viewed_like_any_other(name: str):
    view = view_of(b"<!doctype html>" + PAGES[name].encode())
    assert view.dom is not None
    assert view.facts.elements == len(view.dom)


@pytest.mark.parametrize("name", ["div", "fonts in paragraphs", "attributes"])
def test_another_charset_does_not_get_past_the_bounds(name: str):
    view = view_of(PAGES[name].encode("utf-16"), (("content-type", "text/html"),))
    assert view.facts.truncated


def test_a_huge_body_is_read_up_to_the_limit():
    view = view_of(b"<!doctype html>" + b"<p>word " * 6_000_000)
    assert view.facts.truncated
    assert view.facts.bytes == 48_000_015


def test_markup_before_the_cut_is_kept():
    attributes = b" ".join(b"a%d" % number for number in range(20_000))
    view = view_of(b"<p>kept</p>" + b"<i>x</i>" * 400 + b"<p " + attributes + b">lost")
    assert view.text.startswith("kept")
    assert "lost" not in view.text
    assert view.facts.truncated


def test_a_long_list_without_end_tags_is_not_cut():
    page = b"<ul>" + b"<li>item<p>text" * 50_000
    assert cut_to_limits(page, ViewLimits()) == page


def test_a_large_sound_page_is_not_cut():
    page = b"<div><p>a <b>b</b> <a href=x>c</a></p><ul><li>d</li></ul></div>" * 20_000
    assert cut_to_limits(page, ViewLimits()) == page


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00\xd8",
        b"<p>\xed\xa0\x80",
        b"<p>&#xd800;&#0;&#x110000;",
        b"<a href='http://[::1'>x</a><a href='\x00\x01'>y</a>",
        b"<base href='javascript:x'><a href=y>z</a>",
        b"<meta charset=utf-7>+ADw-",
        b"<?xml version='1.0' encoding='none'?><html>x",
    ],
)
def test_broken_characters_and_references_do_no_harm(body: bytes):
    assert view_of(body, (("content-type", "text/html; charset=x-none"),)).facts.bytes == len(body)


def test_a_huge_feed_is_read_up_to_a_bound():
    items = b"".join(b"<item><title>T%d</title></item>" % number for number in range(40_000))
    view = view_of(b"<rss><channel><title>News</title>" + items)
    assert view.facts.truncated
    assert view.text.startswith("News\nT0\nT1\n")
    assert len(view.text.split("\n")) <= MAX_VIEW_ELEMENTS // 2


@pytest.mark.parametrize("loc", [b"<loc>/%d</loc>", b"<LOC>/%d</LOC>"])
def test_a_huge_sitemap_is_read_up_to_a_bound(loc: bytes):
    urls = b"".join(b"<url>%b</url>" % (loc % number) for number in range(MAX_ENTRIES + 10))
    view = view_of(b"<urlset>" + urls + b"</urlset>")
    assert view.facts.truncated
    assert view.text.startswith("http://x.org/0\nhttp://x.org/1\n")
    assert MAX_VIEW_ELEMENTS // 3 < len(view.links) <= MAX_ENTRIES


@pytest.mark.parametrize("kind", ["text/markdown", "text/plain", "application/json"])
def test_only_so_many_links_of_a_text_are_kept(kind: str):
    links = b'["http://x.org/' + b'", "http://x.org/'.join(b"%d" % n for n in range(600)) + b'"]'
    view = parse_snapshot(
        Snapshot("http://x.org/", links, headers=(("content-type", kind),)), limits=FEW
    )
    assert len(view.links) == FEW.max_links
