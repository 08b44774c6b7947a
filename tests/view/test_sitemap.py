"""Sitemaps, sitemap indexes, and other documents used as such."""

from datetime import UTC, datetime

import pytest

from freshet.view.formats import xml
from freshet.view.formats.sitemap import (
    SitemapEntry,
    entries,
    is_index,
    is_sitemap,
    read,
    written_locations,
)

URL = "https://example.org/sitemap.xml"

PAGES = """<?xml version="1.0"?><s:urlset xmlns:s="any" xmlns:image="i">
<s:url><s:loc> https://example.org/a?b&amp;c </s:loc><s:lastmod>2005-01-01</s:lastmod>
<image:image><image:loc>https://example.org/i.png</image:loc></image:image></s:url>
<s:url><s:loc><![CDATA[https://example.org/b]]></s:loc></s:url>
<s:url><s:lastmod>2005-01-01</s:lastmod></s:url></s:urlset>"""


def test_pages_are_listed_with_their_dates() -> None:
    assert entries(PAGES, URL) == (
        SitemapEntry("https://example.org/a?b&c", datetime(2005, 1, 1, tzinfo=UTC)),
        SitemapEntry("https://example.org/b"),
    )


def test_a_sitemap_index_is_recognised() -> None:
    index = "\ufeff<sitemapindex><sitemap><loc>/1.xml.gz</loc></sitemap></sitemapindex>"
    assert is_index(index)
    assert is_sitemap(index)
    assert entries(index, URL) == (SitemapEntry("https://example.org/1.xml.gz"),)
    assert is_sitemap(PAGES)
    assert not is_index(PAGES)


def test_a_plain_list_is_a_sitemap() -> None:
    text = "\ufeffhttps://example.org/a\r\n\r\nwww.example.org/b\nnonsense\n"
    assert [entry.url for entry in entries(text, URL)] == [
        "https://example.org/a",
        "https://www.example.org/b",
    ]


def test_a_feed_is_a_sitemap() -> None:
    text = "<rss><channel><item><link>/a</link></item><item><title>x</title></item></channel></rss>"
    assert entries(text, URL) == (SitemapEntry("https://example.org/a"),)


def test_a_sitemap_reads_as_its_addresses_and_dates() -> None:
    reading = read(PAGES, URL)
    assert reading.text == (
        "https://example.org/a?b&c 2005-01-01 00:00:00+00:00\nhttps://example.org/b"
    )
    assert [href for href, _, _ in reading.hrefs] == [
        "https://example.org/a?b&c",
        "https://example.org/b",
    ]


def test_an_address_may_lack_its_element() -> None:
    text = "<urlset><url>https://example.org/a</url><url>no address</url></urlset>"
    assert entries(text, URL) == (SitemapEntry("https://example.org/a"),)


def test_external_entities_are_never_read() -> None:
    text = """<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/hostname">]>
    <urlset><url><loc>https://example.org/&x;</loc></url></urlset>"""
    assert entries(text, URL) == (SitemapEntry("https://example.org/&x;"),)


@pytest.mark.parametrize(
    "loc", ["javascript:x", "mailto:a@b", "", "http://[", "ftp://example.org/"]
)
def test_locations_that_are_no_pages_are_skipped(loc: str) -> None:
    assert entries(f"<urlset><url><loc>{loc}</loc></url></urlset>", URL) == ()


@pytest.mark.parametrize(
    "piece", ["<url><loc>", "<url>", "<loc>", "<url><loc>/a</loc>", "<loc>a</loc>"]
)
def test_hostile_sitemaps_take_linear_time(piece: str) -> None:
    assert len(entries("<urlset>" + piece * 30_000, URL)) <= 30_000


def plain_sitemap(tag: str) -> str:
    """Return a sitemap with every possible element, its entries in tags of this case."""
    url = f"<{tag}>\n<loc> https://example.org/{{}}?x&amp;y </loc>"
    other_elements = "<changefreq>daily</changefreq><priority>0.5</priority>"
    parts = (
        url.format("a") + f"<lastmod>2005-01-01</lastmod>{other_elements}</{tag}>\n",
        url.format("b") + f"{other_elements}</{tag}>",
        f"<{tag}><loc></loc></{tag}>",
        f"<{tag}><loc>/c</loc><lastmod>never</lastmod></{tag}>",
    )
    opening = '<?xml version="1.0"?>\n<!-- made daily -->\n<urlset xmlns="any">\n'
    return f"{opening}{''.join(parts)}</urlset>\n"


def test_a_plainly_written_sitemap_reads_like_any_other() -> None:
    plain = read(plain_sitemap("url"), URL)
    assert plain == read(plain_sitemap("URL"), URL)
    assert plain.text.split("\n") == [
        "https://example.org/a?x&y 2005-01-01 00:00:00+00:00",
        "https://example.org/b?x&y",
        "https://example.org/c",
    ]


@pytest.mark.parametrize(
    "text",
    [
        plain_sitemap("url").replace("</urlset>", ""),
        plain_sitemap("url").replace("</urlset>", "<url><loc>/d</url></urlset>"),
        plain_sitemap("url").replace("<priority>", "<x/><priority>"),
        plain_sitemap("url").replace(' xmlns="any"', ' xmlns="any>"'),
    ],
)
def test_a_sitemap_that_is_not_written_plainly_is_read_whole(text: str) -> None:
    assert {href for href, _, _ in read(text, URL).hrefs} == {
        entry.url for entry in entries(text, URL)
    }
    assert len(read(text, URL).hrefs) >= 3


def test_a_stored_sitemap_is_read_to_its_end_however_many_elements_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(xml, "MAX_ELEMENTS", 10)
    text = f"<urlset>{'<url><loc>https://a.org/</loc></url>' * 20}</urlset>"
    assert len(entries(text, URL)) == 4
    assert len(written_locations(text)) == 20
