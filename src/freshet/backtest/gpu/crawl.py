"""Crawl of many formulas side by side on a device."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.fitness import (
    NO_FLOOR,
    CrawlScale,
    CycleCounts,
    FitnessMixture,
    FormulaResult,
    parse_fitness,
    stop_cycle,
    summarise_crawl,
)
from freshet.backtest.gpu.batch import BatchStep, DeviceTrace, FormulaBatch, load_trace
from freshet.backtest.gpu.cpu import CpuDevice
from freshet.backtest.gpu.device import ArrayDevice
from freshet.backtest.metrics import cumulative_gains
from freshet.backtest.trace import Trace
from freshet.core.errors import UsageError
from freshet.core.types import FloatArray
from freshet.formula.expression import Formula
from freshet.formula.variables import PAPER_VARIABLES, WeightClock

Ints = NDArray[np.int64]


class FormulaBatchCrawl:
    """Crawls of a trace with k visits a cycle; ``keys`` are the tie break keys of the cycles.

    The data that all formulas share stays on the device between runs.
    """

    def __init__(
        self,
        trace: Trace,
        k: int,
        keys: NDArray[np.uint64],
        *,
        clock: WeightClock = "visit",
        device: ArrayDevice | None = None,
    ) -> None:
        self._device = device or CpuDevice()
        self._clock: WeightClock = clock
        self._trace: DeviceTrace = load_trace(trace, min(k, len(trace.pages)), keys, self._device)
        self._scale = CrawlScale(len(trace.pages), cumulative_gains(self._trace.k))

    def run(
        self,
        formulas: Sequence[Formula],
        *,
        floor: float | Sequence[float] = NO_FLOOR,
        measure: str = "ndcg",
    ) -> list[FormulaResult]:
        """Crawl by the scores of each formula; stop those that cannot reach the floor.

        There may be one floor for all formulas, or one for each.
        """
        _require_supported(formulas)
        floors: FloatArray = np.broadcast_to(np.array(floor, np.float64), len(formulas))
        size = max(1, self._device.max_cells // self._trace.pages)
        parts = (slice(start, start + size) for start in range(0, len(formulas), size))
        return [
            result
            for part in parts
            for result in self._results(formulas[part], floors[part], measure)
        ]

    def _results(
        self, formulas: Sequence[Formula], floors: FloatArray, measure: str
    ) -> list[FormulaResult]:
        cycles = self._trace.cycles
        batch = FormulaBatch(self._device, self._trace, formulas, self._clock)
        mixture = parse_fitness(measure)
        device_gains = self._device.xp.asarray(self._scale.gains) if mixture.ndcg else None
        log = _CycleLog(len(formulas), cycles)
        stops = np.array([stop_cycle(cycles, floor) for floor in floors.tolist()])
        for number in range(WARM_UP_CYCLES, cycles):
            log.write(number, batch.step(number, device_gains))
            if (stops == number).any():
                bounds = [result.fitness for result in log.results(self._scale, mixture)]
                batch.keep(log.keep((stops != number) | (np.array(bounds) >= floors)))
                if log.is_over:
                    break
        return log.results(self._scale, mixture)


def _require_supported(formulas: Sequence[Formula]) -> None:
    unknown = sorted(
        {name for formula in formulas for name in formula.variables} - set(PAPER_VARIABLES)
    )
    if unknown:
        raise UsageError(
            f"the batch crawl does not support the variables {', '.join(unknown)};"
            f" use {', '.join(PAPER_VARIABLES)}, or the device cpu"
        )


class _CycleLog:
    """Log of every cycle's results, a row per formula; stopped formulas get no further cycles."""

    def __init__(self, formulas: int, cycles: int) -> None:
        self._running = np.arange(formulas)
        self._cycles = np.full(formulas, min(WARM_UP_CYCLES, cycles))
        self._changes_found = np.zeros((formulas, cycles), np.int64)
        self._gain = np.zeros((formulas, cycles))
        self._stale_before = np.zeros((formulas, cycles), np.int64)

    def write(self, number: int, step: BatchStep) -> None:
        """Log a cycle of the running formulas."""
        self._cycles[self._running] = number + 1
        self._changes_found[self._running, number] = step.changes_found
        self._gain[self._running, number] = step.gain
        self._stale_before[self._running, number] = step.stale_before

    def keep(self, is_continued: NDArray[np.bool_]) -> Ints:
        """Continue with some formulas; return their indices among those that were running."""
        indices = np.flatnonzero(is_continued[self._running])
        self._running = self._running[indices]
        return indices

    @property
    def is_over(self) -> bool:
        """Whether every formula is stopped."""
        return not len(self._running)

    def results(self, scale: CrawlScale, mixture: FitnessMixture) -> list[FormulaResult]:
        """Return the result of each formula so far."""
        stale_after = self._stale_before - self._changes_found
        rows = zip(self._changes_found, self._gain, self._stale_before, stale_after, strict=True)
        return [
            summarise_crawl(CycleCounts(*row), int(cycles), scale, mixture)
            for row, cycles in zip(rows, self._cycles, strict=True)
        ]
