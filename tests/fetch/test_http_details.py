"""Small print of HTTP as servers write it: spellings of addresses, validators and redirects."""

from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.servers import Entry, Exchange, Loopback

BODY = "<title>river</title><p>the river rose in spring and the fields along it were green</p>"
TAG = '"caf\xe9-\xff"'
PAGES = {"/[x]|y?[q]|r", "/latin", "/moving"}


async def answer(exchange: Exchange) -> None:
    entry = exchange.entry
    if entry.path == "/nowhere":
        await exchange.answer("", 302, location="http://a..b/")
    elif entry.path == "/utf8":
        await exchange.send(
            b"HTTP/1.1 302 Found\r\nLocation: /caf\xc3\xa9\r\nContent-Length: 0\r\n\r\n"
        )
        exchange.keep_open = True
    elif entry.path == "/caf%C3%A9":
        await exchange.answer(BODY)
    elif entry.path in PAGES:
        await _validated(exchange)
    else:
        await exchange.answer("", 404)


async def _validated(exchange: Exchange) -> None:
    """Answer 304 to the tag that was given last; that of /moving is another each time."""
    number = exchange.entry.number
    tags = [f'"{turn}"' if exchange.entry.path == "/moving" else TAG for turn in range(number + 1)]
    asked = exchange.entry.header("if-none-match")
    if number and asked == tags[number - 1]:
        await exchange.answer("", 304, etag=tags[number])
    else:
        await exchange.answer(BODY, etag=tags[number])


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, list[Entry], str]:
    """Crawl six pages three times each."""
    with Loopback({"a": answer}) as server:
        base = server.urls["a"]
        urls = [base + path for path in (*PAGES, "/nowhere", "/utf8")]
        folder = make_collection(tmp_path_factory.mktemp("crawl") / "c", urls, server.allow)
        run = crawl(folder, visits=18, budget="100000000/day")
        entries = server.log.entries("a")
    assert run.returncode == 0, run.stderr
    return folder, base, entries, run.stderr


def tags_asked(crawled: tuple[Path, str, list[Entry], str], path: str) -> list[str | None]:
    return [entry.header("if-none-match") for entry in crawled[2] if entry.path == path]


def test_a_redirect_to_an_impossible_name_is_an_outcome_at_once(
    crawled: tuple[Path, str, list[Entry], str],
) -> None:
    folder, base, _, stderr = crawled
    with Collection.open(folder) as collection:
        first = collection.page(f"{base}/nowhere").history()[0].visit
    assert first.outcome == "unreachable"
    assert "Traceback" not in stderr


def test_a_location_in_utf_8_is_read_as_browsers_read_it(
    crawled: tuple[Path, str, list[Entry], str],
) -> None:
    folder, base, entries, _ = crawled
    assert outcomes(folder)[f"{base}/utf8"][0] == "ok"
    assert "/caf%C3%83%C2%A9" not in {entry.path for entry in entries}


def test_a_url_is_sent_as_it_is_spelled_and_requested_conditionally(
    crawled: tuple[Path, str, list[Entry], str],
) -> None:
    asked = tags_asked(crawled, "/[x]|y?[q]|r")
    assert asked[:2] == [None, TAG]


def test_an_etag_beyond_ascii_comes_back_byte_for_byte(
    crawled: tuple[Path, str, list[Entry], str],
) -> None:
    assert tags_asked(crawled, "/latin")[:3] == [None, TAG, TAG]


def test_a_new_etag_on_a_304_is_sent_in_the_next_request(
    crawled: tuple[Path, str, list[Entry], str],
) -> None:
    assert tags_asked(crawled, "/moving")[:3] == [None, '"0"', '"1"']
