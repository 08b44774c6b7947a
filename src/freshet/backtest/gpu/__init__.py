"""The simulated crawl of many formulas side by side, as array code: on the processor or a GPU.

It chooses as ``simulate.classes`` does, one formula after the other, and as a policy with the same
formula and seed does. Pages of which a formula knows the same are one past: a past is scored, and
its pages are found by a table with the past of every page, a row per formula.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import WARM_UP_CYCLES
from freshet.backtest.fitness import (
    NO_FLOOR,
    CycleCounts,
    FormulaResult,
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
from freshet.formula.variables import PAPER_VARIABLES, FitnessMeasure, WeightClock

Ints = NDArray[np.int64]


class FormulaBatchCrawl:
    """Crawls of a trace with k visits a cycle; ``keys`` are what each cycle's lots are drawn with.

    What all formulas share is kept on the device from one run to the next.
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
        self._web: DeviceTrace = load_trace(trace, min(k, len(trace.pages)), keys, self._device)
        self._gains = cumulative_gains(self._web.k)

    def run(
        self,
        formulas: Sequence[Formula],
        *,
        floor: float = NO_FLOOR,
        measure: FitnessMeasure = "ndcg",
    ) -> list[FormulaResult]:
        """Crawl by the scores of each formula; give up where the floor is out of reach."""
        _require_known(formulas)
        size = max(1, self._device.max_cells // self._web.pages)
        parts = (formulas[start : start + size] for start in range(0, len(formulas), size))
        return [result for part in parts for result in self._results(part, floor, measure)]

    def _results(
        self, formulas: Sequence[Formula], floor: float, measure: FitnessMeasure
    ) -> list[FormulaResult]:
        cycles = self._web.cycles
        batch = FormulaBatch(self._device, self._web, formulas, self._clock)
        counted = self._device.xp.asarray(self._gains) if measure == "ndcg" else None
        notes, stop = _CycleLog(len(formulas), cycles), stop_cycle(cycles, floor)
        for number in range(WARM_UP_CYCLES, cycles):
            notes.write(number, batch.step(number, counted))
            if number == stop:
                reachable = [each.fitness for each in notes.results(self._gains, measure)]
                batch.keep(notes.keep(np.array(reachable) >= floor))
                if notes.is_over:
                    break
        return notes.results(self._gains, measure)


def _require_known(formulas: Sequence[Formula]) -> None:
    unknown = sorted({name for each in formulas for name in each.variables} - set(PAPER_VARIABLES))
    if unknown:
        raise UsageError(
            f"formulas that are crawled side by side know no {', '.join(unknown)};"
            f" use {', '.join(PAPER_VARIABLES)}, or the device cpu"
        )


class _CycleLog:
    """What every cycle found, a row per formula; those that are given up have no further cycles."""

    def __init__(self, formulas: int, cycles: int) -> None:
        self._running = np.arange(formulas)
        self._cycles = np.full(formulas, min(WARM_UP_CYCLES, cycles))
        self._found = np.zeros((formulas, cycles), np.int64)
        self._gain = np.zeros((formulas, cycles))
        self._before = np.zeros((formulas, cycles), np.int64)

    def write(self, number: int, step: BatchStep) -> None:
        """Note what a cycle found, of the formulas that are still running."""
        self._cycles[self._running] = number + 1
        self._found[self._running, number] = step.changes_found
        self._gain[self._running, number] = step.gain
        self._before[self._running, number] = step.stale_before

    def keep(self, hopeful: NDArray[np.bool_]) -> Ints:
        """Go on with some of the formulas; return their places among those that were running."""
        places = np.flatnonzero(hopeful[self._running])
        self._running = self._running[places]
        return places

    @property
    def is_over(self) -> bool:
        """Whether every formula is given up."""
        return not len(self._running)

    def results(self, gains: FloatArray, measure: FitnessMeasure) -> list[FormulaResult]:
        """Return how each formula did so far."""
        after = self._before - self._found
        rows = zip(self._found, self._gain, self._before, after, strict=True)
        return [
            summarise_crawl(CycleCounts(*row), int(crawled), gains, measure)
            for row, crawled in zip(rows, self._cycles, strict=True)
        ]
