"""Crawls that look for new links: links found per fetch by each policy at 5 % (``simulate``)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freshet.backtest.comparison import run_policies
from freshet.backtest.trace import PageGroupKeys, Trace, build_trace
from freshet.backtest.trace_formats.open_trace import open_trace
from freshet.core.content.page_steps import PageSteps

BUDGET = 0.05
BASELINES = ("nnl-pr", "nnl-av", "lcr", "ccr")
POLICIES = ("bayes-links", *BASELINES, "age", "rand")
TRACES = {"snap": ("all", "internal", "external", "never-seen"), "mixed": ("all",)}
SEEDS = 5
# A crawl of so many pages hardly depends on the seed.
MANY_PAGES = 50_000
MOST_LINKS = 65_535


@dataclass(frozen=True, slots=True)
class CrawlRow:
    """A crawl: new links per fetch, and the share of all new links that it found."""

    data: str
    links: str
    policy: str
    budget: float
    pages: int
    per_fetch: float
    found_share: float


def recorded_crawls(folder: Path) -> Iterator[CrawlRow]:
    """Yield the crawls of real pages, by days."""
    pages = folder / "pages" if (folder / "pages").is_dir() else folder
    for name, kinds in TRACES.items():
        for links in kinds:
            yield from _crawl_rows(name, links, open_trace(pages, name=name, links=links))


def generated_crawls(data: str, steps: PageSteps) -> Iterator[CrawlRow]:
    """Yield the crawls of the generated world, by weeks."""
    internal, external = steps.new_links.internal[:, 1:], steps.new_links.external[:, 1:]
    counts = {"all": internal + external, "internal": internal, "external": external}
    for links, new_links in counts.items():
        yield from _crawl_rows(data, links, weekly_trace(steps, np.minimum(new_links, MOST_LINKS)))


def weekly_trace(steps: PageSteps, new_links: np.ndarray) -> Trace:
    """Return the weeks as the cycles of a trace; text or links may change."""
    changed = (steps.changed[:, 1:] > 0) | (new_links > 0)
    keys = PageGroupKeys(steps.sites, steps.sites, steps.sites)
    return build_trace("weeks", keys, changed, new_links=new_links.astype(np.uint16))


def _crawl_rows(data: str, links: str, trace: Trace) -> Iterator[CrawlRow]:
    seeds = SEEDS if len(trace.pages) < MANY_PAGES else 1
    for result in run_policies(trace, POLICIES, [BUDGET], seeds=seeds):
        row = result.to_row(trace)
        yield CrawlRow(
            data, links, row.policy, BUDGET, row.pages,
            round(float(row.new_links), 4), round(float(row.links_detected), 4),
        )  # fmt: skip
