"""Threads with a post about every eight hours, looked at six times a day."""

import numpy as np

from freshet.archive.catalog.rows import NewPage, ThreadLook, VisitEntry
from freshet.collection.collection import Collection
from freshet.core.clock import from_epoch
from freshet.core.content.posts import Post
from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Outcome, PageKey, Visit

HOUR = 3600.0
FIRST = 1_700_000_000.0
DAYS, THREADS = 24, 8
NOW = from_epoch(FIRST + DAYS * DAY_SECONDS)
URLS = [f"https://forum{number}.example/thread" for number in range(THREADS)]


def add_threads(collection: Collection, *, threads: int = THREADS) -> list[int]:
    """Add threads with their looks and posts to an empty collection; return their ids."""
    hosts = [url.split("/")[2] for url in URLS[:threads]]
    new_pages = [
        NewPage(PageKey(url, ""), host, host, f"{host}/")
        for url, host in zip(URLS, hosts, strict=False)
    ]
    ids = collection.catalog.add_pages(new_pages, from_epoch(FIRST)).ids
    generator = np.random.default_rng(1)
    for page in ids:
        posts = FIRST + np.cumsum(generator.normal(8 * HOUR, 2 * HOUR, 3 * DAYS))
        looks = FIRST + 9 * HOUR + np.arange(6 * DAYS) * 4 * HOUR + generator.random() * HOUR
        collection.catalog.append_visits([
            VisitEntry(
                Visit(uid(page, number), page, from_epoch(float(time)), Outcome.OK),
                thread=ThreadLook(shown(posts[posts < time][-6:]), "6 posts"),
            )
            for number, time in enumerate(looks)
        ])
    return list(ids)


def shown(times: np.ndarray) -> tuple[Post, ...]:
    """Return posts at some times."""
    return tuple(Post(float(time), "Ann", f"at {time:.0f}", f"#{time:.0f}") for time in times)


def uid(page: int, number: int) -> bytes:
    """Return the uid of a visit."""
    return (1000 * page + number).to_bytes(16, "big")
