"""Making a collection, and keeping its list of pages."""

from pathlib import Path

from tests.cli.cli_runs import NEWS, Run

SITEMAP = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    "<url><loc>https://a.example/mapped</loc></url></urlset>"
)
OPML = '<opml><body><outline xmlUrl="https://a.example/feed"/></body></opml>'


def test_init_makes_a_collection(run: Run, tmp_path: Path) -> None:
    result = run("init", str(tmp_path / "c"), "--contact", "you@example.org", "--json")
    assert result.code == 0
    assert result.json == {"collection": str(tmp_path / "c"), "contact": "you@example.org"}
    assert {item.name for item in (tmp_path / "c").iterdir()} >= {"freshet.toml", "catalog.db"}


def test_init_without_a_terminal_needs_a_contact(run: Run, tmp_path: Path) -> None:
    result = run("init", str(tmp_path / "c"))
    assert (result.code, result.out) == (2, "")
    assert "--contact" in result.err
    assert not (tmp_path / "c").exists()


def test_init_refuses_a_folder_that_is_a_collection(run: Run, empty: Path) -> None:
    result = run("init", ".", "--contact", "you@example.org")
    assert result.code == 2
    assert "is a collection already" in result.err


def test_a_contact_over_two_lines_is_refused_and_nothing_is_made(run: Run, tmp_path: Path) -> None:
    result = run("init", str(tmp_path / "c"), "--contact", "a\nb")
    assert result.code == 2
    assert not (tmp_path / "c").exists()


def test_a_command_outside_a_collection_says_how_to_make_one(run: Run, tmp_path: Path) -> None:
    result = run("status", "-C", str(tmp_path))
    assert result.code == 3
    assert result.err.count("\n") == 1
    assert "freshet init" in result.err


def test_pages_are_added_once(run: Run, empty: Path) -> None:
    assert run("add", "https://a.example/#x", "https://a.example/").out.startswith("Added 1 page;")
    again = run("add", "https://a.example/", "--tag", "front", "--json")
    assert again.json == {"new": 0, "known": 1, "restored": 0, "refused": [], "notes": []}
    assert run("list", "--tag", "front", "--json").json[0]["page"]["url"] == "https://a.example/"


def test_adding_a_removed_page_says_that_it_is_watched_again(run: Run, empty: Path) -> None:
    run("add", "https://a.example/", "https://b.example/")
    run("remove", "https://a.example/", "--yes")
    text = run("add", "https://a.example/", "https://b.example/").out
    assert text == (
        "Added 0 pages; 1 already existed; "
        "1 was removed before and is watched again, with the earlier history.\n"
    )
    assert len(run("list", "--json").json) == 2


def test_what_is_no_url_is_named_and_the_rest_is_added(run: Run, empty: Path) -> None:
    result = run("add", "https://a.example/", "no url")
    assert result.code == 4
    assert (
        result.err
        == "no url: has no scheme; write the full URL, such as https://example.org/news\n"
    )
    assert len(run("list", "--json").json) == 1


def test_pages_come_from_lists_sitemaps_and_opml_files(run: Run, empty: Path) -> None:
    Path("list.txt").write_text("# mine\n https://a.example/listed \n\n", "utf-8")
    Path("map.xml").write_text(SITEMAP, "utf-8")
    Path("feeds.opml").write_text(OPML, "utf-8")
    run("add", "--file", "list.txt", "--sitemap", "map.xml", "--opml", "feeds.opml")
    urls = [row["page"]["url"] for row in run("list", "--json").json]
    assert urls == [
        "https://a.example/listed",
        "https://a.example/mapped",
        "https://a.example/feed",
    ]


def test_a_list_that_is_not_there_is_bad_input(run: Run, empty: Path) -> None:
    result = run("add", "--file", "nowhere.txt")
    assert result.code == 4
    assert "nowhere.txt cannot be read" in result.err


def test_a_file_of_the_wrong_kind_is_bad_input(run: Run, empty: Path) -> None:
    Path("map.xml").write_text(SITEMAP, "utf-8")
    assert run("add", "--opml", "map.xml").code == 4


def test_an_index_of_sitemaps_is_refused(run: Run, empty: Path) -> None:
    entry = "<sitemap><loc>https://a.example/1.xml</loc></sitemap>"
    Path("index.xml").write_text(f"<sitemapindex>{entry}</sitemapindex>", "utf-8")
    result = run("add", "--sitemap", "index.xml")
    assert result.code == 4
    assert "index.xml: the sitemap only names further sitemaps" in result.err


def test_adding_nothing_is_wrong_usage(run: Run, empty: Path) -> None:
    assert run("add").code == 2


def test_a_removed_page_comes_back_with_its_history(run: Run, collection: Path) -> None:
    assert run("remove", NEWS).code == 0
    assert run("history", NEWS).code == 3
    run("add", NEWS)
    assert len(run("history", NEWS, "--json").json) == 28


def test_a_removed_page_is_not_there(run: Run, collection: Path) -> None:
    run("remove", NEWS)
    for words in (("remove", NEWS), ("history", NEWS), ("history", NEWS, "--source", "")):
        result = run(*words)
        assert result.code == 3
        assert f"freshet add {NEWS}" in result.err


def test_a_removed_page_can_still_be_purged(run: Run, collection: Path) -> None:
    run("remove", NEWS)
    assert run("remove", NEWS, "--purge", "--yes", "--json").json["freed_bytes"] > 0
    assert run("status", "--json").json["counts"]["removed"] == 0


def test_a_purged_page_is_gone_for_good(run: Run, collection: Path) -> None:
    result = run("remove", NEWS, "--purge", "--yes", "--json")
    assert result.json["freed_bytes"] > 0
    assert run("check", "--json").json["problems"] == []
    run("add", NEWS)
    assert run("history", NEWS, "--json").json == []


def test_nothing_is_purged_without_a_yes(run: Run, collection: Path) -> None:
    result = run("remove", NEWS, "--purge")
    assert result.code == 2
    assert "--yes" in result.err
    assert len(run("history", NEWS, "--json").json) == 28


def test_pages_are_paused_and_resumed(run: Run, collection: Path) -> None:
    run("tag", "front", NEWS)
    assert run("pause", "--tag", "front", "--json").json == {"paused": 1}
    assert "paused" in run("list", "--tag", "front").out
    assert run("status", "--json").json["counts"]["paused"] == 1
    assert run("resume", NEWS).out == "Resumed 1 page.\n"
    assert "paused" not in run("list", "--tag", "front").out


def test_which_pages_must_be_said(run: Run, collection: Path) -> None:
    for command in ("pause", "resume", "remove"):
        assert run(command).code == 2


def test_a_tag_that_no_page_has_is_not_found(run: Run, collection: Path) -> None:
    assert run("pause", "--tag", "nosuch").code == 3
    assert run("list", "--tag", "nosuch").out.startswith("No page has tag nosuch")


def test_a_tag_is_given_and_taken(run: Run, collection: Path) -> None:
    run("tag", "front", NEWS)
    assert run("tag", "front", "--remove", "--json").json == {
        "tag": "front", "pages": 1, "removed": True,
    }  # fmt: skip
    assert run("list", "--tag", "front", "--json").json == []


def test_a_tag_is_one_word(run: Run, collection: Path) -> None:
    for name in ("", "two words", "bell\x07"):
        assert run("tag", name, NEWS).code == 2


def test_a_page_that_is_not_there_is_named(run: Run, collection: Path) -> None:
    result = run("tag", "front", "https://nowhere.example/")
    assert result.code == 3
    assert "freshet add https://nowhere.example/" in result.err


def test_pages_are_listed_by_latest_change(run: Run, collection: Path) -> None:
    rows = run("list", "--changed", "--limit", "2", "--json").json
    times = [row["last_change"] for row in rows]
    assert len(rows) == 2
    assert times == sorted(times, reverse=True)


def test_an_empty_list_says_how_to_fill_it(run: Run, empty: Path) -> None:
    assert "freshet add URL" in run("list").out
    assert run("list", "--json").json == []
