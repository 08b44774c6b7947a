"""Features for models of new links: the taxonomy, the tables, and that the future is hidden."""

from pathlib import Path

import numpy as np
import pytest

from freshet.core.content.outlink_targets import (
    LinkKind,
    LinkNotion,
    OutlinkTarget,
    outlink_targets,
)
from freshet.core.content.page_steps import PageSteps
from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.errors import UsageError
from freshet.core.types import Float32Array
from freshet.features.outlinks.feature_table import LookAround, OutlinkFeatures
from freshet.features.outlinks.reference import feature_reference
from freshet.features.outlinks.taxonomy import (
    FeatureSelection,
    FeatureSet,
    derive_features,
    select_features,
)
from tests.core.content.page_step_samples import generated_steps

REFERENCE = Path(__file__).parents[3] / "docs/reference/outlink-features.md"


def plain_averages(related: RelatedPages, values: Float32Array) -> Float32Array:
    """Average over related pages, one page after the other."""
    averages = np.full((len(related), values.shape[1]), np.nan, np.float32)
    for page in range(len(related)):
        pages, weights, _ = related.of(page)
        for column in range(values.shape[1]):
            is_known = ~np.isnan(values[pages, column])
            if weights[is_known].sum() > 0:
                averages[page, column] = np.average(
                    values[pages[is_known], column], weights=weights[is_known]
                )
    return averages


def similar_pages(steps: PageSteps, count: int = 4) -> LookAround:
    similarities = steps.vectors @ steps.vectors.T
    np.fill_diagonal(similarities, -1)
    rows = []
    for row in similarities:
        pages = np.argsort(-row)[:count].astype(np.int32)
        rows.append((pages, np.maximum(row[pages], 0).astype(float), np.zeros(count, np.int32)))
    return LookAround(collect_related(rows), plain_averages)


def features_of(steps: PageSteps, **options: object) -> OutlinkFeatures:
    return OutlinkFeatures(steps, similar_pages(steps), steps.vectors, history=4, **options)


def test_every_feature_has_its_own_name_and_description() -> None:
    features = derive_features(3, 2)
    assert len({feature.name for feature in features}) == len(features)
    assert len({feature.description for feature in features}) == len(features) - 2
    assert {feature.feature_set for feature in features} == set(FeatureSet)


def test_a_longer_history_adds_features_to_the_dynamic_sets_only() -> None:
    for selection, is_longer in ((FeatureSelection.STATIC, False), (FeatureSelection.DP, True)):
        counts = [
            len(select_features(selection, OutlinkTarget.NL, LinkKind.INTERNAL, history))
            for history in (2, 3)
        ]
        assert (counts[0] < counts[1]) == is_longer


def test_lbla_looks_back_and_around_at_the_target() -> None:
    names = [
        feature.name
        for feature in select_features(
            FeatureSelection.LBLA, OutlinkTarget.NNL, LinkKind.EXTERNAL, 2
        )
    ]
    assert names == [
        "new_external_links_interval_1",
        "new_external_links_interval_2",
        "near_new_external_links_interval_1",
        "near_new_external_links_interval_2",
    ]


def test_the_link_change_rate_is_not_predicted_from_the_own_new_links() -> None:
    def names(selection: FeatureSelection) -> list[str]:
        features = select_features(selection, OutlinkTarget.LCR, LinkKind.INTERNAL)
        return [feature.name for feature in features]

    assert names(FeatureSelection.LBLA) == ["near_internal_link_change_rate"]
    everything = names(FeatureSelection.ALL)
    assert "internal_link_change_rate" not in everything
    assert not any(name.startswith("new_internal_links") for name in everything)
    assert "new_external_links_interval_1" in everything


@pytest.mark.parametrize("notion", LinkNotion)
@pytest.mark.parametrize("as_of", [0, 1, 4])
def test_hiding_the_future_alters_no_feature(as_of: int, notion: LinkNotion) -> None:
    steps = generated_steps(40, 7, missing=0.2)
    features = derive_features(4, 8)
    seen = features_of(steps, notion=notion).table(as_of, features)
    hidden = features_of(steps.until(as_of), notion=notion).table(as_of, features)
    np.testing.assert_array_equal(seen.values, hidden.values)
    assert seen.names == tuple(feature.name for feature in features)


def test_the_reproduction_counts_the_target_interval_of_related_pages_only() -> None:
    steps = generated_steps(40, 7)
    features = derive_features(4, 0)
    past = features_of(steps).table(4, features)
    paper = features_of(steps, includes_target=True).table(4, features)
    differing = {
        name
        for name, before, after in zip(past.names, past.values.T, paper.values.T, strict=True)
        if not np.array_equal(before, after, equal_nan=True)
    }
    assert differing == {
        "near_internal_link_change_rate",
        "near_external_link_change_rate",
        "near_content_change_rate",
    }


def test_columns_hold_what_their_names_say() -> None:
    steps = generated_steps(30, 6)
    around = similar_pages(steps)
    table = OutlinkFeatures(steps, around, history=2).table(4, derive_features(2, 0))
    columns = dict(zip(table.names, table.values.T, strict=True))
    sizes, counts = steps.measures.text_size, steps.new_links.internal
    np.testing.assert_array_equal(columns["text_size"], sizes[:, 4])
    np.testing.assert_array_equal(columns["text_size_ago_2"], sizes[:, 2])
    np.testing.assert_array_equal(columns["new_internal_links_interval_1"], counts[:, 4])
    np.testing.assert_allclose(columns["new_internal_links_mean"], counts[:, 3:5].mean(axis=1))
    np.testing.assert_allclose(
        columns["internal_link_change_rate"], (counts[:, 3:5] > 0).mean(axis=1)
    )
    np.testing.assert_allclose(
        columns["near_text_size_ago_1"],
        plain_averages(around.related, sizes[:, 3:4])[:, 0],
        rtol=1e-6,
    )


def test_a_missing_week_keeps_sizes_and_leaves_new_links_unknown() -> None:
    steps = generated_steps(20, 5)
    steps.known[::2, 3] = False
    steps.measures.text_size[::2, 3] = np.nan
    steps.new_links.internal[::2, 3] = np.nan
    table = OutlinkFeatures(steps, history=2).table(3, derive_features(2, 0))
    columns = dict(zip(table.names, table.values.T, strict=True))
    np.testing.assert_array_equal(columns["text_size"][::2], steps.measures.text_size[::2, 2])
    assert np.isnan(columns["new_internal_links_interval_1"][::2]).all()
    np.testing.assert_array_equal(
        columns["new_internal_links_mean"][::2], steps.new_links.internal[::2, 2]
    )


def test_without_related_pages_and_history_features_are_unknown_and_nothing_warns() -> None:
    steps = generated_steps(10, 1)
    table = OutlinkFeatures(steps).table(0, derive_features(8, 20))
    columns = dict(zip(table.names, table.values.T, strict=True))
    assert np.isnan(columns["near_text_size"]).all()
    assert np.isnan(columns["semantic_1"]).all()
    assert np.isnan(columns["new_internal_links_mean"]).all()
    assert np.isfinite(columns["path_depth"]).all()


def test_vectors_of_later_contents_are_not_used() -> None:
    steps = generated_steps(20, 6)
    later = steps.with_vectors(steps.vectors, 3)
    table = features_of(later).table(2, derive_features(1, 2))
    assert np.isnan(table.values[:, table.names.index("semantic_1")]).all()


def test_a_step_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="steps 0 to 2"):
        OutlinkFeatures(generated_steps(5, 3)).table(3, derive_features(1))


def test_targets_of_an_interval() -> None:
    steps = generated_steps(20, 6)
    counts = steps.new_links.external
    for target, expected in (
        (OutlinkTarget.NNL, counts[:, 3]),
        (OutlinkTarget.NL, counts[:, 3] > 0),
        (OutlinkTarget.LCR, (counts[:, 1:4] > 0).mean(axis=1)),
    ):
        values = outlink_targets(steps, target, LinkKind.EXTERNAL, 3)
        np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_the_reference_of_features_is_current() -> None:
    assert REFERENCE.read_text("utf-8") == feature_reference(), (
        "write freshet.features.outlinks.reference.feature_reference() to the page again"
    )
