"""The collection that the demonstration crawls."""

from collections import Counter

import numpy as np

from freshet.demo.demo_collection import FORBIDDEN, Stage
from freshet.record.store import CollectionStore


def test_every_page_is_there_with_its_importance_and_one_that_is_forbidden(stage: Stage) -> None:
    with CollectionStore.open(stage.path) as collection:
        pages = {page.id: page for page in collection.pages()}
        weights = collection.catalog.weights()
    assert len(pages) == len(stage.web.pages) + 1
    for page, place in stage.pages.items():
        assert pages[page].url == stage.url(place)
        assert weights[page] == stage.web.pages[place].importance
    assert pages[stage.forbidden].url == stage.origins[0] + FORBIDDEN
    assert stage.forbidden not in stage.pages


def test_only_the_ports_of_the_web_are_opened_and_the_budget_is_set(stage: Stage) -> None:
    with CollectionStore.open(stage.path) as collection:
        settings = collection.settings
    assert settings.network.allow == tuple(f"127.0.0.1/32:{8000 + host}" for host in range(8))
    assert settings.budget == "100/day"
    assert settings.politeness.longest_delay >= max(host.crawl_delay for host in stage.web.hosts)


def test_the_truth_is_that_of_the_web_in_the_order_of_the_pages(stage: Stage) -> None:
    truth = stage.truth()
    assert truth.pages.ids.tolist() == list(stage.pages)
    for row, place in enumerate(stage.pages.values()):
        times = truth.times[truth.starts[row] : truth.starts[row + 1]]
        assert np.array_equal(times, stage.web.change_times(place))
        assert truth.noisy[row] == stage.web.pages[place].noisy


def test_the_foremost_pages_are_one_of_each_kind(stage: Stage) -> None:
    kinds = {page.kind for page in stage.web.pages}
    shown = Counter(stage.kind(page) for page in stage.foremost(len(kinds)))
    assert shown == Counter(kinds)
    assert len(stage.foremost(1000)) == len(stage.pages)
