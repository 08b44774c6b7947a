"""Measures and prints results: a table, or with ``--json`` one JSON document."""

import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

from freshet.core.clock import monotonic_seconds

REPEATS = 5


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """A result and its plain reference from the same run."""

    name: str
    ours: float
    reference: float
    unit: str

    @property
    def ratio(self) -> float:
        """Return the result divided by the reference."""
        return self.ours / self.reference


def compare_rates(
    name: str,
    ours: Callable[[], object],
    reference: Callable[[], object],
    *,
    amount: float,
    unit: str,
) -> BenchmarkResult:
    """Return the amount per second of both, medians of alternating repeats."""
    seconds(ours), seconds(reference)
    times = [(seconds(ours), seconds(reference)) for _ in range(REPEATS)]
    rate, reference_rate = (
        amount / statistics.median(seconds_each) for seconds_each in zip(*times, strict=True)
    )
    return BenchmarkResult(name, rate, reference_rate, unit)


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    started = monotonic_seconds()
    work()
    return monotonic_seconds() - started


def report(*results: BenchmarkResult) -> None:
    """Print results, as JSON when the command line says ``--json``."""
    sys.stdout.write((as_json(results) if "--json" in sys.argv[1:] else as_table(results)) + "\n")


def as_json(results: tuple[BenchmarkResult, ...]) -> str:
    """Return one JSON object, or a list when there are several results."""
    rows = [asdict(result) | {"ratio": result.ratio} for result in results]
    return json.dumps(rows[0] if len(rows) == 1 else rows)


def as_table(results: tuple[BenchmarkResult, ...]) -> str:
    """Return a line per result."""
    lines = [f"{'name':<24}{'ours':>12}{'reference':>12}{'ratio':>8}  unit"]
    lines += [
        f"{result.name:<24}{result.ours:>12.1f}{result.reference:>12.1f}{result.ratio:>8.2f}"
        f"  {result.unit}"
        for result in results
    ]
    return "\n".join(lines)
