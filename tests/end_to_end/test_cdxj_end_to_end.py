"""Our index of a collection is the one that cdxj-indexer makes of its files, line by line."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from freshet.archive.exporters.surt import surt
from freshet.archive.observation import HttpExchange
from freshet.collection.collection import Collection
from freshet.core.types import Outcome
from tests.end_to_end import foreign_warc as foreign
from tests.end_to_end.replay_tools import run_tool
from tests.record.record_samples import hop, html, make_collection, observe, record

HTTP = HttpExchange(
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n", b"GET / x\r\n\r\n"
)
UNCHANGED = HttpExchange(b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", b"GET / x\r\n\r\n")
LIVE = "http://127.0.0.1:8080/News"
FINAL = "https://www.example.org/final?b=2&a=1"
HTTP_TYPE = "Content-Type: application/http; msgtype=response"
URLS = [
    "http://127.0.0.1/", "http://10.1.2.3:8080/a?B=C", "http://[2001:db8::1]:8080/x", LIVE, FINAL,
    "http://www2.Example.org:80/A/B/", "https://example.org:443", "http://example.org/a//b/?",
    "http://user:pw@example.org/%7Euser/%E4%20x", "http://xn--bcher-kva.example/ä?q=ü",
    "http://example.org/?x=1&sid=0123456789abcdef0123456789abcdef", "http://example.org/?b&a&&",
    "http://example.org/(S(4hqa0555fwsecu455xqckv45))/m.aspx", "http://example.org./#top",
    "http://example.org/a;jsessionid=0123456789abcdef0123456789abcdef", "http://localhost:9/",
    "http://example.org/?cfid=12&cftoken=34&x=1", "urn:X:Y", "http://example.org/a%2Fb+c,d|e",
]  # fmt: skip


def http(status: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body


def odd_records() -> list[bytes]:
    """Return records as other programs write them, a kind each."""
    chunked = b"3\r\nabc\r\n0\r\n\r\n"
    html_type = "Content-Type: text/html"
    return [
        foreign.response(1),
        foreign.revisit(2, foreign.IDENTICAL),
        foreign.revisit(3, foreign.NOT_MODIFIED),
        foreign.raw("response", 4, http("301 Moved", "Location: /x"), HTTP_TYPE, url=LIVE),
        foreign.raw("response", 5, http("200 OK", html_type, body=b"no digest"), HTTP_TYPE),
        foreign.raw("response", 6, http("200 OK", html_type, body=b"x"), HTTP_TYPE,
                    "WARC-Payload-Digest: sha256:" + "0" * 64, url="https://example.org/sha256"),
        foreign.raw("response", 7, http("200 OK", "Transfer-Encoding: chunked", body=chunked),
                    HTTP_TYPE, url="http://192.168.0.1/chunked"),
        foreign.raw("resource", 8, b"some text", "Content-Type: text/plain; charset=utf-8"),
        foreign.request(10, of=1),
        foreign.metadata(11, of=1),
        foreign.raw("response", 12, http("404 Not Found", "content-type: TEXT/HTML;x"), HTTP_TYPE),
        foreign.raw("revisit", 13, b"", f"WARC-Profile: {foreign.IDENTICAL}",
                    f"WARC-Payload-Digest: {foreign.digest(foreign.PAGE)}"),
        foreign.raw("metadata", 14, b"{}", "Content-Type: application/json",
                    f"WARC-Concurrent-To: <{foreign.name(13)}>"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """A collection with live and imported visits: records of every kind."""
    folder = tmp_path_factory.mktemp("cdxj")
    with make_collection(folder / "c") as made:
        unchanged = observe(3, url=LIVE, outcome=Outcome.NOT_MODIFIED, exchange=UNCHANGED)
        record(made, [
            observe(1, html("one"), url=LIVE, exchange=HTTP),
            observe(2, html("one"), url=LIVE, exchange=HTTP),
            replace(unchanged, status=304),
            observe(4, html("two"), url=LIVE, exchange=HTTP, hops=(hop(LIVE, FINAL),),
                    final_url=FINAL),
            observe(5, html("gone"), url=LIVE, status=404),
            observe(6, outcome=Outcome.REDIRECT, url=LIVE, hops=(hop(LIVE, LIVE),)),
            observe(7, html("text"), url="https://example.org/resource"),
        ])  # fmt: skip
        foreign.write(folder / "odd.warc.gz", odd_records())
        assert made.import_history("warc", folder / "odd.warc.gz").bad == 0
        yield made


def test_the_index_is_that_of_cdxj_indexer_line_by_line(
    collection: Collection, tmp_path: Path
) -> None:
    collection.export("cdxj", tmp_path / "ours.cdxj")
    run_tool(
        "cdxj-indexer", "--sort", "--output", tmp_path / "theirs.cdxj", collection.archive_folder
    )
    ours = (tmp_path / "ours.cdxj").read_text().splitlines()
    assert ours == (tmp_path / "theirs.cdxj").read_text().splitlines()
    assert len(set(ours)) == len(ours)
    assert {json.loads(line.split(" ", 2)[2]).get("status") for line in ours} >= {
        "200", "301", "302", "304", "404", None,
    }  # fmt: skip


def test_keys_are_those_of_the_surt_package(tmp_path: Path) -> None:
    script = "import json, sys, surt; print(json.dumps([surt.surt(u) for u in sys.argv[1:]]))"
    keys = json.loads(run_tool("python", "-c", script, *URLS))
    assert [surt(url) for url in URLS] == keys


def test_a_removed_page_is_not_in_the_index(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as made:
        record(made, [observe(1, html("one"), url=LIVE), observe(1, html("one"), url=FINAL)])
        made.remove([made.page(LIVE)])
        made.export("cdxj", tmp_path / "index.cdxj")
    (line,) = (tmp_path / "index.cdxj").read_text().splitlines()
    assert json.loads(line.split(" ", 2)[2])["url"] == FINAL
