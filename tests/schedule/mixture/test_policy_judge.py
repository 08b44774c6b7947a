"""Weights of mixed policies by what their visits found."""

import numpy as np
import pytest

from freshet.schedule.mixture.kernels.policy_judge import (
    CHANGED_BIT,
    CHOOSER_BITS,
    WAITING,
    WAITING_DAYS,
    credit_looks,
    forget_waiting,
)
from freshet.schedule.mixture.policy_judge import (
    MEMORY_DAYS,
    MIN_HOLD_DAYS,
    PROBE_SHARE,
    SUM_COUNT,
    TRIAL_DAYS,
    TRIAL_LOOKS,
    TRIAL_SHARE,
    PolicyJudge,
)

NAMES = ("default", "nutch", "round-robin")
STEPS = (1.4, 0.8, 60.0, 1e6)
DEFAULT, NUTCH, ROUND_ROBIN = 1, 2, 3


def judge(nutch: tuple[float, ...] = (), round_robin: tuple[float, ...] = ()) -> PolicyJudge:
    """Return a judge by looks, expected gain, gain, and follow-ups with their gain."""
    policy_judge = PolicyJudge(NAMES)
    policy_judge.sums[0, :6] = 100, 50, 50, 50, 100, 60
    for row, sums in enumerate((nutch, round_robin), 1):
        if sums:
            looks, expected, gain, *follow_ups = sums
            policy_judge.sums[row, :6] = looks, expected, gain, gain, *(follow_ups or (0, 0))
    policy_judge.update(1.0)
    return policy_judge


class Looks:
    """Pages with labels, and the sums of the policies that chose their looks."""

    def __init__(self, labels: list[int], importance: list[float] | None = None) -> None:
        count = len(labels)
        self.labels = np.array(labels, np.uint8)
        self.intervals = np.full(count, 1_000.0, np.float32)
        self.importance = np.array(importance or [1.0] * count, np.float32)
        self.sums = np.zeros((3, SUM_COUNT))

    def add(
        self, rows: list[int], changed: list[bool], *, measured: bool = True, days: float = 2.0,
        for_freshness: bool = False,
    ) -> None:  # fmt: skip
        looks = (np.array(rows, np.int32), np.full(len(rows), days),
                 np.full(len(rows), measured), np.array(changed),
                 np.where(changed, 0.4, 1.0) * days, np.full(len(rows), 10.0))  # fmt: skip
        columns = (self.labels, self.intervals, self.importance)
        credit_looks(looks, columns, STEPS, self.sums, (for_freshness, 0.5))


def last(chooser: int, *, changed: bool = False) -> int:
    return (chooser << CHOOSER_BITS) | (CHANGED_BIT if changed else 0)


def test_a_found_change_stops_waiting_when_its_page_is_looked_at_or_forgotten() -> None:
    found = last(NUTCH, changed=True)
    looks = Looks([found, found, last(DEFAULT, changed=True)])
    faded = np.exp(-2.0 / MEMORY_DAYS)
    looks.sums[:2, WAITING] = faded, 2 * faded
    looks.sums[:2, WAITING_DAYS] = 2 * faded, 4 * faded
    looks.add([0], [False], measured=False)
    assert looks.sums[1, [WAITING, WAITING_DAYS]] == pytest.approx([faded, 2 * faded])
    forget_waiting(looks.labels[1:], looks.importance[1:], np.array([2.0, 2.0]), looks.sums)
    assert looks.sums[:, [WAITING, WAITING_DAYS]] == pytest.approx(0.0)


def test_without_visits_the_alternatives_get_only_their_probes() -> None:
    weights = PolicyJudge(NAMES).weights
    assert weights.sum() == pytest.approx(1.0)
    assert weights[1:] == pytest.approx(PROBE_SHARE, abs=1e-3)


def test_equal_gains_leave_the_default_its_weight() -> None:
    assert judge((20, 10, 10), (20, 10, 10)).weights[0] > 0.97


def test_an_alternative_that_finds_nothing_gets_only_its_probes() -> None:
    assert judge((20, 10, 0)).weights[1] == pytest.approx(PROBE_SHARE, abs=1e-3)


def test_a_few_visits_that_gain_much_more_move_the_weight_to_an_alternative() -> None:
    weights = judge((4, 0.05, 3)).weights
    assert weights[1] > 0.9
    assert weights[0] >= PROBE_SHARE


def test_of_two_good_alternatives_the_preferred_one_gets_the_visits_unless_it_gains_far_less() -> (
    None
):
    assert judge((100, 2, 40), (100, 2, 50)).weights[1] > 0.9
    assert judge((4, 0.05, 2), (100, 2, 50)).weights[1] > 0.9
    weights = judge((100, 2, 20), (100, 2, 80)).weights
    assert weights[2] > 0.9 > weights[1] >= PROBE_SHARE


def test_visits_are_held_from_a_default_that_failed_then_it_is_tried_again_and_held_longer() -> (
    None
):
    failing = judge((4, 0.05, 3))
    assert failing.held_until == 1.0 + MIN_HOLD_DAYS
    failing.sums[0, :4] = 100, 50, 90, 90
    failing.update(0.9 + MIN_HOLD_DAYS)
    assert failing.weights[1] > 0.9
    failing.update(1.0 + MIN_HOLD_DAYS)
    assert failing.held_until == -np.inf
    assert failing.sums.sum() == 0.0
    failing.sums[0, :6] = 100, 50, 50, 50, 100, 60
    failing.sums[1, :6] = 4, 0.05, 3, 3, 0, 0
    failing.update(2.0 + MIN_HOLD_DAYS)
    assert failing.held_until == 2.0 + 3 * MIN_HOLD_DAYS
    assert failing.weights[1] > 0.9


def test_a_default_that_is_tried_again_gets_a_part_of_the_visits_for_some_days() -> None:
    tried = judge((4, 0.05, 3))
    start = 1.0 + MIN_HOLD_DAYS
    tried.update(start)
    assert tried.weights[0] == pytest.approx(TRIAL_SHARE, abs=0.01)
    tried.sums[0, :6] = 20, 10, 10, 10, 20, 12
    tried.sums[1, :6] = 80, 40, 40, 40, 80, 48
    tried.update(start + 0.99 * TRIAL_DAYS)
    assert tried.weights[0] == pytest.approx(TRIAL_SHARE, abs=0.01)
    tried.update(start + TRIAL_DAYS)
    assert tried.weights[0] > 0.9
    assert tried.sums.sum() == 0.0


def test_a_few_looks_of_a_trial_are_no_reason_to_hold_visits_again() -> None:
    tried = judge((4, 0.05, 3))
    start = 1.0 + MIN_HOLD_DAYS
    tried.update(start)
    tried.sums[:2, :4] = (0.5 * TRIAL_LOOKS, 1, 0, 0), (60, 3, 40, 40)
    tried.update(start + 0.01)
    assert tried.held_until == -np.inf
    tried.sums[0, 0] = 1.1 * TRIAL_LOOKS
    tried.update(start + 0.02)
    assert tried.held_until == start + 0.02 + 2 * MIN_HOLD_DAYS
    assert tried.trial_until == -np.inf


def test_a_clock_that_is_set_back_makes_no_hold_longer() -> None:
    failing = judge((4, 0.05, 3))
    failing.update(-1_000.0)
    assert failing.held_until <= -1_000.0 + 2 * MIN_HOLD_DAYS
    failing.update(failing.held_until)
    failing.update(-5_000.0)
    assert failing.trial_until == -5_000.0 + TRIAL_DAYS


def test_changes_that_the_next_look_would_have_found_anyway_do_not_count() -> None:
    lasting = judge((100, 50, 100, 100, 60)).weights
    useless = judge((100, 50, 100, 100, 2)).weights
    assert lasting[1] > 0.5 > 0.02 > useless[1]


def test_evidence_fades_within_a_month_or_two() -> None:
    failing = judge((4, 0.05, 3))
    before = failing.sums[1].copy()
    failing.update(1.0 + MEMORY_DAYS)
    assert failing.sums[1] == pytest.approx(before / np.e)
    failing.held_until = -np.inf
    failing.update(1.0 + 4 * MEMORY_DAYS)
    assert failing.weights[0] > 0.9


def test_a_clock_that_is_set_back_changes_no_sums() -> None:
    policy_judge = judge((4, 0.05, 3))
    before = policy_judge.sums.copy()
    policy_judge.update(-100.0)
    assert np.array_equal(policy_judge.sums, before)
    policy_judge.update(-99.0)
    assert policy_judge.sums[1, 0] < before[1, 0]


def test_a_judge_continues_from_its_memory() -> None:
    first, second = judge((4, 0.05, 3)), PolicyJudge(NAMES)
    second.resume(first.memory())
    assert np.array_equal(second.weights, first.weights)
    assert second.last_update == first.last_update
    assert (second.held_until, second.hold_days) == (first.held_until, first.hold_days)
    first.update(first.held_until)
    second.resume(first.memory())
    assert second.trial_until == first.trial_until == first.last_update + TRIAL_DAYS
    assert np.array_equal(second.weights, first.weights)


def test_while_few_next_looks_are_known_the_gain_is_expected_by_the_rates_of_the_pages() -> None:
    def weight(expected_days: float) -> float:
        policy_judge = PolicyJudge(NAMES, gains_fresh_days=True)
        policy_judge.sums[0] = 53, 21, 23, 23, 41, 83, 200, 72, 470, 100, 900
        policy_judge.sums[1] = 7, 3, 7, 7, 0, 0, 0, 7, 23, 7, 7 * expected_days
        policy_judge.update(1.0)
        return float(policy_judge.weights[1])

    assert weight(9.0) > 0.9
    assert weight(0.5) < 0.02


def test_memory_without_sense_is_ignored() -> None:
    policy_judge = PolicyJudge(NAMES)
    policy_judge.resume({
        "nutch gain": -5.0, "nutch looks": float("nan"), "round-robin gain": float("inf"),
        "last_update": float("inf"), "multiplier": 3.0, "held_until": float("nan"),
        "hold_days": float("inf"), "trial_until": float("nan"),
    })  # fmt: skip
    assert np.isfinite(policy_judge.weights).all()
    assert policy_judge.sums[1].sum() == 0.0
    assert np.isnan(policy_judge.last_update)
    assert (policy_judge.held_until, policy_judge.hold_days) == (-np.inf, MIN_HOLD_DAYS)
    assert policy_judge.trial_until == -np.inf


def test_a_look_is_credited_to_its_chooser_and_expected_of_the_default() -> None:
    looks = Looks([DEFAULT, NUTCH], importance=[1.0, 3.0])
    looks.add([0, 1], [True, True])
    assert looks.sums[0, :4].tolist() == [1.0, 0.5, 1.0, 1.0]
    assert looks.sums[1, :4].tolist() == [1.0, 0.75, 3.0, 9.0]
    assert looks.labels.tolist() == [last(DEFAULT, changed=True), last(NUTCH, changed=True)]


def test_only_recent_looks_of_the_default_are_compared_with() -> None:
    looks = Looks([DEFAULT] * 3)
    looks.add([0, 1, 2], [True, True, False])
    assert looks.sums[0, 0] == 1.75
    assert looks.sums[0, 2] == 0.75


def test_a_change_counts_fully_once_the_next_look_found_another() -> None:
    looks = Looks([last(NUTCH, changed=True)] * 2 + [last(NUTCH), last(0, changed=True)])
    looks.add([0, 1, 2, 3], [True, False, True, True])
    assert looks.sums[1, 4:6].tolist() == [2.0, 1.0]
    assert looks.sums[[0, 2]].sum() == 0.0


def test_looks_that_nobody_chose_or_that_were_not_measured_are_not_judged() -> None:
    looks = Looks([0, NUTCH])
    looks.add([0], [True])
    looks.add([1], [True], measured=False)
    assert looks.sums.sum() == 0.0
    assert looks.labels.tolist() == [CHANGED_BIT, last(NUTCH)]


def test_intervals_follow_the_steps_within_their_bounds() -> None:
    looks = Looks([0, 0, 0])
    looks.intervals[2] = 65.0
    looks.add([0, 1, 2, 2], [True, False, True, True])
    assert looks.intervals.tolist() == pytest.approx([800.0, 1_400.0, 60.0])


def test_under_freshness_a_found_change_gains_the_days_to_the_next_look_or_change() -> None:
    looks = Looks([last(ROUND_ROBIN, changed=True)] * 2)
    looks.add([0, 1], [False, True], days=3.0, for_freshness=True)
    assert looks.sums[2, 4] == 2.0
    assert looks.sums[2, 5] == pytest.approx(3.0 + 0.4 * 3.0)
    assert looks.sums[2, 6] == pytest.approx(3.0 + 3.0)
    looks = Looks([last(ROUND_ROBIN, changed=True)])
    looks.add([0], [False], days=1_000.0, for_freshness=True)
    assert looks.sums[2, 5] == 30.0


def test_a_found_change_waits_until_the_next_look() -> None:
    looks = Looks([NUTCH, NUTCH])
    looks.add([0, 1], [True, False])
    assert looks.sums[1, 7:].tolist() == [1.0, 0.0, 1.0, 10.0]
    policy_judge = PolicyJudge(NAMES, gains_fresh_days=True)
    policy_judge.update(0.0)
    policy_judge.sums = looks.sums
    policy_judge.update(2.0)
    faded = np.exp(-2.0 / MEMORY_DAYS)
    assert policy_judge.sums[1, 7:9].tolist() == pytest.approx([faded, 2.0 * faded])
    looks.sums = policy_judge.sums
    looks.add([0], [False])
    assert looks.sums[1, 7:9] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_pages_that_the_default_never_visits_again_count_as_fresh_while_they_wait() -> None:
    def weight(*, waiting_days: float, gains_fresh_days: bool) -> float:
        policy_judge = PolicyJudge(NAMES, gains_fresh_days=gains_fresh_days)
        policy_judge.sums[0] = 100, 50, 50, 50, 100, 300, 400, 20, 60, 120, 2400
        policy_judge.sums[2] = 15, 7, 8, 8, 0, 0, 0, 8, waiting_days, 8, 160
        policy_judge.update(1.0)
        return float(policy_judge.weights[2])

    assert weight(waiting_days=300.0, gains_fresh_days=True) > 0.9
    assert weight(waiting_days=10.0, gains_fresh_days=True) < 0.1
    assert weight(waiting_days=300.0, gains_fresh_days=False) == pytest.approx(
        weight(waiting_days=10.0, gains_fresh_days=False)
    )


def test_what_waits_is_not_part_of_the_memory() -> None:
    first, second = PolicyJudge(NAMES), PolicyJudge(NAMES)
    first.sums[:] = 1.0
    second.resume(first.memory())
    assert second.sums[:, :7].min() == 1.0
    assert second.sums[:, WAITING : WAITING_DAYS + 1].max() == 0.0


def test_pages_that_change_soon_after_a_look_are_not_fresh_while_they_wait() -> None:
    def weight(fresh_days: float) -> float:
        policy_judge = PolicyJudge(NAMES, gains_fresh_days=True)
        policy_judge.sums[0] = 100, 50, 50, 50, 100, 300, 600, 20, 60, 120, 2400
        policy_judge.sums[1] = 30, 15, 29, 29, 20, fresh_days, 200, 9, 90, 29, 580
        policy_judge.update(1.0)
        return float(policy_judge.weights[1])

    assert weight(200.0) > 0.9
    assert weight(2.0) < 0.1


def test_looks_after_a_found_change_count_by_the_importance_of_their_page() -> None:
    looks = Looks([last(NUTCH, changed=True)] * 2, importance=[1.0, 5.0])
    looks.add([0, 1], [False, True], days=2.0, for_freshness=True)
    assert looks.sums[1, 4:7].tolist() == pytest.approx([6.0, 2.0 + 5 * 0.8, 12.0])


def test_the_scale_of_importance_makes_no_difference() -> None:
    def weights(scale: float) -> list[float]:
        policy_judge = PolicyJudge(NAMES, gains_fresh_days=True)
        policy_judge.sums[0] = 100, 50, 50, 50, 100, 300, 600, 20, 60, 120, 2400
        policy_judge.sums[1] = 30, 15, 25, 25, 20, 150, 200, 9, 90, 25, 500
        policy_judge.sums[:, [1, 2, 4, 5, 6, 7, 8, 9, 10]] *= scale
        policy_judge.sums[:, 3] *= scale * scale
        policy_judge.update(1.0)
        return policy_judge.weights.tolist()

    assert weights(0.01) == pytest.approx(weights(1.0), rel=0.1)
