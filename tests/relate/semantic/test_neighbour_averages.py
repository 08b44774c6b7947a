"""Averages over related pages, against a loop over the pages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.errors import UsageError
from freshet.core.types import FloatArray
from freshet.relate.semantic.neighbour_averages import neighbour_averages


def plain_averages(related: RelatedPages, values: FloatArray) -> FloatArray:
    averages = np.full((len(related), values.shape[1]), np.nan)
    for page in range(len(related)):
        pages, weights, _ = related.of(page)
        for feature in range(values.shape[1]):
            is_known = ~np.isnan(values[pages, feature])
            if weights[is_known].sum() > 0:
                averages[page, feature] = np.average(
                    values[pages[is_known], feature], weights=weights[is_known]
                )
    return averages


def random_related(rng: np.random.Generator, rows: int, pages: int) -> RelatedPages:
    sizes = rng.integers(0, min(5, pages) + 1, rows)
    return collect_related(
        (rng.choice(pages, size, replace=False).astype(np.int32), rng.random(size),
         np.zeros(size, np.int32)) for size in sizes
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([1, 70]))
def test_averages_equal_those_of_a_loop(seed: int, unknown: float, features: int) -> None:
    rng = np.random.default_rng(seed)
    related = random_related(rng, 7, 9)
    values = rng.normal(size=(9, features))
    values[rng.random(values.shape) < unknown] = np.nan
    expected = plain_averages(related, values)
    assert neighbour_averages(related, values) == pytest.approx(expected, nan_ok=True)
    single = neighbour_averages(related, values.astype(np.float32))
    assert single.dtype == np.float32
    assert single == pytest.approx(expected, nan_ok=True, abs=1e-4)


def test_bad_values_are_refused() -> None:
    related = random_related(np.random.default_rng(1), 3, 4)
    with pytest.raises(UsageError, match="infinite values"):
        neighbour_averages(related, np.full((4, 1), np.inf))
    with pytest.raises(UsageError, match="values of 1 pages only"):
        neighbour_averages(related, np.ones((1, 1)))
    with pytest.raises(UsageError, match="row per page"):
        neighbour_averages(related, np.ones(4))
    negative = RelatedPages(related.starts, related.pages, -related.weights, related.lags)
    with pytest.raises(UsageError, match="not negative"):
        neighbour_averages(negative, np.ones((4, 1)))
