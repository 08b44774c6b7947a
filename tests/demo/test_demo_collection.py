"""The collection that the demonstration crawls."""

from collections import Counter

import numpy as np

from freshet.demo.demo_collection import FORBIDDEN_PATH, DemoCollection
from freshet.record.store import CollectionStore


def test_every_page_is_there_with_its_importance_and_one_that_is_forbidden(
    stage: DemoCollection,
) -> None:
    with CollectionStore.open(stage.path) as collection:
        pages = {page.id: page for page in collection.pages()}
        weights = collection.catalog.importance_by_page()
    assert len(pages) == len(stage.web.pages) + 1
    for page, place in stage.web_indices.items():
        assert pages[page].url == stage.url(place)
        assert weights[page] == stage.web.pages[place].importance
    assert pages[stage.forbidden_page].url == stage.origins[0] + FORBIDDEN_PATH
    assert stage.forbidden_page not in stage.web_indices


def test_only_the_ports_of_the_web_are_opened_and_the_budget_is_set(stage: DemoCollection) -> None:
    with CollectionStore.open(stage.path) as collection:
        settings = collection.settings
    assert settings.network.allow == tuple(f"127.0.0.1/32:{8000 + host}" for host in range(8))
    assert settings.budget == "100/day"
    assert settings.politeness.longest_delay >= max(host.crawl_delay for host in stage.web.hosts)


def test_the_truth_is_that_of_the_web_in_the_order_of_the_pages(stage: DemoCollection) -> None:
    truth = stage.ground_truth()
    assert truth.pages.ids.tolist() == list(stage.web_indices)
    for row, place in enumerate(stage.web_indices.values()):
        times = truth.times[truth.starts[row] : truth.starts[row + 1]]
        assert np.array_equal(times, stage.web.change_times(place))
        assert truth.is_noisy[row] == stage.web.pages[place].is_noisy


def test_the_foremost_pages_are_one_of_each_kind(stage: DemoCollection) -> None:
    kinds = {page.kind for page in stage.web.pages}
    shown = Counter(stage.kind(page) for page in stage.pages_to_show(len(kinds)))
    assert shown == Counter(kinds)
    assert len(stage.pages_to_show(1000)) == len(stage.web_indices)
