"""Feeds of every format, well-formed and broken."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.view.dates import parse_date
from freshet.view.formats.feeds import FeedEntry, entries, is_feed, read
from freshet.view.formats.xml import html_to_text, parse_xml, root_name

URL = "https://example.org/feed"

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
<title>News &amp; more</title><language>en</language><description>All of it</description>
<image><title>Logo</title><link>https://example.org/logo</link></image>
<item><media:title>Wrong</media:title><title>First</title><link> /a#top </link>
<description>&lt;p&gt;Some &lt;b&gt;rain&lt;/b&gt;&lt;/p&gt;&lt;style&gt;x</description>
<pubDate>Thu, 01 Jan 2004 19:48:21 GMT</pubDate></item>
<item><title><![CDATA[Second <i>one</i>]]></title><guid>https://example.org/b</guid></item>
<item><guid isPermaLink="false">tag:c</guid></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" xml:base="/blog/">
<title type="text">Blog</title><link rel="self" href="/feed"/>
<entry xml:base="2024/"><title>Eins</title><link rel="enclosure" href="x.mp3"/>
<link rel="alternate" href="eins.html"/><updated>2024-05-06T07:08:09+02:00</updated>
<content type="xhtml"><div><p>Ein</p><p>Fluss</p></div></content>
<source><title>Elsewhere</title></source></entry></feed>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><channel rdf:about="x">
<title>Old</title><items><rdf:Seq><rdf:li resource="r"/></rdf:Seq></items></channel>
<item rdf:about="https://example.org/r"><title>R</title><dc:date>2000-08</dc:date></item></rdf:RDF>"""

CDF = """<CHANNEL HREF="/"><TITLE>Channel</TITLE>
<ITEM HREF="/one"><TITLE>One</TITLE><ABSTRACT>Text</ABSTRACT></ITEM></CHANNEL>"""


def test_rss_has_entries_with_links_titles_and_dates() -> None:
    assert entries(RSS, URL) == (
        FeedEntry("https://example.org/a", "First", datetime(2004, 1, 1, 19, 48, 21, tzinfo=UTC)),
        FeedEntry("https://example.org/b", "Second one", None),
        FeedEntry("", "", None),
    )


def test_the_text_of_a_feed_is_that_of_its_entries() -> None:
    reading = read(RSS, URL)
    assert reading.title == "News & more"
    assert reading.text == "News & more\nAll of it\nFirst\nSome rain\nSecond one"
    assert reading.hrefs == (("/a#top", "First", ""), ("https://example.org/b", "Second one", ""))
    assert reading.language == "en"


def test_atom_links_follow_their_bases() -> None:
    reading = read(ATOM, URL)
    assert reading.hrefs == (("https://example.org/blog/2024/eins.html", "Eins", ""),)
    assert reading.text == "Blog\nEins\nEin Fluss"
    assert reading.language == "de"
    assert entries(ATOM, URL)[0].published == datetime(2024, 5, 6, 5, 8, 9, tzinfo=UTC)


def test_rdf_entries_are_named_by_what_they_are_about() -> None:
    assert entries(RDF, URL) == (
        FeedEntry("https://example.org/r", "R", datetime(2000, 8, 1, tzinfo=UTC)),
    )


def test_cdf_entries_carry_their_link_themselves() -> None:
    assert entries(CDF, URL) == (FeedEntry("https://example.org/one", "One", None),)
    assert read(CDF, URL).text == "Channel\nOne\nText"


@pytest.mark.parametrize("text", [RSS, ATOM, RDF, CDF])
def test_feeds_are_recognised_by_their_beginning(text: str) -> None:
    assert is_feed("\ufeff" + text[:200])


@pytest.mark.parametrize("text", ["", "rss", "<html><feed>", "<urlset>", "<rdf:RDF><x>", "{<rss>"])
def test_other_documents_are_no_feeds(text: str) -> None:
    assert not is_feed(text)


def test_entries_that_were_never_closed_are_read_apart() -> None:
    text = "<rss><channel><item><title>A</title><link>/a</link><item><title>B & C<link>/b"
    assert [(entry.url, entry.title) for entry in entries(text, URL)] == [
        ("https://example.org/a", "A"),
        ("", "B & C /b"),
    ]


def test_entities_of_a_document_type_are_never_expanded() -> None:
    text = """<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "&x;&x;">]>
    <rss><channel><title>&x;&y;</title></channel></rss>"""
    assert read(text, URL).title == "&x;&y;"


@pytest.mark.parametrize(
    "piece",
    [
        "<item>",
        "<a:item><title>",
        "<x>",
        "</x>",
        "<x",
        "<!",
        "<![CDATA[",
        "<!--",
        "<?",
        '<a b="',
        "&",
    ],
)
def test_hostile_feeds_take_linear_time(piece: str) -> None:
    assert len(read("<rss><channel>" + piece * 30_000, URL).title) == 0


@given(st.text(alphabet="<>/!?[]-=\"' abitemlnk&;:#x1"))
def test_any_text_is_read(text: str) -> None:
    reading = read("<rss><item>" + text, URL)
    assert isinstance(reading.text, str)
    assert len(entries("<rss><item>" + text, URL)) >= 1


def test_attributes_keep_their_characters() -> None:
    link = parse_xml("""<link href='a?b&amp;c' HREF="x" rel=alternate/>""").child("link")
    assert link is not None
    assert link.attributes == {"href": "a?b&c", "rel": "alternate/"}


def test_a_sign_alone_is_text() -> None:
    assert html_to_text("1 < 2 &lt; 3 > 0") == "1 < 2 < 3 > 0"


def test_text_before_the_first_element_means_no_root() -> None:
    assert root_name("hello <rss>") == ""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2004", datetime(2004, 1, 1, tzinfo=UTC)),
        ("2004-10", datetime(2004, 10, 1, tzinfo=UTC)),
        ("2004-10-01T18:23:17+00:00", datetime(2004, 10, 1, 18, 23, 17, tzinfo=UTC)),
        (" 2004-10-01T18:23Z ", datetime(2004, 10, 1, 18, 23, tzinfo=UTC)),
        ("Fri, 01 Oct 04 18:23:17 EST", datetime(2004, 10, 1, 23, 23, 17, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("2004-13-01", None),
        ("", None),
    ],
)
def test_dates_are_read_as_utc(written: str, expected: datetime | None) -> None:
    assert parse_date(written) == expected


@given(st.text(alphabet="0123456789-:TZ+ ,JanFebMo"))
def test_any_date_is_aware_or_none(written: str) -> None:
    read_date = parse_date(written)
    assert read_date is None or read_date.tzinfo is UTC
