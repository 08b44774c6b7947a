"""The papers' figures, measured on a population."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from freshet.world.parameters import LinkYield
from freshet.world.population import PagePopulation, draw_new_links

Rule = Literal["rand", "age", "nad", "sad", "aad", "gad", "cg"]
Clock = Literal["visit", "cycle"]

BRDC_PAGES = 417_048


@dataclass(frozen=True, slots=True)
class HourlyChanges:
    """Hours between changes and Dice of each page that changed, from hourly looks."""

    never_changed: float
    has_changed: np.ndarray
    hours: np.ndarray
    dice: np.ndarray


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """Changes per visit of a rule's crawl, and their NDCG."""

    changerate: float
    ndcg: float


class VisitHistory:
    """The visits of a crawl as running sums, by the visit or the cycle."""

    def __init__(self, pages: int, clock: Clock) -> None:
        self.by_cycle = clock == "cycle"
        self.cycles = 0
        self.visits, self.changes, self.since = (np.zeros(pages) for _ in range(3))
        self.last, self.decayed, self.weighted = (np.zeros(pages) for _ in range(3))

    def add(self, visited: np.ndarray, changed: np.ndarray) -> None:
        elapsed = self.since[visited] if self.by_cycle else 1.0
        self.cycles += 1
        self.visits[visited] += 1
        self.changes[visited] += changed
        self.last[visited] = changed
        self.decayed[visited] = self.decayed[visited] * 0.5**elapsed + changed
        self.weighted[visited] += self._time_span()[visited] * changed
        self.since[visited] = 0

    def scores(self, rule: Rule, rng: np.random.Generator) -> np.ndarray:
        n = self.visits
        if rule == "rand":
            return rng.random(len(n))
        if rule == "age":
            return self.since
        if rule == "cg":
            return -np.log((n - self.changes + 0.5) / (n + 0.5))
        idle = self.since - 1 if self.by_cycle else np.zeros(len(n))
        time_span = self._time_span()
        rates = {
            "nad": self.changes / time_span,
            "sad": self.last * (idle <= 0),
            "aad": self.weighted / (time_span * (time_span + 1) / 2),
            "gad": self.decayed * 0.5**idle / (2 - 2 * 0.5**time_span),
        }
        return 1 - np.exp(-rates[rule] * self.since)

    def _time_span(self) -> np.ndarray:
        return np.full(len(self.visits), float(self.cycles)) if self.by_cycle else self.visits


def crawl_by_rule(
    population: PagePopulation, rule: Rule, clock: Clock = "cycle", share: float = 0.05
) -> CrawlResult:
    """Crawl as Santos et al. 2015 did; return the means over the days.

    NDCG falls with the number of ranks, so ranks are scaled to those of the paper.
    """
    rng = np.random.default_rng(1)
    pages, cycles = population.changed.shape
    k = int(share * pages)
    discounts = 1 / np.log(np.maximum(2, 1 + (np.arange(k) + 0.5) * share * BRDC_PAGES / k))
    history, stale = VisitHistory(pages, clock), np.zeros(pages, bool)
    rates, gains = [], []
    for cycle in range(cycles):
        history.since += 1
        stale |= population.changed[:, cycle]
        visited = np.arange(pages)
        if cycle >= 2:
            visited = np.lexsort((rng.random(pages), -history.scores(rule, rng)))[:k]
            rates.append(stale[visited].mean())
            gains.append(stale[visited] @ discounts / discounts[: stale.sum()].sum())
        history.add(visited, stale[visited].astype(float))
        stale[visited] = False
    return CrawlResult(float(np.mean(rates)), float(np.mean(gains)))


def measure_hourly(population: PagePopulation) -> HourlyChanges:
    """Look at every cycle; an interval is the time up to the last change over the changes."""
    counts = population.changed.sum(axis=1)
    some = counts > 0
    until_last = population.changed.shape[1] - np.argmax(population.changed[:, ::-1], axis=1)
    hours = until_last[some] / counts[some]
    return HourlyChanges(float(1 - some.mean()), some, hours, population.dice[some])


def link_figures(population: PagePopulation, links: LinkYield) -> tuple[float, float, float]:
    """Return the share of intervals without new links, their mean number and its deviation."""
    counts = draw_new_links(population, links, seed=1)
    return float((counts == 0).mean()), float(counts.mean()), float(counts.std())
