"""Semantic vectors of generated pages, for benchmarks."""

import numpy as np

from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import Float32Array, HashArray
from freshet.relate.semantic.semantic_model import SemanticSettings, fit_semantic_model

VOCABULARY, TOPICS, TOPIC_WORDS, HOST_WORDS = 100_000, 500, 2000, 60
PAGES_PER_HOST, WORDS_PER_PAGE, FITTED_PAGES = 100, 150, 20_000
HOST_SHARE, TOPIC_SHARE, OWN_TOPIC_SHARE = 0.3, 0.4, 0.3
# Large primes, which spread the words of hosts and topics over the vocabulary.
HOST_STEP, WORD_STEP, TOPIC_STEP, RANK_STEP, COMMON_STEP = 7919, 104_729, 15_485_863, 32_452_843, 20


def generate_pages(count: int, seed: int = 1) -> tuple[SparseRows, HashArray]:
    """Return the counts of words of pages, and the word of each column.

    Hosts have very different numbers of pages. A word is one of the host's, of the topic's, or a
    common one; most pages have the topic of their host. Within each, rank r has a chance of 1 / r.
    """
    rng = np.random.default_rng(seed)
    host_sizes = rng.pareto(1.0, count // PAGES_PER_HOST + 1) + 1
    hosts = rng.choice(len(host_sizes), count, p=host_sizes / host_sizes.sum())
    host_topics = rng.integers(0, TOPICS, len(host_sizes))
    has_own_topic = rng.random(count) < OWN_TOPIC_SHARE
    topics = np.where(has_own_topic, rng.integers(0, TOPICS, count), host_topics[hosts])
    pages = np.repeat(np.arange(count, dtype=np.int64), WORDS_PER_PAGE)
    kinds = rng.random(len(pages), dtype=np.float32)
    log_ranks = rng.random(len(pages), dtype=np.float32) * np.float32(np.log(TOPIC_WORDS))
    ranks = np.exp(log_ranks).astype(np.int64)
    is_host, is_topic = kinds < HOST_SHARE, kinds < HOST_SHARE + TOPIC_SHARE
    host_words = hosts[pages] * HOST_STEP + ranks % HOST_WORDS * WORD_STEP
    topic_words = topics[pages] * TOPIC_STEP + ranks * RANK_STEP
    words = np.where(is_host, host_words, np.where(is_topic, topic_words, ranks * COMMON_STEP))
    cells, counts = np.unique(pages * VOCABULARY + words % VOCABULARY, return_counts=True)
    sizes = np.bincount(cells // VOCABULARY, minlength=count)
    starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
    columns = (cells % VOCABULARY).astype(np.int32)
    rows = SparseRows(starts, columns, counts.astype(np.float64), VOCABULARY)
    return rows, np.arange(VOCABULARY).astype(np.uint64)


def generate_vectors(count: int) -> Float32Array:
    """Return the semantic vectors of generated pages."""
    rows, vocabulary = generate_pages(count)
    settings = SemanticSettings(max_pages=FITTED_PAGES)
    return fit_semantic_model(rows, vocabulary, settings).transform(rows, vocabulary)
