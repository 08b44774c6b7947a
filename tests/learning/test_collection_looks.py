"""The pages and looks of a collection as tables."""

import numpy as np

from freshet.learning.collection_looks import latest_looks
from tests.learning.change_model.look_samples import daily_looks, memoryless_chances


def test_the_latest_looks_are_read_in_bounded_memory() -> None:
    looks = daily_looks(memoryless_chances())
    by_page = looks.select(np.argsort(looks.pages, kind="stable"))
    tables = [by_page.select(rows) for rows in np.array_split(np.arange(len(looks)), 7)]
    latest, left_out = latest_looks(tables, 500)
    assert (len(latest), left_out) == (500, len(looks) - 500)
    assert latest.times.tolist() == looks.times[-500:].tolist()
    everything, left_out = latest_looks(tables, 10_000)
    assert (len(everything), left_out) == (len(looks), 0)
    assert len(latest_looks([], 10)[0]) == 0
