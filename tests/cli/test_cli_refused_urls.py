"""A URL that is not http(s) never becomes a live page."""

from pathlib import Path

import pytest

import freshet
from freshet.core.errors import BadInputError
from freshet.core.types import PageKey
from tests.cli.cli_runs import Run

YAML = """\
# pages that we keep an eye on
pages:
  - https://a.example/
https://b.example/  # daily
note: x

example.org:8080/news
"""
SITEMAP = """\
<urlset>
  <url><loc>https://a.example/?x=1&amp;y=2</loc></url>
  <url><loc>foo:bar</loc></url>
  <url>
    <loc>/news?a=1&amp;b=2</loc>
  </url>
</urlset>
"""
OPML = """\
<opml><body>
  <outline text="a" xmlUrl="https://a.example/feed"/>
  <outline text="b" xmlUrl="feed:b.example"/>
</body></opml>
"""
WHOLE = "write the full URL, such as https://example.org/news"
ONLY = "only http and https can be fetched"


def live_urls(run: Run) -> list[str]:
    return [row["page"]["url"] for row in run("list", "--json").json]


def test_lines_of_a_file_are_refused_with_number_and_reason(run: Run, empty: Path) -> None:
    Path("pages.yaml").write_text(YAML, "utf-8")
    result = run("add", "--file", "pages.yaml")
    assert result.code == 4
    assert result.err.splitlines() == [
        f"pages.yaml, line 2: pages:: has the scheme pages; {ONLY}",
        f"pages.yaml, line 3: - https://a.example/: has no scheme; {WHOLE}",
        f"pages.yaml, line 5: note: x: has the scheme note; {ONLY}",
        "pages.yaml, line 7: example.org:8080/news: has no scheme; "
        "write https://example.org:8080/news",
    ]
    assert live_urls(run) == ["https://b.example/"]


def test_locations_of_a_sitemap_are_refused_with_their_lines(run: Run, empty: Path) -> None:
    Path("map.xml").write_text(SITEMAP, "utf-8")
    result = run("add", "--sitemap", "map.xml", "--json")
    assert result.code == 4
    assert result.json["refused"] == [
        {"place": "map.xml, line 3: foo:bar", "why": f"has the scheme foo; {ONLY}"},
        {"place": "map.xml, line 5: /news?a=1&b=2", "why": f"has no scheme; {WHOLE}"},
    ]
    assert live_urls(run) == ["https://a.example/?x=1&y=2"]


def test_outlines_of_an_opml_file_are_refused_with_their_lines(run: Run, empty: Path) -> None:
    Path("feeds.opml").write_text(OPML, "utf-8")
    result = run("add", "--opml", "feeds.opml")
    assert result.code == 4
    assert result.err == f"feeds.opml, line 3: feed:b.example: has the scheme feed; {ONLY}\n"


def test_watch_refuses_what_it_cannot_fetch_before_it_does_anything(run: Run, empty: Path) -> None:
    result = run("watch", "https://a.example/", "example.org:8080/news")
    assert result.code == 4
    assert "has no scheme; write https://example.org:8080/news" in result.err
    assert live_urls(run) == []


@pytest.mark.parametrize("url", ["", "note: x", "example.org", "mailto:me@a.example", "http://[x/"])
def test_the_library_refuses_it_too(empty: Path, url: str) -> None:
    with freshet.open(empty) as collection:
        with pytest.raises(BadInputError):
            collection.add(url)
        with pytest.raises(BadInputError):
            collection.register_pages([PageKey(url)])
        assert collection.add_many([url]).refused
        assert list(collection.pages()) == []


def test_a_history_with_a_source_may_have_pages_of_any_id(empty: Path) -> None:
    with freshet.open(empty) as collection:
        assert collection.add("ota:A/B", source="terms").url == "ota:A/B"


def test_imports_into_the_live_list_take_only_urls(run: Run, empty: Path) -> None:
    rows = ["page,time,changed", "https://a.example/,2026-01-01,1", "note: x,2026-01-02,1"]
    Path("past.csv").write_text("\n".join(rows), "utf-8")
    result = run("import", "csv", "past.csv", "--source", "", "--json").json
    assert (result["visits"], result["bad"]) == (1, 1)
    assert result["bad_rows"][0]["place"] == "past.csv, line 3"
    assert f"it has the scheme note; {ONLY}" in result["bad_rows"][0]["why"]
    assert run("import", "csv", "past.csv", "--source", "past", "--json").json["bad"] == 0


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("javascript:1", f"has the scheme javascript; {ONLY}"),
        ("http://a..b/", "has a host name with two dots in a row"),
        ("http://.a.example/", "has a host name with a dot in front"),
        ("http://127.0.0.1:0/", "has the invalid port 0"),
        (f"http://{'a' * 70}.example/", "has a host name with a part of more than 63 characters"),
        (f"http://{'a.' * 130}example/", "has a host name of more than 253 characters"),
    ],
)
def test_hosts_that_nothing_can_find_are_refused_with_the_reason(
    run: Run, empty: Path, url: str, why: str
) -> None:
    result = run("add", url)
    assert (result.code, result.err.strip()) == (4, f"{url}: {why}")
    assert live_urls(run) == []


def test_hosts_with_a_last_dot_or_an_address_are_taken(run: Run, empty: Path) -> None:
    urls = ["http://a.example./", "http://[::1]:81/", "http://localhost:80/", "http://127.0.0.1/"]
    assert run("add", *urls).code == 0
    assert len(live_urls(run)) == len(urls)
