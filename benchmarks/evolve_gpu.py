"""One fold's evolution on a GPU: page scores a second, against the rate of a one-minute fold.

A fold of Santos et al. 2015 has five seeds with 300 formulas in 50 generations, each a crawl of
167,000 pages in 57 cycles at 5 %. The seeds are searched side by side. Equal formulas are crawled
once and crawls that cannot reach the floor stop early, as in every evolution; all of them count. A
short search makes the driver compile its code before anything is timed. ``--device cuda`` runs on a
GPU; the default runs the same array code on numpy with a few pages. ``--seeds N``,
``--generations N`` and ``--pages N`` set other sizes. ``--compare N`` instead crawls N random
formulas both on the device and by classes on the processor, and prints how many crawls are equal.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.formulas import (
    CYCLES,
    PAGES,
    PRIMITIVES,
    SEED,
    SHARE,
    cycle_tie_break_keys,
    random_formulas,
)
from benchmarks.report import BenchmarkResult, report, seconds
from freshet.backtest.class_crawl.history_class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES, visits_per_cycle
from freshet.backtest.devices import DEVICES, open_device
from freshet.backtest.gpu.crawl import FormulaBatchCrawl
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.formula.expression import Formula
from freshet.learning.evolve.genetic_search import (
    GeneticSearch,
    GPConfig,
    run_generations,
)
from freshet.world.population import draw_population
from freshet.world.presets import PRESETS

SEEDS, GENERATIONS, MAX_SECONDS, WARM_UP_GENERATIONS = 5, 50, 60.0, 3
SIZES = {
    "cuda": {"pages": PAGES, "seeds": SEEDS, "generations": GENERATIONS},
    "cpu": {"pages": 2_000, "seeds": 1, "generations": 2},
}


@dataclass(slots=True)
class TimedFitness:
    """A fitness function that counts formulas and the seconds of their crawls."""

    crawl: FormulaBatchCrawl
    formulas: int = 0
    seconds: float = 0.0

    def joint_fitnesses(
        self, groups: Sequence[tuple[Sequence[Formula], float]]
    ) -> list[list[float]]:
        """Return the fitness of the formulas of several searches."""
        formulas = [formula for group, _ in groups for formula in group]
        floors = [floor for group, floor in groups for _ in group]
        fitnesses: list[float] = []
        self.seconds += seconds(lambda: fitnesses.extend(self._fitnesses(formulas, floors)))
        self.formulas += len(formulas)
        values = iter(fitnesses)
        return [[next(values) for _ in group] for group, _ in groups]

    def _fitnesses(self, formulas: Sequence[Formula], floors: Sequence[float]) -> list[float]:
        return [result.fitness for result in self.crawl.run(formulas, floor=floors)]


def generate_trace(pages: int) -> Trace:
    """Return a generated trace with the figures of the paper's collection."""
    population = draw_population(PRESETS["brdc"], pages, CYCLES, SEED)
    keys = PageGroupKeys(population.hosts, population.sites, population.directories)
    return build_trace("brdc", keys, population.changed)


def best_fitnesses(timed: TimedFitness, seeds: Sequence[int], generations: int) -> list[float]:
    """Return the best fitness of each seed's search."""
    config = GPConfig(generations=generations)
    searches = [GeneticSearch(PRIMITIVES, seed, config) for seed in seeds]
    *_, last = run_generations(searches, timed.joint_fitnesses)
    return [generation.best[0].fitness for generation in last]


def fold_rate(crawl: FormulaBatchCrawl, options: Namespace) -> BenchmarkResult:
    """Return the rate of a fold's whole evolution, with the seeds side by side."""
    warm_up = seconds(lambda: best_fitnesses(TimedFitness(crawl), [0], WARM_UP_GENERATIONS))
    sys.stderr.write(f"compiling and warming up: {warm_up:.1f} s\n")
    duration = seconds(lambda: _run_seeds(crawl, options))
    scores = options.pages * (CYCLES - WARM_UP_CYCLES)
    crawls = options.seeds * options.generations * GPConfig().population
    fold_scores = SEEDS * GENERATIONS * GPConfig().population * PAGES * (CYCLES - WARM_UP_CYCLES)
    name = f"evolve {options.device} {crawls} in {duration:.1f} s"
    rate, required_rate = crawls * scores / duration / 1e6, fold_scores / MAX_SECONDS / 1e6
    return BenchmarkResult(name, rate, required_rate, "million page scores/s")


def _run_seeds(crawl: FormulaBatchCrawl, options: Namespace) -> None:
    """Run the searches of all seeds, and print their results."""
    timed, seeds = TimedFitness(crawl), range(SEED, SEED + options.seeds)
    best = best_fitnesses(timed, seeds, options.generations)
    sys.stderr.write(
        f"seeds {seeds[0]} to {seeds[-1]}: best {', '.join(f'{value:.4f}' for value in best)}, "
        f"{timed.formulas} crawls in {timed.seconds:.1f} s\n"
    )


def compare(crawl: FormulaBatchCrawl, class_crawl: HistoryClassCrawl, count: int) -> str:
    """Return how many crawls are equal in every cycle, and the largest difference in fitness."""
    formulas = random_formulas(count)
    pairs = [
        (result, class_crawl.run(formula))
        for result, formula in zip(crawl.run(formulas), formulas, strict=True)
    ]
    equal = sum(
        result.changes_found.tolist() == expected.changes_found.tolist()
        for result, expected in pairs
    )
    largest = max(abs(result.fitness - expected.fitness) for result, expected in pairs)
    return f"{equal} of {count} crawls are equal; fitness differs by at most {largest:.2e}\n"


def parse_options() -> Namespace:
    """Parse the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=DEVICES, default="cpu")
    parser.add_argument("--compare", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    for name in SIZES["cpu"]:
        parser.add_argument(f"--{name}", type=int)
    options = parser.parse_args()
    for name, default in SIZES[options.device].items():
        setattr(options, name, getattr(options, name) or default)
    return options


def main() -> None:
    """Print page scores a second and the ratio."""
    options = parse_options()
    trace, k = generate_trace(options.pages), visits_per_cycle(SHARE, options.pages)
    keys = cycle_tie_break_keys(CYCLES)
    crawl = FormulaBatchCrawl(trace, k, keys, device=open_device(options.device))
    if options.compare:
        sys.stdout.write(compare(crawl, HistoryClassCrawl(trace, k, keys), options.compare))
    else:
        report(fold_rate(crawl, options))


if __name__ == "__main__":
    main()
