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
class Looks:
    """What hourly looks show of each page that changed: hours between changes, and Dice."""

    never: float
    some: np.ndarray
    hours: np.ndarray
    dice: np.ndarray


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule's crawl found: changes a visit, and how early in each day's order they came."""

    changerate: float
    ndcg: float


class Memory:
    """What a crawl remembers of its visits, as running sums that go by the visit or the cycle."""

    def __init__(self, pages: int, clock: Clock) -> None:
        self.by_cycle = clock == "cycle"
        self.cycles = 0
        self.visits, self.changes, self.since = (np.zeros(pages) for _ in range(3))
        self.last, self.halved, self.weighted = (np.zeros(pages) for _ in range(3))

    def take(self, visited: np.ndarray, changed: np.ndarray) -> None:
        elapsed = self.since[visited] if self.by_cycle else 1.0
        self.cycles += 1
        self.visits[visited] += 1
        self.changes[visited] += changed
        self.last[visited] = changed
        self.halved[visited] = self.halved[visited] * 0.5**elapsed + changed
        self.weighted[visited] += self._reading()[visited] * changed
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
        reading = self._reading()
        rates = {
            "nad": self.changes / reading,
            "sad": self.last * (idle <= 0),
            "aad": self.weighted / (reading * (reading + 1) / 2),
            "gad": self.halved * 0.5**idle / (2 - 2 * 0.5**reading),
        }
        return 1 - np.exp(-rates[rule] * self.since)

    def _reading(self) -> np.ndarray:
        return np.full(len(self.visits), float(self.cycles)) if self.by_cycle else self.visits


def found_by(
    people: PagePopulation, rule: Rule, clock: Clock = "cycle", share: float = 0.05
) -> Found:
    """Crawl as Santos et al. 2015 did; return what the rule finds, in means over the days.

    NDCG falls with the number of places, so each place stands for its part of the paper's.
    """
    rng = np.random.default_rng(1)
    pages, cycles = people.changed.shape
    k = int(share * pages)
    discounts = 1 / np.log(np.maximum(2, 1 + (np.arange(k) + 0.5) * share * BRDC_PAGES / k))
    memory, stale = Memory(pages, clock), np.zeros(pages, bool)
    rates, gains = [], []
    for cycle in range(cycles):
        memory.since += 1
        stale |= people.changed[:, cycle]
        visited = np.arange(pages)
        if cycle >= 2:
            visited = np.lexsort((rng.random(pages), -memory.scores(rule, rng)))[:k]
            rates.append(stale[visited].mean())
            gains.append(stale[visited] @ discounts / discounts[: stale.sum()].sum())
        memory.take(visited, stale[visited].astype(float))
        stale[visited] = False
    return Found(float(np.mean(rates)), float(np.mean(gains)))


def hourly_looks(people: PagePopulation) -> Looks:
    """Look at every cycle; an interval is the time up to the last change over the changes."""
    counts = people.changed.sum(axis=1)
    some = counts > 0
    until_last = people.changed.shape[1] - np.argmax(people.changed[:, ::-1], axis=1)
    hours = until_last[some] / counts[some]
    return Looks(float(1 - some.mean()), some, hours, people.dice[some])


def link_figures(people: PagePopulation, links: LinkYield) -> tuple[float, float, float]:
    """Return the share of intervals without new links, their mean number and its deviation."""
    counts = draw_new_links(people, links, seed=1)
    return float((counts == 0).mean()), float(counts.mean()), float(counts.std())
