"""The looks of an imagined slower crawl."""

from dataclasses import replace

import numpy as np
import pytest

from freshet.core.progress import ignore_progress
from freshet.learning.change_model import examples as examples_module
from freshet.learning.change_model.examples import examples_of_looks
from freshet.learning.change_model.look_selection import thin_looks
from tests.learning.change_model.look_samples import (
    DAYS,
    PAGES,
    daily_looks,
    memoryless_chances,
    page_rows,
    weekday_chances,
)


def test_a_slower_crawl_finds_the_changes_of_the_looks_left_out() -> None:
    looks = daily_looks(memoryless_chances())
    slower = thin_looks(looks, seed=1)
    assert PAGES * 2 < len(slower) < len(looks) / 2
    assert (np.diff(slower.times) >= 0).all()
    for page in (1, 30, 60):
        before, after = (table.select(table.pages == page) for table in (looks, slower))
        assert after.times[0] == before.times[0]
        ends = np.searchsorted(before.times, after.times) + 1
        for start, end, changed in zip(ends[:-1], ends[1:], after.changed[1:], strict=True):
            assert changed == before.changed[start:end].any()


def test_a_text_that_came_back_is_no_change_to_a_slower_crawl() -> None:
    looks = daily_looks(np.ones((PAGES, DAYS)))
    same_text = replace(looks, text_hashes=np.full(len(looks), 7, np.uint64))
    assert not thin_looks(same_text, seed=1).changed.any()
    words = replace(looks, words=np.where(looks.measured, 2.0, np.nan))
    slower = thin_looks(words, seed=1)
    assert np.nansum(slower.words[slower.pages == 1]) <= 2.0 * (DAYS - 1)
    assert (slower.words[slower.measured] >= 2.0).all()


def test_without_looks_there_are_no_slower_ones() -> None:
    looks = daily_looks(memoryless_chances())
    assert len(thin_looks(looks.select(slice(0, 0)), seed=1)) == 0


def test_examples_in_blocks_equal_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = daily_looks(weekday_chances())
    at_once = examples_of_looks(page_rows(), looks, "bayes-freshness", ignore_progress)
    monkeypatch.setattr(examples_module, "LOOKS_PER_BLOCK", 100)
    monkeypatch.setattr(examples_module, "MAX_EXAMPLES", 500)
    in_blocks = examples_of_looks(page_rows(), looks, "bayes-freshness", ignore_progress)
    np.testing.assert_array_equal(in_blocks.observed.features, at_once.observed.features[-500:])
    assert in_blocks.slower.times.min() >= in_blocks.observed.times[0]
    assert in_blocks.left_out == (looks.times < in_blocks.observed.times[0]).sum() - PAGES
    assert len(in_blocks.training()) == len(in_blocks.observed) + len(in_blocks.slower)
