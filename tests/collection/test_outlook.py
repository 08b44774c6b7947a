"""The outlook answers as the commands do, from one policy."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from freshet.collection.outlook import CrawlOutlook
from freshet.core.clock import FixedClock
from freshet.core.errors import UsageError
from tests.serve.served_collections import NOW, make_small_collection


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with a month of history; copied, never changed."""
    return make_small_collection(tmp_path_factory.mktemp("outlook"))


@pytest.fixture
def collection(prepared: Path, tmp_path: Path) -> Iterator[Collection]:
    path = tmp_path / "news"
    shutil.copytree(prepared, path)
    with Collection.open(path, clock=FixedClock(NOW)) as opened:
        yield opened


def test_the_outlook_answers_as_the_commands_do(collection: Collection) -> None:
    outlook, plan = CrawlOutlook(collection), collection.plan()
    assert (outlook.policy, outlook.objective) == (plan.policy, plan.objective)
    assert list(outlook.planned) == list(plan.choices)
    for page in collection.pages():
        assert outlook.forecast(page) == page.forecast()
        # The value is on the scale of the moment up to which visits were planned.
        lines, expected = dict(outlook.why(page).lines()), dict(collection.why(page).lines())
        assert lines | {"value": ""} == expected | {"value": ""}


def test_the_next_change_agrees_with_the_forecast(collection: Collection) -> None:
    outlook, pages = CrawlOutlook(collection), list(collection.pages())
    changes = outlook.next_changes(pages)
    assert set(changes) == {page.id for page in pages}
    for page in pages:
        change = changes[page.id]
        assert change.now == pytest.approx(page.forecast().horizons[0].changed)
        times = [time for time in (change.low, change.median, change.high) if time is not None]
        assert times == sorted(times)
        assert min(times) >= NOW
    fresh_pages = sum(1 - change.now for change in changes.values())
    assert outlook.freshness == pytest.approx(fresh_pages / len(pages))
    collection.add("https://never-seen.example/")
    assert CrawlOutlook(collection).freshness == pytest.approx(
        fresh_pages / (len(pages) + 1), rel=1e-3
    )


def test_pages_of_later_and_of_imports_are_not_forecast(collection: Collection) -> None:
    outlook = CrawlOutlook(collection)
    later = collection.add("https://later.example/")
    imported = collection.add("https://snap.example/", source="snap")
    assert outlook.next_changes([later, imported]) == {}
    assert not outlook.knows(later)
    with pytest.raises(UsageError, match="only live pages have forecasts"):
        outlook.forecast(imported)
    assert outlook.why(later).explanation is None


def test_a_collection_without_pages_has_an_outlook(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "empty", contact="me@example.org") as collection:
        outlook = CrawlOutlook(collection)
    assert outlook.freshness is None
    assert outlook.planned == []
