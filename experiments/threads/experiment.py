"""Replays all policies on the long threads of each kind, and the report's table."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.threads.policies import regression_policy, short_sweep_settings, sweep_settings
from experiments.threads.recorded_threads import FORUM, ISSUE, RecordedThread
from freshet.backtest.threads.policies import PreparedThread, ThreadPolicy
from freshet.backtest.threads.replay import ReplayCurve, replay_curve, visit_times
from freshet.backtest.threads.timeliness import (
    VISITS_PER_POST,
    bootstrap_delays,
    fleet_delay,
    fleet_silent_visits,
    scale_for,
    thread_delay,
    visits_for_delay,
)
from freshet.backtest.threads.visit_measures import VisitMeasures, interval_error, measure_visits
from freshet.predict.threads.kernels.next_visit import waits_until
from freshet.predict.threads.thread_posts import ThreadPosts

FLEET, THREAD = "fleet", "thread"
KINDS = (FORUM, ISSUE)
REPORT_DELAY = 1590.0
COMPARED_VISITS = 5.0
MEDIAN = np.array([0.5])
PHASE = 0.5
# Intervals of quantiles of the bootstrap: 95 %.
LOW, HIGH = 0.025, 0.975
Reporter = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """The delay of a policy at a number of visits per post, in minutes."""

    policy: str
    kind: str
    mode: str
    visits_per_post: float
    t_score: float
    silent_visits: float | None
    mape: float | None
    pr_error: float | None
    threads: int


@dataclass(frozen=True, slots=True)
class PolicySummary:
    """A policy on a kind: bootstrap bounds at 5 visits per post, and the price of 1,590 min."""

    policy: str
    kind: str
    low: float
    high: float
    ratio_to_fixed: float
    ratio_low: float
    ratio_high: float
    visits_for_report_delay: float


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A row of the report's Table 3.2: means over threads."""

    features: str
    kind: str
    mape: float
    pr_miss: float
    pr_fa: float
    pr_error: float
    normalised_miss: float
    normalised_fa: float
    pair_score: float
    t_score: float
    posts: float
    visits: float
    threads: int


@dataclass(frozen=True, slots=True)
class ReplayedPolicy:
    """The rows, the summary and the curve of a policy on the threads of a kind."""

    rows: tuple[ThreadRow, ...]
    curve: ReplayCurve


def replay_policies(
    policies: Iterable[ThreadPolicy], threads: Sequence[RecordedThread], report: Reporter
) -> tuple[list[ThreadRow], list[PolicySummary]]:
    """Return the rows of all policies and kinds, and their comparison with the first policy."""
    rows: list[ThreadRow] = []
    curves: dict[str, list[ReplayCurve]] = {kind: [] for kind in KINDS}
    for policy in policies:
        for kind in KINDS:
            chosen = [thread.posts for thread in threads if thread.kind == kind and thread.is_long]
            if not chosen:
                continue
            started = time.monotonic()
            replayed = replay_policy(policy, kind, chosen)
            rows += replayed.rows
            curves[kind].append(replayed.curve)
            delay = fleet_delay(replayed.curve, COMPARED_VISITS)
            report(f"{policy.name}, {kind}: {delay:.0f} min, {time.monotonic() - started:.0f} s")
    return rows, [line for kind in KINDS for line in _summaries(kind, curves[kind])]


def replay_policy(
    policy: ThreadPolicy, kind: str, threads: Sequence[ThreadPosts]
) -> ReplayedPolicy:
    """Return the rows of a policy on the threads of a kind."""
    prepared = [policy.prepare(thread) for thread in threads]
    curve = replay_curve(policy, threads, prepared)
    errors = [
        interval_error(*_test_predictions(thread, ready))
        for thread, ready in zip(threads, prepared, strict=True)
    ]
    predicts = policy.predictor is not None or policy.rate_of is not None
    mape = float(np.mean(errors)) if predicts else None
    rows = []
    for visits in VISITS_PER_POST:
        measures = _measures(policy, threads, prepared, scale_for(curve, visits))
        error = float(np.mean([measure.error for measure in measures]))
        silent = fleet_silent_visits(curve, visits)
        fleet, single = fleet_delay(curve, visits), thread_delay(curve, visits)
        count = len(threads)
        rows.append(ThreadRow(policy.name, kind, FLEET, visits, fleet, silent, mape, error, count))
        rows.append(ThreadRow(policy.name, kind, THREAD, visits, single, None, mape, None, count))
    return ReplayedPolicy(tuple(rows), curve)


def report_table(threads: Sequence[RecordedThread], report: Reporter) -> list[ReportRow]:
    """Return the report's table on the long threads: all sweeps on forums, some on the others."""
    rows = []
    for kind in KINDS:
        chosen = [thread.posts for thread in threads if thread.kind == kind and thread.is_long]
        for name, settings in sweep_settings() if kind == FORUM else short_sweep_settings():
            policy = regression_policy(name, settings)
            prepared = [policy.prepare(thread) for thread in chosen]
            if prepared:
                rows.append(_report_row(policy, kind, chosen, prepared))
            report(f"table 3.2: {kind}, {name}")
    return rows


def _report_row(
    policy: ThreadPolicy,
    kind: str,
    threads: Sequence[ThreadPosts],
    prepared: Sequence[PreparedThread],
) -> ReportRow:
    measures = _measures(policy, threads, prepared, 1.0)
    delays, visits, posts, errors = [], [], [], []
    for thread, ready in zip(threads, prepared, strict=True):
        tested = thread.times[thread.training_posts :]
        times = visit_times(policy, thread, ready, 1.0, PHASE)
        delays.append(float((times[np.searchsorted(times, tested)] - tested).mean()))
        visits.append(len(times))
        posts.append(len(tested))
        errors.append(interval_error(*_test_predictions(thread, ready)))
    means = np.mean(
        [
            (
                measure.miss,
                measure.false_alarm,
                measure.error,
                measure.normalised_miss,
                measure.normalised_false_alarm,
                measure.pair_score,
            )
            for measure in measures
        ],
        axis=0,
    ).tolist()
    return ReportRow(
        policy.name,
        kind,
        float(np.mean(errors)),
        *means,
        t_score=float(np.mean(delays)),
        posts=float(np.mean(posts)),
        visits=float(np.mean(visits)),
        threads=len(threads),
    )


def _measures(
    policy: ThreadPolicy,
    threads: Sequence[ThreadPosts],
    prepared: Sequence[PreparedThread],
    scale: float,
) -> list[VisitMeasures]:
    return [
        measure_visits(
            thread.times[thread.training_posts :],
            visit_times(policy, thread, ready, scale, PHASE),
            float(thread.times[thread.training_posts - 1]),
        )
        for thread, ready in zip(threads, prepared, strict=True)
    ]


def _test_predictions(
    thread: ThreadPosts, prepared: PreparedThread
) -> tuple[np.ndarray, np.ndarray]:
    """Return predicted and actual intervals before the test posts; rates predict the median."""
    first = thread.training_posts - 1
    intervals = thread.intervals[first:]
    model = prepared.model
    if model is None:
        return prepared.predictions[first:-1], intervals
    medians = [
        waits_until(prepared.tables, post, thread.times[post], model.terms, MEDIAN, model.frailty)[
            0
        ]
        for post in range(first, len(thread) - 1)
    ]
    return np.minimum(medians, 525_600.0), intervals


def _summaries(kind: str, curves: Sequence[ReplayCurve]) -> Iterable[PolicySummary]:
    if not curves:
        return
    samples = bootstrap_delays(curves, COMPARED_VISITS)
    ratios = samples / samples[:, :1]
    fixed = fleet_delay(curves[0], COMPARED_VISITS)
    for index, curve in enumerate(curves):
        low, high = np.quantile(samples[:, index], (LOW, HIGH)).tolist()
        ratio_low, ratio_high = np.quantile(ratios[:, index], (LOW, HIGH)).tolist()
        ratio = fleet_delay(curve, COMPARED_VISITS) / fixed
        price = visits_for_delay(curve, REPORT_DELAY)
        yield PolicySummary(curve.policy, kind, low, high, ratio, ratio_low, ratio_high, price)
