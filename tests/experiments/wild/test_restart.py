"""Restarts of simulated live crawls."""

import numpy as np
from experiments.wild.restart import LiveLikeCrawl, _restart, select_pages

from freshet.backtest.continuous.ground_truth import ground_truth
from tests.schedule.bayes_samples import pages


def test_a_crawl_that_ended_in_order_makes_the_same_choices_after_a_restart() -> None:
    rng = np.random.default_rng(5)
    times = [np.sort(rng.uniform(0, 864_000, page % 5)) for page in range(60)]
    truth = select_pages(ground_truth(pages(range(60)), times), 50, seed=1)
    assert len(truth.pages) == 50
    crawl = LiveLikeCrawl("guarded-freshness", truth, 60.0, seed=1)
    crawl.advance(3.3)
    row = _restart(crawl, 3.3)
    assert row.after_end == 1.0
    assert row.after_kill >= 0.9
