"""User names, passwords and other secrets as commands take and show them."""

import gzip
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from freshet.archive.catalog.rows import NewPage
from freshet.core.types import PageKey
from freshet.flow.opened import OpenedCollection
from tests.cli.cli_runs import Run
from tests.fetch.crawls import ONCE, crawl, make_collection, outcomes
from tests.fetch.servers import Exchange, Loopback

BASIC = "Basic bWU6aHVzaA=="  # me:hush
SITEMAP = "<urlset><url><loc>https://me:hush@map.example/</loc></url></urlset>"
OPML = '<opml><body><outline xmlUrl="https://me:hush@feed.example/"/></body></opml>'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    OpenedCollection.create(tmp_path / "c", contact="you@example.org").close()
    return tmp_path / "c"


def own_settings(place: Path) -> dict[str, dict[str, object]]:
    with OpenedCollection.open(place) as opened:
        return {page.url: opened.catalog.page_settings(page.id) for page in opened.pages()}


def test_a_password_in_a_url_becomes_a_header_of_the_page(run: Run, place: Path) -> None:
    listed = place / "urls.txt"
    listed.write_text("https://me:hush@listed.example/\n")
    said = run("add", "https://me:hush@safe.example/a", "http://me:hush@plain.example/",
               "--file", str(listed), "-C", str(place))  # fmt: skip
    assert said.code == 0
    assert own_settings(place) == {
        "https://safe.example/a": {"headers": {"Authorization": BASIC}},
        "http://plain.example/": {
            "headers": {"Authorization": BASIC},
            "insecure_secrets": True,
        },
        "https://listed.example/": {"headers": {"Authorization": BASIC}},
    }
    assert "http://plain.example/: its user name and password are kept" in said.err
    assert "sent unencrypted (insecure_secrets = true)" in said.err
    assert "hush" not in said.out + said.err


def test_a_password_in_a_served_list_is_dropped(run: Run, place: Path) -> None:
    (place / "map.xml").write_text(SITEMAP)
    (place / "list.opml").write_text(OPML)
    said = run("add", "--sitemap", str(place / "map.xml"), "--opml", str(place / "list.opml"),
               "-C", str(place))  # fmt: skip
    assert said.code == 0
    assert own_settings(place) == {"https://map.example/": {}, "https://feed.example/": {}}


def test_no_command_shows_a_secret(run: Run, place: Path) -> None:
    url = "https://shown.example/"
    run("add", url, "-C", str(place))
    given = ["headers.X-Api-Key=hush", "headers.Accept=text/html", "cookies.id=hush",
             "proxy=http://me:hush@gate.example:3128"]  # fmt: skip
    told = [run("set", *given, "--page", url, "-C", str(place))]
    told += [run(word, url, *more, "-C", str(place))
             for word in ("show", "why") for more in ((), ("--json",))]  # fmt: skip
    told += [run("set", "--page", url, "--json", "-C", str(place)), run("list", "-C", str(place))]
    told += [run("set", "proxy=socks5://me:hush@gate.example", "--page", url, "-C", str(place))]
    told += [run("set", "proxy=me:hush@gate.example", "--page", url, "-C", str(place))]
    told += [run("show", "http://me:hush@[/", "-C", str(place))]
    told += [run("show", "http://me:hush@nowhere.example/", "-C", str(place))]
    assert [said.code for said in told] == [0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 3]
    assert not [said for said in told if "hush" in said.out + said.err]
    assert "http://[blanked]@gate.example:3128" in told[0].out
    assert "X-Api-Key: [blanked]" in told[0].out
    assert "Accept: text/html" in told[0].out
    with OpenedCollection.open(place) as opened:
        kept = opened.settings_for(opened.page(url))
    assert kept.headers["X-Api-Key"] == kept.cookies["id"] == "hush"


def test_show_and_why_say_that_a_page_is_not_verified(run: Run, place: Path) -> None:
    url = "https://inner.example/"
    run("add", url, "-C", str(place))
    assert "not verified" not in run("why", url, "-C", str(place)).out
    run("set", "verify_tls=false", "--page", url, "-C", str(place))
    for word in ("show", "why"):
        assert "not verified (verify_tls is false)" in run(word, url, "-C", str(place)).out
    assert run("set", "verify_tls=maybe", "--page", url, "-C", str(place)).code == 2


def test_pages_of_earlier_collections_with_a_password_in_their_url_are_fetched_with_a_header(
    tmp_path: Path,
) -> None:
    async def answer(exchange: Exchange) -> None:
        known = exchange.entry.header("authorization") == BASIC
        status = 404 if exchange.entry.path == "/robots.txt" else 200 if known else 401
        await exchange.answer("<p>the river rose in spring and the fields were green</p>", status)

    with Loopback({"a": answer}) as server:
        clean = server.urls["a"] + "/mine"
        folder = make_collection(tmp_path / "c", [], server.allow, ONCE)
        old = clean.replace("http://", "http://me:hush@")
        host = server.urls["a"].removeprefix("http://")
        with OpenedCollection.open(folder) as opened:
            page = NewPage(PageKey(old), host, host, f"{host}/")
            opened.catalog.add_pages([page], opened.clock.now())
        with sqlite3.connect(folder / "catalog.db") as table:
            table.execute("DELETE FROM meta WHERE key = 'urls_cleaned'")
        table.close()
        done = crawl(folder, visits=1)
    assert outcomes(folder) == {clean: ["ok"]}
    assert "hush" not in done.stdout + done.stderr
    with OpenedCollection.open(folder) as opened:
        assert opened.check().is_sound
        assert opened.page(old).id == opened.page(clean).id
    [file] = (folder / "archive").glob("*.warc.gz")
    kept = gzip.decompress(file.read_bytes())
    assert b"hush" not in kept
    assert b"bWU6" not in kept


def test_watch_sends_the_password_of_a_url_and_says_how(tmp_path: Path) -> None:
    async def answer(exchange: Exchange) -> None:
        known = exchange.entry.header("authorization") == BASIC
        status = 404 if exchange.entry.path == "/robots.txt" else 200 if known else 401
        await exchange.answer("<p>the river rose in spring and the fields were green</p>", status)

    with Loopback({"a": answer}) as server:
        folder = make_collection(tmp_path / "c", [], server.allow, ONCE)
        typed = server.urls["a"].replace("http://", "http://me:hush@") + "/mine"
        log = tmp_path / "log"
        command = [sys.executable, "-m", "freshet", "watch", typed, "-C", str(folder),
                   "--log-file", str(log)]  # fmt: skip
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 0, said.stderr
    assert outcomes(folder) == {f"{server.urls['a']}/mine": ["ok"]}
    assert "sent unencrypted (insecure_secrets = true)" in said.stderr
    assert "hush" not in said.stdout + said.stderr + log.read_text()
