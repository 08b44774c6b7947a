"""The collection that the demonstration crawls."""

from collections import Counter

import numpy as np

from freshet.demo.demo_collection import FORBIDDEN_PATH, DemoCollection
from freshet.record.collection_store import CollectionStore


def test_every_page_is_there_with_its_importance_and_one_that_is_forbidden(
    demo_collection: DemoCollection,
) -> None:
    with CollectionStore.open(demo_collection.path) as collection:
        pages = {page.id: page for page in collection.pages()}
        weights = collection.catalog.importance_by_page()
    assert len(pages) == len(demo_collection.web.pages) + 1
    for page, web_index in demo_collection.web_indices.items():
        assert pages[page].url == demo_collection.url(web_index)
        assert weights[page] == demo_collection.web.pages[web_index].importance
    assert pages[demo_collection.forbidden_page].url == demo_collection.origins[0] + FORBIDDEN_PATH
    assert demo_collection.forbidden_page not in demo_collection.web_indices


def test_only_the_ports_of_the_web_are_opened_and_the_budget_is_set(
    demo_collection: DemoCollection,
) -> None:
    with CollectionStore.open(demo_collection.path) as collection:
        settings = collection.settings
    assert settings.network.allow == tuple(f"127.0.0.1/32:{8000 + host}" for host in range(8))
    assert settings.budget == "100/day"
    assert settings.politeness.longest_delay >= max(
        host.crawl_delay for host in demo_collection.web.hosts
    )


def test_the_truth_is_that_of_the_web_in_the_order_of_the_pages(
    demo_collection: DemoCollection,
) -> None:
    truth = demo_collection.ground_truth()
    assert truth.pages.ids.tolist() == list(demo_collection.web_indices)
    for row, web_index in enumerate(demo_collection.web_indices.values()):
        times = truth.times[truth.starts[row] : truth.starts[row + 1]]
        assert np.array_equal(times, demo_collection.web.change_times(web_index))
        assert truth.is_noisy[row] == demo_collection.web.pages[web_index].is_noisy


def test_the_pages_to_show_are_one_of_each_kind(demo_collection: DemoCollection) -> None:
    kinds = {page.kind for page in demo_collection.web.pages}
    shown = Counter(
        demo_collection.kind(page) for page in demo_collection.pages_to_show(len(kinds))
    )
    assert shown == Counter(kinds)
    assert len(demo_collection.pages_to_show(1000)) == len(demo_collection.web_indices)
