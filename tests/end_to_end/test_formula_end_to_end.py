"""A collection whose policy is a learned model, crawled over the network."""

from pathlib import Path

from freshet.collection.collection import Collection
from tests.fetch.crawls import crawl, make_collection, outcomes
from tests.fetch.servers import Loopback, ScriptedPage, Site
from tests.schedule.test_model_file import MODEL

WORDS = "the river rose in spring and the fields along it were green again that year"


def test_pages_are_fetched_and_explained_by_a_model(tmp_path: Path) -> None:
    site = Site({f"/{number}": ScriptedPage((f"<p>{WORDS} {number}</p>",)) for number in range(3)})
    with Loopback({"a": site}) as server:
        urls = [server.urls["a"] + path for path in site.pages]
        folder = make_collection(tmp_path / "c", urls, server.allow)
        settings = folder / "freshet.toml"
        settings.write_text(f'policy = "models/news.json"\n{settings.read_text()}')
        MODEL.save(folder / "models" / "news.json")
        done = crawl(folder, visits=6, budget="100000000/day")
    assert done.returncode == 0, done.stderr
    assert sum(map(len, outcomes(folder).values())) >= 6
    with Collection.open(folder) as collection:
        assert collection.plan().policy == "news"
        found = collection.why(collection.page(urls[0])).explanation
    assert found.looks > 0
    assert found.reckoning.formula == str(MODEL.formula)
