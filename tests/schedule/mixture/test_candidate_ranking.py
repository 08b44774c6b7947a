"""Rankings that choose from candidates."""

import numpy as np
import pytest

from freshet.core.tables import DAY_SECONDS, HostCaps
from freshet.schedule.columns import ColumnSpec
from freshet.schedule.mixture import candidate_ranking
from freshet.schedule.mixture.candidate_ranking import CandidateRanking
from freshet.schedule.page_states import PageStates
from freshet.schedule.rules.interval_rules import INTERVAL_COLUMN, share_of_interval
from tests.schedule.bayes_samples import pages, visits

NOW = 100 * DAY_SECONDS


def states(count: int) -> PageStates:
    """Return pages that were looked at on the day of their id."""
    page_states = PageStates(None, {INTERVAL_COLUMN: ColumnSpec(np.float32, DAY_SECONDS)})
    page_states.add(pages(range(count)))
    page_states.add_visits(visits(range(count), [float(page) for page in range(count)]))
    return page_states


def test_round_robin_takes_the_oldest_looks_within_host_limits() -> None:
    ranking = CandidateRanking(states(12), PageStates.days_since_look, 0)
    assert ranking.choose_rows(NOW, 3, HostCaps()).tolist() == [0, 1, 2]
    assert ranking.choose_rows(NOW, 3, HostCaps(default_limit=1)).tolist() == [0, 4, 8]


def test_adaptive_intervals_take_the_greatest_share_of_the_interval() -> None:
    page_states = states(12)
    page_states.column(INTERVAL_COLUMN)[7] = DAY_SECONDS / 100
    ranking = CandidateRanking(page_states, share_of_interval, 0)
    assert ranking.choose_rows(NOW, 2, HostCaps()).tolist() == [7, 0]


def test_candidates_last_an_hour_unless_half_of_them_are_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(candidate_ranking, "MIN_CANDIDATES", 6)
    page_states = states(32)
    ranking = CandidateRanking(page_states, PageStates.days_since_look, 0)
    assert ranking.choose_rows(NOW, 3, HostCaps()).tolist() == [0, 1, 2]
    page_states.add_visits(visits([0, 1, 2], [99.0, 99.1, 99.2]))
    assert ranking.choose_rows(NOW + 1, 9, HostCaps()).tolist() == [3, 4, 5, 0, 1, 2]
    assert ranking.choose_rows(NOW + 2, 2, HostCaps()).tolist() == [3, 4]
    page_states.mark_pending(np.arange(3, 9))
    assert ranking.choose_rows(NOW + 3, 9, HostCaps()).tolist() == []
    assert ranking.choose_rows(NOW + 3_600, 9, HostCaps()).tolist() == [9, 10, 11, 12, 13, 14]
