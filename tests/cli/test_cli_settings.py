"""Settings of pages and tags, through ``freshet set``, and all of them by ``freshet settings``."""

import re
from pathlib import Path
from typing import Any

import pytest

from freshet.cli.app import COMMANDS
from freshet.core.settings import describe_settings
from tests.cli.cli_runs import NEWS, Run


def values(document: Any) -> dict[str, Any]:
    return {row["name"]: (row["value"], row["origin"]) for row in document["settings"]}


def test_a_page_overrides_its_tag_which_overrides_the_default(run: Run, collection: Path) -> None:
    run("tag", "front", NEWS)
    run("set", "importance=2", "proxy=http://proxy.example:8080", "--tag", "front")
    run("set", "importance=5", "--page", NEWS)
    settings = values(run("set", "--page", NEWS, "--json").json)
    assert settings["importance"] == (5.0, "page")
    assert settings["proxy"] == ("http://proxy.example:8080", "tag front")
    assert settings["counts_as"] == ("text", "default")


def test_the_collection_gives_what_nobody_overrides(run: Run, collection: Path) -> None:
    with Path("freshet.toml").open("a") as file:
        file.write("[page]\nimportance = 3.0\n")
    assert values(run("set", "--page", NEWS, "--json").json)["importance"] == (3.0, "collection")


def test_headers_and_cookies_are_set_one_by_one(run: Run, collection: Path) -> None:
    run("set", "headers.Accept=text/html", "cookies.session=a b", "--page", NEWS)
    run("set", "headers.Accept-Language=en", "--page", NEWS)
    settings = values(run("set", "--page", NEWS, "--json").json)
    assert settings["headers"][0] == {"Accept": "text/html", "Accept-Language": "en"}
    assert settings["cookies"][0] == {"session": "[blanked]"}


def test_active_hours_may_name_a_zone(run: Run, collection: Path) -> None:
    result = run("set", "active_hours=08:00-20:00 Europe/Paris", "--page", NEWS)
    assert result.code == 0
    assert "08:00-20:00 Europe/Paris" in result.out


def test_a_tag_that_no_page_has_is_set_with_a_warning(run: Run, collection: Path) -> None:
    result = run("set", "active_hours=08:00-20:00", "--tag", "shop", "--json")
    assert (result.code, result.err) == (0, "no page has tag shop yet\n")
    assert values(result.json)["active_hours"] == ("08:00-20:00", "tag shop")
    run("tag", "shop", NEWS)
    assert run("set", "importance=2", "--tag", "shop").err == ""


def test_an_empty_value_takes_the_setting_away(run: Run, collection: Path) -> None:
    run("set", "importance=5", "--page", NEWS)
    settings = values(run("set", "importance=", "--page", NEWS, "--json").json)
    assert settings["importance"] == (1.0, "default")


def test_what_is_set_shows_with_the_page(run: Run, collection: Path) -> None:
    run("set", "importance=5", "--page", NEWS)
    assert run("show", NEWS, "--json").json["settings"]["importance"] == 5.0


def test_counts_as_says_how_old_visits_are_measured_again(run: Run, collection: Path) -> None:
    assert "freshet measure --again" in run("set", "counts_as=words:3", "--page", NEWS).out


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("impotance=2", "did you mean importance?"),
        ("importance=much", "must be a number"),
        ("importance=0", "must be above 0"),
        ("proxy=ftp://a.example", "must be an http(s) URL"),
        ("active_hours=25:00-26:00", "must be hours"),
        ("counts_as=words:0", "must be text, words:N"),
        ("counts_as=no.such:Measure", "measure 'no.such:Measure' cannot be imported"),
        ("headers.A=\x1b[31m", "must be printable"),
        ("policy=t * X", "policy is set for the whole collection; write it into its freshet.toml"),
        ("policy=__import__('os')", "policy is set for the whole collection"),
        ("importance", "write NAME=VALUE"),
        ("=2", "write NAME=VALUE"),
    ],
)
def test_a_wrong_setting_is_refused(
    run: Run, collection: Path, assignment: str, message: str
) -> None:
    result = run("set", assignment, "--page", NEWS)
    assert result.code == 2
    assert message in result.err
    assert "\x1b" not in result.err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('policy = "no.such:Rule"', "'no.such:Rule' cannot be imported"),
        ('[page]\ncounts_as = "no.such:Measure"', "measure 'no.such:Measure' cannot be imported"),
    ],
)
def test_a_crawl_does_not_start_with_a_class_that_cannot_be_imported(
    run: Run, collection: Path, setting: str, message: str
) -> None:
    text = Path("freshet.toml").read_text("utf-8")
    Path("freshet.toml").write_text(f"{text}\n{setting}\n", "utf-8")
    result = run("run", "--visits", "1")
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_a_setting_is_for_a_page_or_a_tag(run: Run, collection: Path) -> None:
    assert run("set", "importance=2").code == 2
    assert run("set", "importance=2", "--page", NEWS, "--tag", "front").code == 2


def test_a_broken_settings_file_is_named(run: Run, collection: Path) -> None:
    Path("freshet.toml").write_text("contact = [", "utf-8")
    result = run("status")
    assert result.code == 2
    assert "freshet.toml" in result.err


def test_every_setting_is_listed_with_value_default_and_meaning(run: Run, empty: Path) -> None:
    rows = run("settings", "--json").json
    assert [row["name"] for row in rows] == [name for name, _, _ in describe_settings()]
    assert all(row["meaning"] for row in rows)
    contact = next(row for row in rows if row["name"] == "contact")
    assert (contact["value"], contact["default"]) == ("you@example.org", "")
    output = run("settings", "budget").out
    assert re.search(r'^budget +"500/day" +"500/day" +page requests a day', output, re.M)
    assert run("settings", "nonsense").code == 3


def test_settings_show_defaults_outside_of_a_collection_and_no_secrets(
    run: Run, empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("settings", "delay", "-C", str(tmp_path)).code == 3
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir(tmp_path)
        elsewhere.setenv("FRESHET_BUDGET", "7/day")
        assert "7/day" in run("settings", "budget").out
    with (empty / "freshet.toml").open("a") as file:
        file.write('[page.cookies]\nsession = "s3cret"\n')
    assert "s3cret" not in run("settings").out + run("settings", "--json").out


def test_a_new_collections_file_names_only_commands_that_exist(run: Run, empty: Path) -> None:
    comments = (empty / "freshet.toml").read_text()
    assert "docs/" not in comments
    named = re.findall(r"'freshet ([a-z-]+)'", comments)
    assert "settings" in named
    assert set(named) <= COMMANDS.keys()
