"""The simulated crawl of many formulas side by side, as array code: on the processor or a GPU.

It chooses as ``simulate.classes`` does, one formula after the other, and as a policy with the same
formula and seed does. Pages of which a formula knows the same are one past: a past is scored, and
its pages are found by a table with the past of every page, a row per formula.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from freshet.backtest.cycle_crawl import WARM_UP
from freshet.backtest.fitness import NO_FLOOR, Result, Tally, stop_after, summed_up
from freshet.backtest.gpu.batch import Batch, Step, Web, web_of
from freshet.backtest.gpu.cpu import Processor
from freshet.backtest.gpu.device import Device
from freshet.backtest.metrics import gains
from freshet.backtest.trace import Trace
from freshet.core.errors import UsageError
from freshet.core.types import Floats
from freshet.formula.expression import Formula
from freshet.formula.variables import ALL, Clock, Measure

Ints = NDArray[np.int64]


class ArrayCrawl:
    """Crawls of a trace with k visits a cycle; ``keys`` are what each cycle's lots are drawn with.

    What all formulas share is kept on the device from one run to the next.
    """

    def __init__(
        self,
        trace: Trace,
        k: int,
        keys: NDArray[np.uint64],
        *,
        clock: Clock = "visit",
        device: Device | None = None,
    ) -> None:
        self._device = device or Processor()
        self._clock: Clock = clock
        self._web: Web = web_of(trace, min(k, len(trace.pages)), keys, self._device)
        self._gains = gains(self._web.k)

    def run(
        self, formulas: Sequence[Formula], *, floor: float = NO_FLOOR, measure: Measure = "ndcg"
    ) -> list[Result]:
        """Crawl by the scores of each formula; give up where the floor is out of reach."""
        _require_known(formulas)
        size = max(1, self._device.cells // self._web.pages)
        parts = (formulas[start : start + size] for start in range(0, len(formulas), size))
        return [result for part in parts for result in self._results(part, floor, measure)]

    def _results(self, formulas: Sequence[Formula], floor: float, measure: Measure) -> list[Result]:
        cycles = self._web.cycles
        batch = Batch(self._device, self._web, formulas, self._clock)
        counted = self._device.xp.asarray(self._gains) if measure == "ndcg" else None
        notes, stop = _Notes(len(formulas), cycles), stop_after(cycles, floor)
        for number in range(WARM_UP, cycles):
            notes.write(number, batch.step(number, counted))
            if number == stop:
                reachable = [each.fitness for each in notes.results(self._gains, measure)]
                batch.keep(notes.keep(np.array(reachable) >= floor))
                if notes.is_over:
                    break
        return notes.results(self._gains, measure)


def _require_known(formulas: Sequence[Formula]) -> None:
    unknown = sorted({name for each in formulas for name in each.names} - set(ALL))
    if unknown:
        raise UsageError(
            f"formulas that are crawled side by side know no {', '.join(unknown)};"
            f" use {', '.join(ALL)}, or the device cpu"
        )


class _Notes:
    """What every cycle found, a row per formula; those that are given up have no further cycles."""

    def __init__(self, formulas: int, cycles: int) -> None:
        self._running = np.arange(formulas)
        self._cycles = np.full(formulas, min(WARM_UP, cycles))
        self._found = np.zeros((formulas, cycles), np.int64)
        self._gain = np.zeros((formulas, cycles))
        self._before = np.zeros((formulas, cycles), np.int64)

    def write(self, number: int, step: Step) -> None:
        """Note what a cycle found, of the formulas that are still running."""
        self._cycles[self._running] = number + 1
        self._found[self._running, number] = step.found
        self._gain[self._running, number] = step.gain
        self._before[self._running, number] = step.before

    def keep(self, hopeful: NDArray[np.bool_]) -> Ints:
        """Go on with some of the formulas; return their places among those that were running."""
        places = np.flatnonzero(hopeful[self._running])
        self._running = self._running[places]
        return places

    @property
    def is_over(self) -> bool:
        """Whether every formula is given up."""
        return not len(self._running)

    def results(self, gains: Floats, measure: Measure) -> list[Result]:
        """Return how each formula did so far."""
        after = self._before - self._found
        rows = zip(self._found, self._gain, self._before, after, strict=True)
        return [
            summed_up(Tally(*row), int(crawled), gains, measure)
            for row, crawled in zip(rows, self._cycles, strict=True)
        ]
