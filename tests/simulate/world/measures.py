"""What the papers report, measured on a population."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from freshet.simulate.world.parameters import Yield
from freshet.simulate.world.population import Population, new_links

Rule = Literal["rand", "age", "nad", "sad", "aad", "gad", "cg"]


@dataclass(frozen=True, slots=True)
class Looks:
    """What hourly looks show of each page that changed: hours between changes, and Dice."""

    never: float
    some: np.ndarray
    hours: np.ndarray
    dice: np.ndarray


class Memory:
    """What a crawl remembers of its visits, as running sums."""

    def __init__(self, pages: int) -> None:
        self.visits, self.changes, self.since = (np.zeros(pages) for _ in range(3))
        self.last, self.halved, self.weighted = (np.zeros(pages) for _ in range(3))

    def take(self, visited: np.ndarray, found: np.ndarray) -> None:
        self.visits[visited] += 1
        self.changes[visited] += found
        self.last[visited] = found
        self.halved[visited] = self.halved[visited] / 2 + found
        self.weighted[visited] += self.visits[visited] * found
        self.since[visited] = 0

    def scores(self, rule: Rule, rng: np.random.Generator) -> np.ndarray:
        n = self.visits
        if rule == "rand":
            return rng.random(len(n))
        if rule == "age":
            return self.since
        if rule == "cg":
            return -np.log((n - self.changes + 0.5) / (n + 0.5))
        rates = {
            "nad": self.changes / n,
            "sad": self.last,
            "aad": self.weighted / (n * (n + 1) / 2),
            "gad": self.halved / (2 - 2.0 ** (1 - n)),
        }
        return 1 - np.exp(-rates[rule] * self.since)


def change_rate(people: Population, rule: Rule, share: float = 0.05) -> float:
    """Crawl as Santos et al. 2014 did; return the share of visits that found a change."""
    rng = np.random.default_rng(1)
    pages, cycles = people.changed.shape
    memory, stale, found = Memory(pages), np.zeros(pages, bool), []
    for cycle in range(cycles):
        stale |= people.changed[:, cycle]
        memory.since += 1
        visited = np.arange(pages)
        if cycle >= 2:
            order = np.lexsort((rng.random(pages), -memory.scores(rule, rng)))
            visited = order[: int(share * pages)]
            found.append(stale[visited].mean())
        memory.take(visited, stale[visited].astype(float))
        stale[visited] = False
    return float(np.mean(found))


def hourly_looks(people: Population) -> Looks:
    """Look at every cycle; an interval is the time up to the last change over the changes."""
    counts = people.changed.sum(axis=1)
    some = counts > 0
    until_last = people.changed.shape[1] - np.argmax(people.changed[:, ::-1], axis=1)
    hours = until_last[some] / counts[some]
    return Looks(float(1 - some.mean()), some, hours, people.dice[some])


def link_figures(people: Population, links: Yield) -> tuple[float, float, float]:
    """Return the share of intervals without new links, their mean number and its deviation."""
    counts = new_links(people, links, seed=1)
    return float((counts == 0).mean()), float(counts.mean()), float(counts.std())
