"""User names, passwords and other secrets as commands take and show them."""

import gzip
import sqlite3
from pathlib import Path

import pytest

from freshet.archive.catalog.rows import HostState, NewPage
from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.types import BadRow, Outcome, PageKey
from tests.cli.cli_runs import Run
from tests.fetch.crawls import ONCE, crawl, make_collection, outcomes
from tests.fetch.servers import Exchange, Loopback
from tests.warm_process import run_module

BASIC = "Basic bWU6aHVzaA=="  # me:hush
SITEMAP = "<urlset><url><loc>https://me:hush@map.example/</loc></url></urlset>"
OPML = '<opml><body><outline xmlUrl="https://me:hush@feed.example/"/></body></opml>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Collection.create(tmp_path / "c", contact="you@example.org").close()
    return tmp_path / "c"


def own_settings(folder: Path) -> dict[str, dict[str, object]]:
    with Collection.open(folder) as opened:
        return {page.url: opened.catalog.page_settings(page.id) for page in opened.pages()}


def test_a_password_in_a_url_becomes_a_header_of_the_page(run: Run, folder: Path) -> None:
    listed = folder / "urls.txt"
    listed.write_text("https://me:hush@listed.example/\n")
    message = run("add", "https://me:hush@safe.example/a", "http://me:hush@plain.example/",
               "--file", str(listed), "-C", str(folder))  # fmt: skip
    assert message.code == 0
    assert own_settings(folder) == {
        "https://safe.example/a": {"headers": {"Authorization": BASIC}},
        "http://plain.example/": {
            "headers": {"Authorization": BASIC},
            "insecure_secrets": True,
        },
        "https://listed.example/": {"headers": {"Authorization": BASIC}},
    }
    assert "http://plain.example/: its user name and password are kept" in message.err
    assert "sent unencrypted (insecure_secrets = true)" in message.err
    assert "hush" not in message.out + message.err


def test_a_password_in_a_served_list_is_dropped(run: Run, folder: Path) -> None:
    (folder / "map.xml").write_text(SITEMAP)
    (folder / "list.opml").write_text(OPML)
    message = run("add", "--sitemap", str(folder / "map.xml"), "--opml", str(folder / "list.opml"),
               "-C", str(folder))  # fmt: skip
    assert message.code == 0
    assert own_settings(folder) == {"https://map.example/": {}, "https://feed.example/": {}}


def test_no_command_shows_a_secret(run: Run, folder: Path) -> None:
    url = "https://shown.example/"
    run("add", url, "-C", str(folder))
    assignments = ["headers.X-Api-Key=hush", "headers.Accept=text/html", "cookies.id=hush",
             "proxy=http://me:hush@gate.example:3128"]  # fmt: skip
    outputs = [run("set", *assignments, "--page", url, "-C", str(folder))]
    outputs += [run(word, url, *more, "-C", str(folder))
             for word in ("show", "why") for more in ((), ("--json",))]  # fmt: skip
    outputs += [
        run("set", "--page", url, "--json", "-C", str(folder)),
        run("list", "-C", str(folder)),
    ]
    outputs += [run("set", "proxy=socks5://me:hush@gate.example", "--page", url, "-C", str(folder))]
    outputs += [run("set", "proxy=me:hush@gate.example", "--page", url, "-C", str(folder))]
    outputs += [run("show", "http://me:hush@[/", "-C", str(folder))]
    outputs += [run("show", "http://me:hush@nowhere.example/", "-C", str(folder))]
    assert [message.code for message in outputs] == [0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 3]
    assert not [message for message in outputs if "hush" in message.out + message.err]
    assert "http://[blanked]@gate.example:3128" in outputs[0].out
    assert "X-Api-Key: [blanked]" in outputs[0].out
    assert "Accept: text/html" in outputs[0].out
    with Collection.open(folder) as opened:
        stored = opened.settings_for(opened.page(url))
    assert stored.headers["X-Api-Key"] == stored.cookies["id"] == "hush"


def test_show_and_why_say_that_a_page_is_not_verified(run: Run, folder: Path) -> None:
    url = "https://inner.example/"
    run("add", url, "-C", str(folder))
    assert "not verified" not in run("why", url, "-C", str(folder)).out
    run("set", "verify_tls=false", "--page", url, "-C", str(folder))
    for word in ("show", "why"):
        assert "not verified (verify_tls is false)" in run(word, url, "-C", str(folder)).out
    assert run("set", "verify_tls=maybe", "--page", url, "-C", str(folder)).code == 2


def forget_clean_up(folder: Path) -> None:
    """Let a collection be one that an earlier version wrote."""
    with sqlite3.connect(folder / "catalog.db") as table:
        table.execute("DELETE FROM meta WHERE key = 'user_info_cleaned'")
    table.close()


def old_page(url: str, source: str = "") -> NewPage:
    host = url.split("/")[2].rpartition("@")[2]
    return NewPage(PageKey(url, source), host, host, f"{host}/")


def test_pages_of_earlier_collections_keep_the_password_of_their_url_as_a_header(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def answer(exchange: Exchange) -> None:
        is_authorized = exchange.entry.header("authorization") == BASIC
        status = 404 if exchange.entry.path == "/robots.txt" else 200 if is_authorized else 401
        await exchange.answer("<p>the river rose in spring and the fields were green</p>", status)

    with Loopback({"a": answer}) as server:
        clean = server.urls["a"] + "/mine"
        folder = make_collection(tmp_path / "c", [], server.allow, ONCE)
        old = clean.replace("http://", "http://me:hush@")
        with Collection.open(folder) as opened:
            opened.catalog.add_pages([old_page(old)], opened.clock.now())
        forget_clean_up(folder)
        done = crawl(folder, visits=1)
        assert outcomes(folder) == {clean: ["refused"]}
        assert "hush" not in done.stdout + done.stderr
        assert done.stderr.count("Authorization header") == 1
        assert f"insecure_secrets=true --page URL' allows it: {clean}" in done.stderr
        with Collection.open(folder) as opened:
            page = opened.page(old)
            assert page.id == opened.page(clean).id
            assert "insecure_secrets" in str(page.history()[0].visit.why)
            opened.change_settings(page, [("insecure_secrets", True)])
        crawl(folder, visits=1)
    assert outcomes(folder) == {clean: ["refused", "ok"]}
    assert not caplog.records
    with Collection.open(folder) as opened:
        assert opened.check().is_sound
    stored = b"".join(
        gzip.decompress(file.read_bytes()) for file in (folder / "archive").glob("*.warc.gz")
    )
    assert b"hush" not in stored
    assert b"bWU6" not in stored


def test_nothing_of_an_earlier_collection_keeps_a_password_in_clear(folder: Path) -> None:
    old = [
        old_page("https://me:hush@twice.example/"),
        old_page("https://twice.example/"),
        old_page("https://me:hush@removed.example/"),
        old_page("https://me:hush@removed.example/", "csv"),
        old_page("https://me:hush@imported.example/a", "csv"),
        old_page("https://plain.example/@me", "csv"),
    ]
    why = "robots.txt of one.example is unavailable: invalid hostname: me:hush@one.example"
    with Collection.open(folder) as opened:
        now, catalog = opened.clock.now(), opened.catalog
        ids = catalog.add_pages(old, now).ids
        catalog.remove_pages(ids[2:4], now)
        catalog.set_host_states([HostState("one.example", robots={"why": why})])
        number = catalog.start_import("csv", "in.csv", "csv", now)
        catalog.add_bad_rows(number, [BadRow("in.csv", "page 'ftp://me:hush@h/' is no URL")])
        observation = Observation(
            old[0].key.url, "", now, b"1" * 16, outcome=Outcome.UNREACHABLE, why=why
        )
        with opened.recording() as recorder:
            recorder.record([observation])
        with sqlite3.connect(folder / "catalog.db") as table:
            table.execute("UPDATE visits SET page_id = ?", [ids[0]])
        table.close()
    forget_clean_up(folder)
    with Collection.open(folder) as opened:
        urls = {page.id: page.url for page in opened.catalog.pages_by_id(ids).values()}
        current = [page.id for page in opened.pages()]
        assert opened.check().is_sound
    assert [urls[page_id] for page_id in ids] == [
        f"https://twice.example/#page-{ids[0]}",
        "https://twice.example/",
        "https://removed.example/",
        "https://removed.example/",
        "https://imported.example/a",
        "https://plain.example/@me",
    ]
    assert current == [ids[1], *ids[4:]]
    assert not [file for file in folder.glob("catalog.db*") if b"hush" in file.read_bytes()]


TYPED = ("me:hush@h.example/", "http://me:hu'hush@[bad/", "http://me:hu#hush@host.example/",
         "http://me:x/hush@h.example/", "http:me:hush@[bad", "hush:8@h.example",
         "me:80#hush@h.example", "ftp://me:hush@h.example/",
         "http://me:hu hush@h.example:x/")  # fmt: skip


def test_a_url_that_is_refused_is_shown_without_what_stands_before_its_host(
    run: Run, folder: Path
) -> None:
    for more in ((), ("--json",)):
        message = run("add", *TYPED, *more, "-C", str(folder))
        assert message.code == 4
        assert "hush" not in message.out + message.err
    assert [row["place"] for row in message.json["refused"]][:3] == [
        "[blanked]@h.example/",
        "http://[blanked]@[bad/",
        "http://[blanked]@host.example/",
    ]
    for url in TYPED:
        message = run("show", url, "-C", str(folder))
        assert "hush" not in message.out + message.err
    message = run("add", "social.example/@me", "-C", str(folder))
    assert "write https://social.example/@me" in message.err


@pytest.mark.parametrize("source", ["", "csv"])
def test_rows_that_an_import_refuses_are_kept_and_shown_without_passwords(
    run: Run, folder: Path, source: str
) -> None:
    listed = folder / "in.csv"
    urls = ["http://me:hush@exa mple/", "ftp://me:hush@h/", "http://me:hu hush@h:x/",
            "http://me:\x01hush@h/"]  # fmt: skip
    rows = [f"{url},2026-01-01T00:00:00Z,1" for url in urls]
    listed.write_text("\n".join(["page,time,changed", *rows, "http://a/,http://me:hush@h/,1", ""]))
    message = [run("import", "csv", str(listed), "-C", str(folder), "--source", source, "--json")]
    message += [run("status", "--bad", "1", *more, "-C", str(folder)) for more in ((), ("--json",))]
    assert len(message[0].json["bad_rows"]) == 5
    assert not [result for result in message if "hush" in result.out + result.err]
    listed.unlink()
    assert not [file for file in folder.glob("catalog.db*") if b"hush" in file.read_bytes()]


def test_watch_sends_the_password_of_a_url_and_says_how(tmp_path: Path) -> None:
    async def answer(exchange: Exchange) -> None:
        is_authorized = exchange.entry.header("authorization") == BASIC
        status = 404 if exchange.entry.path == "/robots.txt" else 200 if is_authorized else 401
        await exchange.answer("<p>the river rose in spring and the fields were green</p>", status)

    with Loopback({"a": answer}) as server:
        folder = make_collection(tmp_path / "c", [], server.allow, ONCE)
        typed = server.urls["a"].replace("http://", "http://me:hush@") + "/mine"
        log = tmp_path / "log"
        words = ("watch", typed, "-C", str(folder), "--log-file", str(log))
        message = run_module("freshet", *words)
    assert message.returncode == 0, message.stderr
    assert outcomes(folder) == {f"{server.urls['a']}/mine": ["ok"]}
    assert "sent unencrypted (insecure_secrets = true)" in message.stderr
    assert "hush" not in message.stdout + message.stderr + log.read_text()
