"""Kill a crawl many times and compare what it kept with what its servers saw.

``python -m tests.fetch.crash [--kills 200] [--each 25] [--step 1] [--seed 1]`` prints how it stands
after each collection, then what was wrong; it fails where anything was. Every other kill is at a
write: the first, then each ``--step``-th; the others are at any moment.
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

from tests.fetch.crash.lives import Death, warm_up
from tests.fetch.crash.trials import Trial, Ways, trial

LONGEST_LIFE = 1.2
LONGEST_WAIT = 6.0
LAST_LIFE = 2.0
# One budget is used up before a day ends, where hosts wait longer than a restart takes; the other
# never stops the crawl, whose hosts wait for milliseconds.
WAYS = (Ways(speed=3_600.0, budget=30, delay=3_000.0), Ways(budget=300))


@dataclass(slots=True)
class Tally:
    """What came of kills, counted."""

    kills: int = 0
    at_writes: int = 0
    requests: int = 0
    visits: int = 0
    again: int = 0
    full_days: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Say it in one line."""
        return (
            f"{self.kills} kills ({self.at_writes} at a write), {self.requests} requests,"
            f" {self.visits} visits kept, {self.again} requests to be made again,"
            f" budget used up on {self.full_days} days, {len(self.faults)} faults"
        )

    def count(self, ordeal: Trial) -> None:
        """Count what a trial showed in the end."""
        evidence = ordeal.evidence
        self.requests += len(evidence.asked)
        self.visits += len(evidence.after.visits)
        self.again += len(evidence.lost)
        spent = evidence.after.requests.values()
        self.full_days += sum(requests == ordeal.around.budget for requests in spent)
        self.faults += ordeal.faults


def deaths(rng: Random, numbers: range, step: int) -> Iterator[Death]:
    """Yield deaths at write after write, and between them some at any moment."""
    for number in numbers:
        if number % 2 == 0:
            yield Death(at_write=1 + step * number // 2, seconds=LONGEST_WAIT)
        else:
            yield Death(seconds=rng.uniform(0.0, LONGEST_LIFE), is_early=number % 8 == 7)


def kill(folder: Path, ends: Iterable[Death], ways: Ways, tally: Tally) -> None:
    """Kill a crawl of a new collection again and again, then let it end in order."""
    with trial(folder, ways) as ordeal:
        for number, death in enumerate(ends):
            life = ordeal.live(death)
            tally.kills += life.is_killed
            tally.at_writes += life.is_killed and life.is_own
            if not life.is_killed:
                ordeal.faults.append(f"{death}: it ended by itself, with {life.code}")
            # Some restarts come at once, so that nothing but them keeps hosts from a burst.
            if number % 4 != 1:
                ordeal.examine(death)
        if ordeal.live(Death(seconds=LAST_LIFE, by=SIGTERM)).code:
            ordeal.faults.append(f"asked to end it said {ordeal.said()}")
        ordeal.examine("asked to end")
        tally.count(ordeal)


def kill_all(options: argparse.Namespace, folder: Path, tally: Tally) -> Iterator[None]:
    """Kill crawls of one collection after the other; yield after each."""
    rng = Random(options.seed)
    warm_up(folder)
    for first, ways in zip(range(0, options.kills, options.each), cycle(WAYS), strict=False):
        numbers = range(first, min(first + options.each, options.kills))
        yield kill(folder / str(first), deaths(rng, numbers, options.step), ways, tally)


def main() -> None:
    """Kill crawls of one collection after the other."""
    parser = argparse.ArgumentParser(prog="tests.fetch.crash")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--each", type=int, default=25, help="kills of one collection")
    parser.add_argument("--step", type=int, default=1, help="writes from one kill to the next")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where collections with faults are to stay")
    options = parser.parse_args()
    tally = Tally()
    with TemporaryDirectory() as passing:
        for _ in kill_all(options, options.folder or Path(passing), tally):
            sys.stdout.write(f"{tally}\n")
            sys.stdout.flush()
    sys.stdout.write("".join(f"{fault}\n" for fault in tally.faults))
    sys.exit(bool(tally.faults))


if __name__ == "__main__":
    main()
