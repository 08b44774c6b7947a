"""Features of the default model of new links."""

import numpy as np
import pytest

from freshet.core.content.outlink_targets import LinkKind
from freshet.features.outlinks.feature_table import OutlinkFeatures
from freshet.features.outlinks.rate_features import RATE_FEATURES, rate_features
from tests.core.content.page_step_samples import generated_steps
from tests.features.outlinks.test_feature_table import similar_pages


@pytest.mark.parametrize("kind", LinkKind)
@pytest.mark.parametrize("as_of", [0, 1, 5])
def test_hiding_the_future_alters_no_rate(as_of: int, kind: LinkKind) -> None:
    steps = generated_steps(40, 8, missing=0.2)
    around = similar_pages(steps)
    seen = rate_features(OutlinkFeatures(steps, around), kind, as_of)
    hidden = rate_features(OutlinkFeatures(steps.until(as_of), around), kind, as_of)
    np.testing.assert_array_equal(seen.values, hidden.values)
    assert seen.names == tuple(RATE_FEATURES)


def test_rates_of_a_page_and_of_the_other_pages_of_its_site() -> None:
    steps = generated_steps(20, 4)
    steps.new_links.internal[:, 1:] = 0
    steps.new_links.internal[[0, 10], 3] = [4, 1]
    table = rate_features(OutlinkFeatures(steps), LinkKind.INTERNAL, 3)
    columns = dict(zip(table.names, table.values.T, strict=True))
    assert columns["own_hits_all"][0] == 1
    assert columns["own_links_all"][0] == 4
    assert columns["own_intervals_all"][0] == 3
    assert (columns["own_since"][0], columns["own_latest"][0]) == (0, np.float32(np.log(5)))
    assert np.isnan(columns["own_since"][1])
    assert (columns["site_latest"][0], columns["site_latest"][1]) == (1, 0)
    assert columns["site_rate_all"][0] > columns["site_rate_all"][1]


def test_a_page_alone_without_history_has_defined_features() -> None:
    steps = generated_steps(1, 1)
    table = rate_features(OutlinkFeatures(steps), LinkKind.EXTERNAL, 0)
    columns = dict(zip(table.names, table.values.T, strict=True))
    assert columns["own_intervals_all"][0] == 0
    assert columns["site_rate_all"][0] == 0
    assert np.isnan(columns["near_rate_all"][0])
    assert np.isfinite(columns["text_size"][0])
