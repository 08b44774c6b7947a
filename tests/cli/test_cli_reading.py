"""Looking at a collection: status, show, history, diff."""

from pathlib import Path

import pytest

import freshet
from freshet.view.dom import full_path, type_path
from tests.cli.cli_runs import NEWS, Run

CLUB = "https://club.example/rules"
STEERING = "<title>\x1b]0;owned\x07T</title><p>safe\x9b31m text [bold]not[/bold] :heart:</p>"


def visit(run: Run, html: str, name: str = "page.html") -> str:
    """Import one version of a page that holds that HTML, and return its URL."""
    body = html.encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    url = f"https://odd.example/{name}"
    block = head + body
    record = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{'0' * 8}-0000-4000-8000-"
        f"{'0' * 12}>\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    Path("one.warc").write_bytes(record.encode() + block + b"\r\n\r\n")
    assert run("import", "warc", "one.warc", "--source", "").code == 0
    return url


def test_status_tells_what_there_is(run: Run, collection: Path) -> None:
    result = run("status", "--days", "2")
    assert "6 pages (0 paused)" in result.out
    assert "168 visits" in result.out
    assert "2026-02-01" in result.out
    document = run("status", "--json").json
    assert document["counts"]["visits"] == 168
    assert len(document["growth"]) == 7
    assert document["imports"][0]["kind"] == "warc"


def test_status_tells_imports_from_live_pages(run: Run, empty: Path, small_warc: Path) -> None:
    run("import", "warc", str(small_warc))
    output = run("status").out
    assert "6 pages (0 paused)" in output
    assert "there are no live pages to visit; 'freshet add URL' adds one" in output
    assert "There are no live pages; 'freshet add URL' adds one." in run("plan").out


def test_show_tells_what_is_known_of_a_page(run: Run, collection: Path) -> None:
    result = run("show", NEWS)
    assert "The Valley Herald" in result.out
    assert "28 (28 looks, 19 changes)" in result.out
    document = run("show", NEWS, "--version", "1", "--json").json
    assert (document["version"], document["versions"], document["language"]) == (1, 28, "en")


def test_a_page_that_is_empty_without_scripts_is_reported_as_such(run: Run, empty: Path) -> None:
    url = visit(run, "<html><body><script>fill()</script></body></html>")
    for command in ("history", "show"):
        assert "empty: needs a browser that runs scripts" in run(command, url).out
    [row] = run("history", url, "--json").json
    assert row["visit"]["why"] == "needs a browser that runs scripts"


def test_show_prints_parts_of_a_version(run: Run, collection: Path) -> None:
    assert run("show", NEWS, "--text").out.startswith("Home About\nThe Valley Herald\n")
    assert "https://news.example/about" in run("show", NEWS, "--links").out
    assert run("show", NEWS, "--terms", "--json").json["terms"]["herald"] == 1
    assert "/html[0]/body[0]" in run("show", NEWS, "--dom").out


def test_dom_paths_are_those_that_the_view_spells(run: Run, collection: Path) -> None:
    document = run("show", NEWS, "--dom", "--json").json["dom"]
    with freshet.open(collection) as opened:
        dom = opened.page(NEWS).view(-1, dom=True).dom
    assert dom is not None
    spelt = [[full_path(dom, row), type_path(dom, row)] for row in range(len(dom))]
    assert document == spelt


def test_a_page_without_visits_can_be_shown(run: Run, empty: Path) -> None:
    run("add", NEWS)
    assert "0 (0 looks, 0 changes)" in run("show", NEWS).out
    assert "has not been visited yet" in run("history", NEWS).out
    assert run("diff", NEWS).code == 3


@pytest.mark.parametrize(("version", "code"), [("99", 3), ("0", 3), ("2020-01-01", 3), ("soon", 2)])
def test_a_version_that_is_not_there_is_said(
    run: Run, collection: Path, version: str, code: int
) -> None:
    result = run("show", NEWS, "--version", version)
    assert (result.code, result.out) == (code, "")
    assert result.err.count("\n") == 1


def test_history_numbers_the_versions_and_names_outcomes(run: Run, collection: Path) -> None:
    rows = run("history", CLUB, "--json").json
    assert [row["version"] for row in rows[19:25]] == [20, None, None, None, None, 21]
    assert {row["visit"]["outcome"] for row in rows} == {"ok", "captcha"}
    assert "captcha" in run("history", CLUB).out


def test_history_says_which_bytes_are_kept(run: Run, collection: Path) -> None:
    assert {row["kept"] for row in run("history", CLUB, "--json").json} == {True, None}
    run("prune", "--older-than", "1d", "--keep", "year", "--yes")
    kept_flags = [row["kept"] for row in run("history", NEWS, "--json").json]
    assert (kept_flags[0], kept_flags[1], kept_flags[-1]) == (True, False, True)
    assert "whose bytes are no longer kept" in run("show", NEWS, "--version", "2").out
    result = run("show", NEWS, "--version", "2", "--text")
    assert "no longer kept; the nearest that are: 1 and 26" in result.err


def test_history_names_links_only_where_they_were_compared(run: Run, collection: Path) -> None:
    assert any(row["change"]["new_links"] for row in run("history", NEWS, "--json").json[1:])
    Path("seen.csv").write_text("page,time,changed\nhttps://a.org/,2024-01-01,1\n")
    run("import", "csv", "seen.csv")
    [row] = run("history", "https://a.org/", "--json").json
    assert not row["change"].keys() & {"new_links", "removed_links"}


def test_days_are_those_of_the_calendar_up_to_the_last_visit(run: Run, empty: Path) -> None:
    rows = "".join(f"https://a.org/,2024-01-{day},0\n" for day in ("01", "03", "09", "10"))
    Path("seen.csv").write_text("page,time,changed\n" + rows)
    run("import", "csv", "seen.csv")
    document = run("status", "--days", "7", "--json").json["growth"]
    assert [row["day"] for row in document] == ["2024-01-09", "2024-01-10"]
    assert "visits by day" in run("status").out
    assert run("status", "--days", "0", "--json").json["growth"] == []


def test_history_keeps_the_latest(run: Run, collection: Path) -> None:
    lines = run("history", NEWS, "--limit", "2").out.splitlines()
    assert [line.split()[0] for line in lines] == ["v", "27", "28"]


def test_diff_marks_words_that_came_and_went(run: Run, collection: Path) -> None:
    out = run("diff", NEWS, "4", "5").out
    assert "(v4) → 2026-01-09 06:00 UTC (v5)" in out
    assert "{+Council harvest" in out
    assert "[-Harvest museum" in out
    assert "+ https://news.example/story/16" in out


def test_diff_shows_the_last_change_by_default(run: Run, collection: Path) -> None:
    document = run("diff", "https://docs.example/manual", "--json").json
    assert (document["old"]["number"], document["new"]["number"]) == (17, 18)
    assert {piece["kind"] for piece in document["words"]} == {"same", "removed", "added"}


def test_diff_takes_times(run: Run, collection: Path) -> None:
    document = run("diff", NEWS, "2026-01-07", "2026-01-08T12:00", "--json").json
    assert (document["old"]["number"], document["new"]["number"]) == (3, 4)


def test_diff_of_equal_versions_says_so(run: Run, collection: Path) -> None:
    assert "The text is unchanged." in run("diff", CLUB).out


def test_a_page_cannot_steer_the_terminal(run: Run, empty: Path) -> None:
    url = visit(run, STEERING)
    for words in (["show", url], ["show", url, "--text"], ["list"], ["show", url, "--json"]):
        out = run(*words).out
        assert not set(out) & {"\x1b", "\x07", "\x9b"}


def test_text_of_a_page_is_no_markup(run: Run, empty: Path) -> None:
    url = visit(run, STEERING)
    assert "[bold]not[/bold] :heart:" in run("show", url, "--text").out


def test_versions_may_be_counted_from_the_last(run: Run, collection: Path) -> None:
    assert run("diff", NEWS, "-2", "-1", "--json").json["new"]["number"] == 28
    wrong = run("diff", NEWS, "--nosuch")
    assert wrong.code == 2
    assert "no such option: --nosuch" in wrong.err


def test_a_live_page_without_visits_points_to_its_imports(run: Run, collection: Path) -> None:
    run("import", "warc", "archive", "--source", "old")
    run("add", "https://new.example/")
    assert run("history", "https://new.example/").out == (
        "https://new.example/ has not been visited yet.\n"
    )
