"""A user's policy that fails ends the crawl with a clear error, and no visit is lost."""

from pathlib import Path

from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.servers import Loopback, ScriptedPage, Site

POLICY = "tests.schedule.own_policies:LearnBreaks"
NAMES = [f"/{number}" for number in range(40)]


def test_a_crawl_ends_with_the_method_that_failed(tmp_path: Path) -> None:
    site = Site({name: ScriptedPage(("<p>a page of some words</p>",)) for name in NAMES})
    with Loopback({"a": site}) as server:
        urls = [f"{server.urls['a']}{name}" for name in NAMES]
        folder = make_collection(tmp_path / "c", urls, server.allow)
        text = (folder / "freshet.toml").read_text()
        (folder / "freshet.toml").write_text(f'policy = "{POLICY}"\n' + text)
        ran = crawl(folder, visits=200, seconds=20, budget="2000000/day")
        requested = [entry.path for entry in server.log.entries("a") if entry.path in NAMES]
    problem = f"policy method {POLICY}.learn failed: RuntimeError: table is full"
    assert f"OwnClassError: {problem}" in ran.stderr
    assert "fault of Freshet" not in ran.stderr
    assert sum(map(len, outcomes(folder).values())) == len(requested)
