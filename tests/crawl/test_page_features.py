"""The features of a collection's pages stay those of what the catalog says."""

from pathlib import Path

import numpy as np
import pytest

from freshet.archive.catalog.rows import VisitEntry
from freshet.collection.collection import Collection
from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Change
from freshet.crawl.page_features import PageFeatures
from tests.learning.change_model.look_samples import (
    DAYS,
    FIRST_DAY,
    PAGES,
    add_looks,
    daily_looks,
    memoryless_chances,
)


def test_a_look_that_is_written_while_looks_are_read_is_learned_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        catalog = collection.catalog
        looks = daily_looks(memoryless_chances())
        ids = np.array(add_looks(catalog, looks))
        last, times = catalog.last_visit_id(), np.full(PAGES, (FIRST_DAY + DAYS) * DAY_SECONDS)
        # The last 2 * PAGES visits come between the queries of the id and of the looks.
        monkeypatch.setattr(catalog, "last_visit_id", lambda: last - 2 * PAGES)
        features = PageFeatures(catalog)
        monkeypatch.setattr(catalog, "last_visit_id", lambda: last - PAGES)
        features.learn_looks(features.new_looks())
        monkeypatch.undo()
        features.learn_looks(features.new_looks())
        assert len(features.new_looks().looks) == 0
        at_once = PageFeatures(catalog).at(ids, times)
    np.testing.assert_allclose(features.at(ids, times), at_once, rtol=1e-5)


def test_a_page_that_is_measured_again_gets_its_features_again(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        catalog = collection.catalog
        ids = np.array(add_looks(catalog, daily_looks(memoryless_chances())))
        features, times = PageFeatures(catalog), np.full(PAGES, (FIRST_DAY + DAYS) * DAY_SECONDS)
        before = features.at(ids, times)
        rows = catalog.history(int(ids[7]))
        catalog.replace_changes([
            VisitEntry(row.visit, Change(changed=False)) for row in rows if row.change is not None
        ])
        features.relearn_pages(np.array([ids[7], 999_999]))
        after, from_catalog = features.at(ids, times), PageFeatures(catalog).at(ids, times)
    np.testing.assert_allclose(after, from_catalog, rtol=1e-4, atol=1e-5)
    assert not np.allclose(before[7], after[7], equal_nan=True)
