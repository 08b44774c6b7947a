"""One fold's evolution on a GPU: page scores a second, against the rate that three minutes need.

A fold of Santos et al. 2015: five seeds, 300 formulas in 50 generations, each a crawl of 167,000
pages in 57 cycles at 5 %. Equal formulas are crawled once and hopeless ones given up, as in every
evolution, and count as done. Before the clock starts a short search makes the driver compile what
it needs. ``--device cuda`` measures that; without it the same array code runs by numpy on a few
pages, to see that it does. ``--seeds N``, ``--generations N``, ``--pages N`` set other sizes, and
``--compare N`` instead crawls N random formulas both on the device and by classes on the processor,
and says how many find the same.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.formulas import CYCLES, LANGUAGE, PAGES, SEED, SHARE, lots, random_formulas
from benchmarks.report import Result, report, seconds
from freshet.backtest.class_crawl import HistoryClassCrawl
from freshet.backtest.cycle_crawl import WARM_UP_CYCLES, visits_per_cycle
from freshet.backtest.gpu import FormulaBatchCrawl
from freshet.backtest.gpu.device import DEVICES, open_device
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.formula.expression import Formula
from freshet.learning.evolve.generations import run_generations
from freshet.learning.evolve.genetic_search import GeneticSearch, GPConfig
from freshet.world.population import draw_population
from freshet.world.presets import PRESETS

SEEDS, GENERATIONS, ALLOWED_SECONDS, WARMING = 5, 50, 180.0, 3
SIZES = {
    "cuda": {"pages": PAGES, "seeds": SEEDS, "generations": GENERATIONS},
    "cpu": {"pages": 2_000, "seeds": 1, "generations": 2},
}


@dataclass(slots=True)
class Tried:
    """Crawls formulas, and counts them and the seconds that this takes."""

    crawl: FormulaBatchCrawl
    formulas: int = 0
    seconds: float = 0.0

    def fitness(self, formulas: Sequence[Formula], floor: float) -> list[float]:
        """Return how well formulas do."""
        found: list[float] = []
        self.seconds += seconds(lambda: found.extend(self._fitness(formulas, floor)))
        self.formulas += len(formulas)
        return found

    def _fitness(self, formulas: Sequence[Formula], floor: float) -> list[float]:
        return [result.fitness for result in self.crawl.run(formulas, floor=floor)]


def generated(pages: int) -> Trace:
    """Return a trace of the generated population that follows the paper's collection."""
    drawn = draw_population(PRESETS["brdc"], pages, CYCLES, SEED)
    return build_trace(
        "brdc", PageGroupKeys(drawn.hosts, drawn.sites, drawn.directories), drawn.changed
    )


def evolved(tried: Tried, seed: int, generations: int) -> float:
    """Return the best fitness that one seed's search finds."""
    search = GeneticSearch(LANGUAGE, tried.fitness, seed, GPConfig(generations=generations))
    *_, last = run_generations(search)
    return last.best[0].fitness


def fold(crawl: FormulaBatchCrawl, asked: Namespace) -> Result:
    """Return the rate of a fold's whole evolution, one seed after the other."""
    warming = seconds(lambda: evolved(Tried(crawl), 0, WARMING))
    sys.stderr.write(f"compiling and warming up: {warming:.1f} s\n")
    passed = seconds(lambda: _seeds(crawl, asked))
    scores = asked.pages * (CYCLES - WARM_UP_CYCLES)
    crawls = asked.seeds * asked.generations * GPConfig().population
    allowed = SEEDS * GENERATIONS * GPConfig().population * PAGES * (CYCLES - WARM_UP_CYCLES)
    name = f"evolve {asked.device} {crawls} in {passed:.1f} s"
    ours, needed = crawls * scores / passed / 1e6, allowed / ALLOWED_SECONDS / 1e6
    return Result(name, ours, needed, "million page scores/s")


def _seeds(crawl: FormulaBatchCrawl, asked: Namespace) -> None:
    """Run every seed's search, and tell how it went."""
    for seed in range(SEED, SEED + asked.seeds):
        tried = Tried(crawl)
        best = evolved(tried, seed, asked.generations)
        sys.stderr.write(
            f"seed {seed}: best {best:.4f}, {tried.formulas} crawls in {tried.seconds:.1f} s\n"
        )


def compared(crawl: FormulaBatchCrawl, by_classes: HistoryClassCrawl, count: int) -> str:
    """Say how many formulas find the same in every cycle, and how far their fitness differs."""
    formulas = random_formulas(count)
    pairs = [
        (one, by_classes.run(formula))
        for one, formula in zip(crawl.run(formulas), formulas, strict=True)
    ]
    same = sum(one.changes_found.tolist() == other.changes_found.tolist() for one, other in pairs)
    most = max(abs(one.fitness - other.fitness) for one, other in pairs)
    return f"{same} of {count} formulas find the same; fitness differs by at most {most:.2e}\n"


def asked_for() -> Namespace:
    """Read the command line."""
    options = ArgumentParser(description=__doc__)
    options.add_argument("--device", choices=DEVICES, default="cpu")
    options.add_argument("--compare", type=int, default=0)
    options.add_argument("--json", action="store_true")
    for name in SIZES["cpu"]:
        options.add_argument(f"--{name}", type=int)
    asked = options.parse_args()
    for name, usual in SIZES[asked.device].items():
        setattr(asked, name, getattr(asked, name) or usual)
    return asked


def main() -> None:
    """Print page scores a second and the ratio."""
    asked = asked_for()
    trace, k = generated(asked.pages), visits_per_cycle(SHARE, asked.pages)
    crawl = FormulaBatchCrawl(trace, k, lots(CYCLES), device=open_device(asked.device))
    if asked.compare:
        sys.stdout.write(compared(crawl, HistoryClassCrawl(trace, k, lots(CYCLES)), asked.compare))
    else:
        report(fold(crawl, asked))


if __name__ == "__main__":
    main()
