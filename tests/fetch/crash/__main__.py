"""Kill a crawl many times and compare its records with the log of its servers.

``python -m tests.fetch.crash [--kills 200] [--each 25] [--step 1] [--seed 1]`` prints statistics
after each collection, then the faults, and exits with 1 if there are any. Every other kill is at a
write: the first, then each ``--step``-th; the others are at random times.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random
from signal import SIGTERM
from tempfile import TemporaryDirectory

from tests.fetch.crash.crawl_runs import KillPlan, warm_up
from tests.fetch.crash.trials import Trial, TrialOptions, open_trial

MAX_RUN_SECONDS = 1.2
MAX_WRITE_WAIT_SECONDS = 6.0
LAST_RUN_SECONDS = 2.0
# The first budget is used up before a day ends, and its delay is longer than a restart; the
# second budget never stops the crawl, and its delay is milliseconds long.
TRIAL_OPTIONS = (TrialOptions(speed=3_600.0, budget=30, delay=3_000.0), TrialOptions(budget=300))


@dataclass(slots=True)
class KillStatistics:
    """Counts of kills, requests, visits and faults."""

    kills: int = 0
    at_writes: int = 0
    requests: int = 0
    visits: int = 0
    lost_requests: int = 0
    full_days: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the counts in one line."""
        return (
            f"{self.kills} kills ({self.at_writes} at a write), {self.requests} requests,"
            f" {self.visits} visits kept, {self.lost_requests} requests to be made again,"
            f" budget used up on {self.full_days} days, {len(self.faults)} faults"
        )

    def count(self, trial: Trial) -> None:
        """Add the figures of a finished trial."""
        evidence = trial.evidence
        self.requests += len(evidence.page_requests)
        self.visits += len(evidence.after.visits)
        self.lost_requests += len(evidence.unrecorded_requests)
        spent = evidence.after.requests.values()
        self.full_days += sum(requests == trial.setup.budget for requests in spent)
        self.faults += trial.faults


def kill_plans(rng: Random, numbers: range, step: int) -> Iterator[KillPlan]:
    """Yield kills at one write after the other, alternating with kills at random times."""
    for number in numbers:
        if number % 2 == 0:
            yield KillPlan(at_write=1 + step * number // 2, seconds=MAX_WRITE_WAIT_SECONDS)
        else:
            yield KillPlan(seconds=rng.uniform(0.0, MAX_RUN_SECONDS), is_early=number % 8 == 7)


def run_kill_trial(
    folder: Path, plans: Iterable[KillPlan], options: TrialOptions, statistics: KillStatistics
) -> None:
    """Kill a crawl of a new collection again and again, then stop it by a signal."""
    with open_trial(folder, options) as trial:
        for number, plan in enumerate(plans):
            run = trial.run(plan)
            statistics.kills += run.is_killed
            statistics.at_writes += run.is_killed and run.is_self_ended
            if not run.is_killed:
                trial.faults.append(f"{plan}: it ended by itself, with {run.code}")
            # Some restarts follow immediately, so that only the crawl itself keeps the delays.
            if number % 4 != 1:
                trial.examine(plan)
        if trial.run(KillPlan(seconds=LAST_RUN_SECONDS, signal=SIGTERM)).code:
            trial.faults.append(f"stopped by SIGTERM it printed {trial.output()}")
        trial.examine("stopped by SIGTERM")
        statistics.count(trial)


def kill_all(
    options: argparse.Namespace, folder: Path, statistics: KillStatistics
) -> Iterator[None]:
    """Kill crawls of one collection after the other; yield after each."""
    rng = Random(options.seed)
    warm_up(folder)
    starts = range(0, options.kills, options.each)
    for first, trial_options in zip(starts, cycle(TRIAL_OPTIONS), strict=False):
        numbers = range(first, min(first + options.each, options.kills))
        plans = kill_plans(rng, numbers, options.step)
        yield run_kill_trial(folder / str(first), plans, trial_options, statistics)


def main() -> None:
    """Kill crawls of one collection after the other."""
    parser = argparse.ArgumentParser(prog="tests.fetch.crash")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--each", type=int, default=25, help="kills of one collection")
    parser.add_argument("--step", type=int, default=1, help="writes from one kill to the next")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--folder", type=Path, help="folder in which collections with faults are kept"
    )
    options = parser.parse_args()
    statistics = KillStatistics()
    with TemporaryDirectory() as temporary_folder:
        for _ in kill_all(options, options.folder or Path(temporary_folder), statistics):
            sys.stdout.write(f"{statistics}\n")
            sys.stdout.flush()
    sys.stdout.write("".join(f"{fault}\n" for fault in statistics.faults))
    sys.exit(bool(statistics.faults))


if __name__ == "__main__":
    main()
