"""Reads recorded threads, and generates some where there are none."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freshet.core.extras import OptionalPackage
from freshet.predict.threads.thread_posts import ThreadPosts

polars = OptionalPackage("polars", extra="parquet")

FORUM, ISSUE = "forum", "issue"
ISSUE_SOURCES = frozenset({"bitcoin-github", "git-mailing-list", "indology-list"})
LONG_THREADS = (100, 1000)
MIN_POSTS = 5
START = 24_000_000.0
WORDS = ("question", "answer", "printer", "firmware", "update", "thanks", "release", "broken")


@dataclass(frozen=True, slots=True)
class RecordedThread:
    """A thread with its name and kind: of a forum, or of issues and mailing lists."""

    name: str
    kind: str
    posts: ThreadPosts

    @property
    def is_long(self) -> bool:
        """Whether the thread is replayed: 100 to 1000 posts."""
        return LONG_THREADS[0] <= len(self.posts) <= LONG_THREADS[1]


def read_threads(data: Path) -> list[RecordedThread]:
    """Return the threads of ``threads/posts.parquet`` with 5 to 1000 posts."""
    table = polars.read_parquet(data / "threads" / "posts.parquet").sort("thread", "time", "post")
    threads = []
    for (source, name), posts in table.group_by(["source", "thread"], maintain_order=True):
        if MIN_POSTS <= len(posts) <= LONG_THREADS[1]:
            times = posts["time"].dt.epoch("ms").to_numpy() / 60_000.0
            kind = ISSUE if source in ISSUE_SOURCES else FORUM
            texts = tuple(text or "" for text in posts["text"])
            threads.append(RecordedThread(name, kind, ThreadPosts(times, texts)))
    return threads


def generate_threads(count: int, *, seed: int = 1) -> list[RecordedThread]:
    """Return made-up threads: intervals of many sizes, longer as the thread ages."""
    generator = np.random.default_rng(seed)
    words = np.array(WORDS)
    threads = []
    for index in range(count):
        kind = (FORUM, ISSUE)[index % 2]
        posts = (
            int(generator.integers(100, 160)) if index % 4 < 2 else int(generator.integers(5, 60))
        )
        spread = 1.8 if kind == FORUM else 2.4
        intervals = np.exp(generator.normal(3.5 + np.linspace(0.0, 2.0, posts), spread))
        times = START + np.cumsum(intervals)
        texts = tuple(" ".join(generator.choice(words, 6)) for _ in range(posts))
        threads.append(RecordedThread(f"{kind}:{index}", kind, ThreadPosts(times, texts)))
    return threads
