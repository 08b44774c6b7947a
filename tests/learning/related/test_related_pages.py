"""Related pages of a collection: by past changes, words, links, and words over time."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.errors import NotFoundError, UsageError
from freshet.core.types import Change, Outcome, Snapshot
from freshet.learning.related import related_pages
from freshet.learning.related.related_pages import RELATIONS, find_related

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAYS, LAG = 24, 2
HTML = (("content-type", "text/html"),)
RIVER = "the river rose in spring and flooded meadows near the old bridge"
MARKET = "shares bonds and prices fell while traders watched the market"
PATHS = ("/leader", "/follower", "/other", "/link")


def url(path: str) -> str:
    return f"https://a.example{path}"


def observations() -> Iterator[Observation]:
    """Yield daily looks: the follower shows what the leader showed two days before."""
    rng = np.random.default_rng(4)
    numbers = np.cumsum(rng.random((2, DAYS + LAG)) < 0.4, axis=1)
    for day in range(DAYS):
        words = {
            "/leader": f"{RIVER} {_water(numbers[0, day + LAG])}",
            "/follower": f"{RIVER} {_water(numbers[0, day])}",
            "/other": f"{MARKET} {numbers[1, day]}",
            "/link": f'{MARKET} quiet <a href="/other">prices</a>',
        }
        for path, text in words.items():
            body = f"<html><body><p>{text}</p></body></html>".encode()
            uid = f"{path}{day}".encode().ljust(16)
            snapshot = Snapshot(url(path), body, 200, HTML)
            yield Observation(url(path), "", START + timedelta(days=day), uid, snapshot, status=200)


def _water(number: int) -> str:
    return f"level {number} " + "flood " * (number % 3)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("related") / "c"
    with Collection.create(folder, contact="me@example.org") as opened:
        opened.add_many([url(path) for path in (*PATHS, "/unseen")])
        with opened.recording() as recorder:
            recorder.record(list(observations()))
        yield opened


@pytest.mark.parametrize("by", ["co-change", "correlation"])
def test_a_follower_is_related_to_its_leader_which_is_two_days_ahead(
    collection: Collection, by: str
) -> None:
    found = collection.page(url("/follower")).related(by=by)
    first = found.related[0]
    assert (first.page.url, first.lag_days) == (url("/leader"), LAG)
    assert 0.3 < first.weight <= 1.0
    assert (found.compared, found.total, found.steps) == (4, 4, DAYS)


@pytest.mark.parametrize("by", ["content", "host", "time-warping"])
def test_pages_with_similar_words_are_related(collection: Collection, by: str) -> None:
    found = collection.page(url("/follower")).related(by=by, count=1)
    assert [item.page.url for item in found.related] == [url("/leader")]
    assert found.related[0].lag_days is None


def test_linked_pages_are_related(collection: Collection) -> None:
    found = collection.page(url("/other")).related(by="links")
    assert [item.page.url for item in found.related] == [url("/link")]


def test_only_a_bounded_number_of_pages_is_compared(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded = {"content": replace(RELATIONS["content"], max_pages=3)}
    monkeypatch.setattr(related_pages, "RELATIONS", bounded)
    found = collection.page(url("/other")).related(by="content")
    assert (found.compared, found.total) == (2, 4)


def test_what_cannot_be_related_is_said(collection: Collection, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no looks yet"):
        collection.page(url("/unseen")).related()
    with pytest.raises(UsageError, match="co-change, content"):
        find_related(collection, collection.page(url("/other")), by="magic")
    with Collection.create(tmp_path / "one", contact="me@example.org") as alone:
        page = alone.add(url("/leader"))
        with alone.recording() as recorder:
            recorder.record([next(observations())])
        for by in RELATIONS:
            assert page.related(by=by).related == ()


@pytest.mark.parametrize(
    ("by", "obstacle"),
    [("co-change", "the history is too short"), ("content", "no stored content")],
)
def test_where_nothing_can_be_compared_it_is_said_why(
    tmp_path: Path, by: str, obstacle: str
) -> None:
    with Collection.create(tmp_path / "c", contact="me@example.org") as opened:
        reports = [
            Observation(
                url(path), "file", START, path.encode().ljust(16), None, Change(True), Outcome.OK
            )
            for path in PATHS
        ]
        with opened.recording() as recorder:
            recorder.record(reports)
        found = opened.page(url("/leader"), source="file").related(by=by)
    assert found.related == ()
    assert obstacle in found.obstacle
