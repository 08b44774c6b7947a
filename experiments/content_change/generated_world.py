"""A generated world with known relations: leaders, the pages that follow them, and their sites."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freshet.core.content.content_grid import NO_PAGE, ContentGrid
from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.content.sparse_rows import count_rows
from freshet.core.tables import DAY_SECONDS, BoolArray
from freshet.core.types import IndexArray, TermCounts

TOPIC_WORDS, SITE_WORDS, SHARED_WORDS = 60, 40, 200
NEWS_WORDS = 12
PAGE_WORDS = 150


@dataclass(frozen=True, slots=True)
class GeneratedWorld:
    """The size of the world, and how closely pages follow.

    The pages of a group have a topic. Its first page, the leader, rests after news: it has news
    with the chance ``share_after_news`` if it had news at the step before, else with
    ``share_after_rest``. The others link to the leader, publish its news after their lag with the
    chance ``follow_share``, and change on their own on ``own_share`` of the days.
    """

    groups: int = 8
    followers: int = 4
    sites: int = 10
    steps: int = 150
    share_after_news: float = 0.2
    share_after_rest: float = 0.65
    follow_share: float = 0.9
    own_share: float = 0.1
    longest_lag: int = 2
    seed: int = 1


@dataclass(frozen=True, slots=True)
class WorldPages:
    """The content of the world, and its truth: the leader of each page and the page's lag.

    A leader has no leader and the lag 0.
    """

    grid: ContentGrid
    leaders: IndexArray
    lags: IndexArray

    def true_relation(self) -> RelatedPages:
        """Return each page's leader as its only related page."""
        rows = [
            (np.array(leader, np.int32), np.ones(len(leader)), np.array(lag, np.int32))
            for leader, lag in (
                ([leader], [lag]) if leader != NO_PAGE else ([], [])
                for leader, lag in zip(self.leaders.tolist(), self.lags.tolist(), strict=True)
            )
        ]
        return collect_related(rows)


def generate_world(world: GeneratedWorld) -> WorldPages:
    """Generate the pages, group by group; the pages of a group are on different sites."""
    rng = np.random.default_rng(world.seed)
    versions: list[TermCounts] = []
    rows, hosts, leaders, lags, names = [], [], [], [], []
    for group in range(world.groups):
        leader_news = _leader_news(world, rng)
        for member in range(world.followers + 1):
            lag = int(rng.integers(1, world.longest_lag + 1)) if member else 0
            site = (group + member) % world.sites
            is_changed = _changes(world, leader_news, lag, rng)
            news = np.cumsum(is_changed)
            first = len(versions)
            versions += [_page_terms(group, site, rng) for _ in range(int(news[-1]) + 1)]
            rows.append(first + news)
            hosts.append(site)
            leaders.append(group * (world.followers + 1) if member else NO_PAGE)
            lags.append(lag)
            names.append(f"https://site{site}.example/{group}/{member}")
    return WorldPages(
        _grid(names, hosts, rows, versions, leaders),
        np.array(leaders, np.int32),
        np.array(lags, np.int32),
    )


def _leader_news(world: GeneratedWorld, rng: np.random.Generator) -> BoolArray:
    """Return whether a leader has news at each step; after news it rarely has some again."""
    has_news = np.zeros(world.steps, np.bool_)
    draws = rng.random(world.steps)
    for step in range(1, world.steps):
        after_news = has_news[step - 1]
        has_news[step] = draws[step] < (
            world.share_after_news if after_news else world.share_after_rest
        )
    return has_news


def _changes(
    world: GeneratedWorld, leader_news: BoolArray, lag: int, rng: np.random.Generator
) -> IndexArray:
    """Return whether a page changes at each step."""
    if lag == 0:
        return leader_news.astype(np.int32)
    news = np.concatenate([np.zeros(lag, np.bool_), leader_news[:-lag]])
    follows = news & (rng.random(world.steps) < world.follow_share)
    return (follows | (rng.random(world.steps) < world.own_share)).astype(np.int32)


def _page_terms(group: int, site: int, rng: np.random.Generator) -> TermCounts:
    """Return the words of a version: those of its topic, its site and its news, and common ones."""
    topic = 10_000 + group * TOPIC_WORDS + rng.integers(0, TOPIC_WORDS, NEWS_WORDS)
    fixed = np.random.default_rng([group, site])
    base = np.concatenate([
        10_000 + group * TOPIC_WORDS + fixed.integers(0, TOPIC_WORDS, PAGE_WORDS // 3),
        5_000 + site * SITE_WORDS + fixed.integers(0, SITE_WORDS, PAGE_WORDS // 3),
        fixed.integers(0, SHARED_WORDS, PAGE_WORDS // 3),
    ])
    words, counts = np.unique(np.concatenate([base, topic]), return_counts=True)
    return TermCounts(words.astype(np.uint64), counts.astype(np.uint32))


def _grid(
    names: Sequence[str],
    hosts: Sequence[int],
    rows: Sequence[IndexArray],
    versions: Sequence[TermCounts],
    leaders: Sequence[int],
) -> ContentGrid:
    terms, vocabulary = count_rows(versions)
    sizes = [int(row[-1] - row[0]) + 1 for row in rows]
    links, linked_pages = count_rows([
        _links(leader) for leader, size in zip(leaders, sizes, strict=True) for _ in range(size)
    ])
    return ContentGrid(
        tuple(names),
        np.array(hosts, np.uint64),
        DAY_SECONDS * np.arange(len(rows[0])),
        np.stack(rows).astype(np.int32),
        terms,
        vocabulary,
        np.arange(1, len(versions) + 1, dtype=np.uint64),
        links,
        linked_pages.astype(np.int32),
    )


def _links(leader: int) -> TermCounts:
    pages = [leader] if leader != NO_PAGE else []
    return TermCounts(np.array(pages, np.uint64), np.ones(len(pages), np.uint32))
