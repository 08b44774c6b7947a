"""Small threads for tests: posts in bursts, by day, that grow rarer."""

import numpy as np

from freshet.predict.threads.thread_posts import ThreadPosts

MONDAY = 27_000_000.0
WORDS = ("printer", "firmware", "thanks", "question", "answer", "broken", "release", "update")


def generate_thread(seed: int, posts: int = 40) -> ThreadPosts:
    """Return a thread whose intervals are log-normal, longer as it ages."""
    generator = np.random.default_rng(seed)
    intervals = np.exp(generator.normal(4.0 + np.linspace(0.0, 2.0, posts), 1.5))
    texts = tuple(" ".join(generator.choice(WORDS, 6)) for _ in range(posts))
    return ThreadPosts(MONDAY + np.cumsum(intervals), texts)
