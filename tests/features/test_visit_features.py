"""What was known before each look at a page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freshet.core.content.measured_looks import MeasuredLooks
from freshet.core.content.related_pages import collect_related
from freshet.core.tables import DAY_SECONDS
from freshet.features.kernels.visit_features import FEATURE_COUNT
from freshet.features.look_features import LOOK_FEATURES
from freshet.features.measured_looks import looks_of_grid
from freshet.features.visit_features import (
    COLLECTION_FEATURES,
    FEATURE_NAMES,
    FEATURES,
    RELATED_FEATURES,
    FeatureArray,
    VisitFeatures,
)
from freshet.predict.chance_correction import FORECAST_COLUMN
from tests.core.content.test_content_grid import small_grid

START = 20_000.0
HOSTS = np.array([0, 0, 1], np.int32)


def looks(*rows: tuple[int, float, bool], hashes: Sequence[int] = ()) -> MeasuredLooks:
    """Return looks from pages, days after the start, and whether a change was found."""
    pages, days, changed = zip(*rows, strict=True)
    size = np.where(changed, 10.0, np.nan)
    return MeasuredLooks(
        np.array(pages, np.int32),
        (START + np.array(days)) * DAY_SECONDS,
        np.ones(len(rows), np.bool_),
        np.array(changed),
        np.array(hashes or range(1, len(rows) + 1), np.uint64),
        size,
        size / 20.0,
        size,
        np.full(len(rows), 100.0),
    )


def column(features: FeatureArray, name: str) -> list[float]:
    return features[:, FEATURE_NAMES.index(name)].tolist()


def random_looks(count: int, *, seed: int) -> MeasuredLooks:
    generator = np.random.default_rng(seed)
    days = np.sort(generator.integers(0, 4 * count, count) / 8)
    return looks(
        *((int(generator.integers(3)), float(day), bool(generator.random() < 0.4)) for day in days)
    )


def test_every_feature_is_named_and_described() -> None:
    assert len(FEATURES) == FEATURE_COUNT
    assert all(FEATURES.values())


def test_the_reference_lists_every_feature() -> None:
    text = (Path(__file__).parents[2] / "docs/reference/change-features.md").read_text("utf-8")
    for name, meaning in LOOK_FEATURES.items():
        assert f"| `{name}` | {meaning} |" in text
    assert f"| `{FORECAST_COLUMN}` |" in text


def test_nothing_is_known_before_the_first_look() -> None:
    features = VisitFeatures(HOSTS).at(np.array([0], np.int32), np.array([START * DAY_SECONDS]))
    assert np.isnan(column(features, "gap")[0])
    assert column(features, "looks") == [0.0]
    assert np.isnan(column(features, "host_rate_3d")[0])


def test_the_history_of_a_page_by_hand() -> None:
    table = looks((0, 0, False), (0, 1, True), (0, 2, False), (0, 4, True), (0, 5, False))
    features = VisitFeatures(HOSTS).add_looks(table)
    assert column(features, "gap")[1:] == [1.0, 1.0, 2.0, 1.0]
    assert column(features, "streak") == [0.0, 0.0, 1.0, -1.0, 1.0]
    assert np.expm1(column(features, "changes")).round(3).tolist() == [0.0, 0.0, 1.0, 1.0, 2.0]
    assert np.expm1(column(features, "since_change")[2:]).round(3).tolist() == [1.0, 3.0, 1.0]
    assert np.exp(column(features, "mean_interval")[4]) == pytest.approx(3.01, abs=1e-4)
    assert column(features, "share_2_looks")[2:] == [1.0, 0.5, 0.75]


def test_a_text_that_comes_back_counts_as_a_return() -> None:
    table = looks(
        (0, 0, False), (0, 1, True), (0, 2, True), (0, 3, True), hashes=[7, 8, 7, 9]
    )  # fmt: skip
    features = VisitFeatures(HOSTS)
    features.add_looks(table)
    after = features.at(np.array([0], np.int32), np.array([(START + 4) * DAY_SECONDS]))
    assert column(after, "returns") == [1.0]


def test_other_pages_count_for_their_host_and_for_the_collection() -> None:
    table = looks((0, 0, False), (1, 0, False), (2, 0, False), (1, 1, True), (0, 2, False))
    features = VisitFeatures(HOSTS).add_looks(table)
    assert column(features, "host_changes_3d")[3] == 0.0
    assert column(features, "host_changes_3d")[4] > 0.0
    assert column(features, "collection_changes_3d")[4] == column(features, "host_changes_3d")[4]
    alone = VisitFeatures(np.array([0, 1, 2], np.int32)).add_looks(table)
    assert column(alone, "host_changes_3d")[4] == 0.0


def test_looks_at_one_time_do_not_see_each_other() -> None:
    table = looks((0, 0, False), (1, 0, False), (0, 1, True), (1, 1, True))
    features = VisitFeatures(HOSTS).add_looks(table)
    assert column(features, "host_changes_3d") == [0.0] * 4


def test_a_change_of_unknown_size_leaves_the_mean_sizes() -> None:
    table = looks((0, 0, False), (0, 1, True), (0, 2, True), (0, 3, False))
    sizes = np.array([np.nan, 5.0, np.nan, np.nan])
    features = VisitFeatures(HOSTS).add_looks(replace(table, words=sizes, new_links=sizes))
    assert column(features, "mean_words")[3] == pytest.approx(np.log(6))
    assert column(features, "mean_new_links")[3] == pytest.approx(np.log(6))


def test_related_pages_that_changed_since_the_last_look() -> None:
    nobody = np.empty(0, np.int32), np.empty(0), np.empty(0, np.int32)
    others = np.array([1, 2], np.int32), np.array([3.0, 1.0]), np.zeros(2, np.int32)
    related = collect_related([others, nobody, nobody])
    table = looks((0, 0, False), (1, 0, False), (2, 0, False), (1, 1, True), (0, 2, False))
    features = VisitFeatures(HOSTS, related).add_looks(table)
    assert column(features, "related_changed")[4] == 0.75
    assert np.isnan(column(features, "related_changed")[3])


def test_a_collection_has_no_features_of_related_pages() -> None:
    columns = FEATURE_NAMES[: len(COLLECTION_FEATURES)]
    assert columns == tuple(COLLECTION_FEATURES)
    assert not set(columns) & set(RELATED_FEATURES)


def test_the_future_does_not_change_what_was_known() -> None:
    table = random_looks(300, seed=3)
    every = VisitFeatures(HOSTS).add_looks(table)
    for end in (1, 50, 200):
        past = VisitFeatures(HOSTS).add_looks(table.select(np.arange(end, dtype=np.int32)))
        np.testing.assert_array_equal(past, every[:end])


def test_looks_in_batches_give_the_same_features() -> None:
    table = random_looks(200, seed=4)
    whole, batched = VisitFeatures(HOSTS), VisitFeatures(HOSTS)
    cut = int(np.searchsorted(table.times, table.times[90]))
    first, second = np.arange(cut, dtype=np.int32), np.arange(cut, 200, dtype=np.int32)
    parts = [batched.add_looks(table.select(rows)) for rows in (first, second)]
    np.testing.assert_array_equal(whole.add_looks(table), np.concatenate(parts))
    pages, times = np.array([0, 2], np.int32), np.array([30_000.0, 30_001.5]) * DAY_SECONDS
    np.testing.assert_array_equal(whole.at(pages, times), batched.at(pages, times))


def test_a_page_that_is_measured_again_has_the_features_of_its_new_measurements() -> None:
    table = random_looks(200, seed=4)
    is_first = table.pages == 0
    again = replace(table, changed=table.changed & ~is_first, measured=table.measured & ~is_first)
    relearned, from_start = VisitFeatures(HOSTS), VisitFeatures(HOSTS)
    relearned.add_looks(table)
    relearned.relearn_page(0, again.select(np.flatnonzero(is_first)))
    from_start.add_looks(again)
    pages, times = np.arange(3, dtype=np.int32), np.full(3, table.times[-1] + DAY_SECONDS)
    np.testing.assert_allclose(
        relearned.at(pages, times), from_start.at(pages, times), rtol=1e-4, atol=1e-5
    )


def test_a_grid_is_a_look_per_page_and_step() -> None:
    grid = small_grid()
    labels = np.array([[0, 1, 1], [-1, 0, 1]], np.int32)
    table = looks_of_grid(grid, labels)
    assert table.pages.tolist() == [0, 0, 1, 0, 1, 0, 1]
    assert table.changed.tolist() == [False, False, False, True, False, True, True]
    assert table.measured.tolist() == [False, True, False, True, True, True, True]
    assert table.total_words.tolist() == [3.0, 3.0, 0.0, 3.0, 0.0, 0.0, 3.0]


def test_pages_that_come_later_have_the_features_of_pages_there_from_the_start() -> None:
    hosts = np.array([0, 1, 1, 2], np.int32)
    at_once, step_by_step = VisitFeatures(hosts), VisitFeatures(hosts[:2])
    step_by_step.add_pages(hosts[2:])
    rows, times = np.arange(4, dtype=np.int32), np.full(4, START * DAY_SECONDS)
    assert len(step_by_step) == 4
    np.testing.assert_array_equal(step_by_step.at(rows, times), at_once.at(rows, times))
