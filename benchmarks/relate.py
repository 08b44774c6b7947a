"""Finding related pages: series compared a second on one core, against plain numpy.

Required: 200,000 pairs of series of length 50 a second with time warping, and 1,000,000 with the
cross-correlation over all lags. The lines of experts are the choice of 20 experts for each of 5,000
generated pages, against the plain comparison of the words of a few pages with those of all others.
The memory is the peak of the process after that, its generated pages included, against a limit of
2 GB. The last line is the approximate search for similar words among 20,000 pages; its reference is
the exact search, and its recall is in its name.
"""

from collections.abc import Callable
from statistics import median

import numpy as np

from benchmarks.neighbours_cpu import cpu_seconds, peak_megabytes
from benchmarks.report import REPEATS, BenchmarkResult, report, seconds
from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages
from freshet.core.content.sparse_rows import SparseRows
from freshet.core.types import FloatArray
from freshet.relate.content_neighbours import ContentNeighbours
from freshet.relate.kernels.cross_correlation import correlate_pairs
from freshet.relate.kernels.time_warping import warp_with_rows
from freshet.relate.recall import neighbour_recall
from freshet.relate.relation import PageRelation
from freshet.relate.temporal_similarity import CrossCorrelation, TimeWarping

STEPS = 50
PAIRS = 20_000
PLAIN_PAIRS = 200
PAGES = 5000
SEARCH_PAGES = 20_000
PLAIN_OTHERS = 20
TOP_WORDS = 50
WORDS_PER_PAGE = 200
VOCABULARY = 30_000
EXPERTS = 20
TOPICS = 200
MEMORY_LIMIT = 2000.0
PairFunction = Callable[[FloatArray, FloatArray], float]


def plain_correlation(target: FloatArray, leader: FloatArray) -> float:
    """Return the largest correlation over the lags at which the leader is ahead."""
    products = np.correlate(target, leader, "full")[len(leader) - 1 :]
    return float(products.max())


def plain_warping(first: FloatArray, second: FloatArray) -> float:
    """Return the warped distance, computed along antidiagonals with numpy."""
    size = len(first)
    costs = np.abs(first[:, None] - second[None, :])
    table = np.full((size + 1, size + 1), np.inf)
    table[0, 0] = 0.0
    for diagonal in range(2 * size - 1):
        i = np.arange(max(0, diagonal - size + 1), min(size, diagonal + 1))
        j = diagonal - i
        steps = np.minimum(np.minimum(table[i, j + 1], table[i + 1, j]), table[i, j])
        table[i + 1, j + 1] = costs[i, j] + steps
    return float(table[size, size])


def measure_correlations(first: FloatArray, second: FloatArray) -> BenchmarkResult:
    """Return pairs of series correlated over all lags a second, by both."""
    plain = [plain_correlation(first[row], second[row]) for row in range(PLAIN_PAIRS)]
    _stop_unless_equal(plain, correlate_pairs(first, second, STEPS)[0][:PLAIN_PAIRS])
    return _compare(
        "cross-correlation",
        lambda: correlate_pairs(first, second, STEPS),
        lambda: [plain_correlation(first[row], second[row]) for row in range(PLAIN_PAIRS)],
    )


def measure_warping(first: FloatArray, second: FloatArray) -> BenchmarkResult:
    """Return pairs of series warped a second, by both."""
    rows = np.arange(PAIRS, dtype=np.int32)
    plain = [plain_warping(first[0], second[row]) for row in range(PLAIN_PAIRS)]
    _stop_unless_equal(plain, warp_with_rows(first[0], second, rows)[:PLAIN_PAIRS])
    return _compare(
        "time warping",
        lambda: warp_with_rows(first[0], second, rows),
        lambda: [plain_warping(first[0], second[row]) for row in range(PLAIN_PAIRS)],
    )


def _compare(
    name: str, ours: Callable[[], object], reference: Callable[[], object]
) -> BenchmarkResult:
    """Return the rates of both on one core, each for its own number of pairs."""
    times = [(cpu_seconds(ours), cpu_seconds(reference)) for _ in range(REPEATS)]
    ours_time, plain_time = (median(column) for column in zip(*times, strict=True))
    return BenchmarkResult(name, PAIRS / ours_time, PLAIN_PAIRS / plain_time, "pairs/CPU s")


def _stop_unless_equal(plain: list[float], ours: FloatArray) -> None:
    if not np.allclose(plain, ours):
        raise SystemExit("relate: the compiled loop and numpy disagree")


def generate_grid(rng: np.random.Generator, page_count: int, step_count: int) -> ContentGrid:
    """Return pages with words of their topic and general words, some of which change at a third
    of the steps; all are Zipf-distributed.
    """
    rows, versions = [], np.empty((page_count, step_count), np.int32)
    for page in range(page_count):
        topic = _draw_counts(rng, WORDS_PER_PAGE // 2, shift=int(rng.integers(TOPICS)) * 7919)
        counts = _draw_counts(rng, WORDS_PER_PAGE // 2) | topic
        for step in range(step_count):
            if step == 0 or rng.random() < 1 / 3:
                rows.append(counts | _draw_counts(rng, 20))
            versions[page, step] = len(rows) - 1
    starts = np.zeros(len(rows) + 1, np.int32)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    terms = SparseRows(
        starts,
        np.concatenate([np.array(sorted(row), np.int32) for row in rows]),
        np.concatenate([np.array([row[word] for word in sorted(row)], float) for row in rows]),
        VOCABULARY,
    )
    no_links = SparseRows(np.zeros(len(rows) + 1, np.int32), starts[:0], np.empty(0), 0)
    return ContentGrid(
        tuple(map(str, range(page_count))),
        np.zeros(page_count, np.uint64),
        np.arange(float(step_count)),
        versions,
        terms,
        np.arange(VOCABULARY).astype(np.uint64),
        np.arange(len(rows)).astype(np.uint64),
        no_links,
    )


def measure_experts(
    grid: ContentGrid, relation: PageRelation, plain: PairFunction
) -> BenchmarkResult:
    """Return pages a second for which experts are chosen, by both."""
    relation.related(grid.select(np.arange(8, dtype=np.int32)), EXPERTS)
    ours = PAGES / seconds(lambda: relation.related(grid, EXPERTS))
    series = [page_series(grid, page) for page in range(PLAIN_OTHERS)]
    plain_seconds = seconds(lambda: [plain_similarity(series[0], other, plain) for other in series])
    reference = PLAIN_OTHERS / PAGES / plain_seconds
    return BenchmarkResult(f"experts {type(relation).__name__}", ours, reference, "pages/s")


def page_series(grid: ContentGrid, page: int) -> dict[int, FloatArray]:
    """Return the standardised series of the words of a page."""
    versions, table = grid.versions[page], np.zeros((VOCABULARY, STEPS))
    for step, version in enumerate(versions.tolist()):
        columns, values = grid.terms.row(version)
        table[columns, step] = values / values.sum()
    table -= table.mean(axis=1, keepdims=True)
    words = np.flatnonzero(np.abs(table).max(axis=1) > 0)
    norms = np.sqrt((table[words] ** 2).sum(axis=1))
    return dict(zip(words.tolist(), table[words] / norms[:, None], strict=True))


def plain_similarity(
    target: dict[int, FloatArray], other: dict[int, FloatArray], plain: PairFunction
) -> float:
    """Return the sum of the similarities of the words of both pages, up to 50 of them."""
    shared = [word for word in list(target)[-TOP_WORDS:] if word in other]
    return sum(plain(target[word], other[word]) for word in shared)


def measure_search(grid: ContentGrid) -> BenchmarkResult:
    """Return pages a second by the approximate and by the exact search for similar words."""
    exact, approximate = list[RelatedPages](), list[RelatedPages]()
    search = ContentNeighbours(exact_limit=0)
    whole = ContentNeighbours(exact_limit=grid.page_count)
    ours = grid.page_count / seconds(lambda: approximate.append(search.related(grid, EXPERTS)))
    reference = grid.page_count / seconds(lambda: exact.append(whole.related(grid, EXPERTS)))
    recall = neighbour_recall(approximate[0], exact[0])
    return BenchmarkResult(f"search, recall {recall:.3f}", ours, reference, "pages/s")


def _draw_counts(rng: np.random.Generator, size: int, *, shift: int = 0) -> dict[int, int]:
    """Return words and their counts; rank r is drawn with a chance of about 1 / r."""
    ranks = np.exp(rng.random(size) * np.log(VOCABULARY)).astype(int)
    distinct, counts = np.unique((ranks + shift) % VOCABULARY, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


def main() -> None:
    """Print the ratios of all."""
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, PAIRS, STEPS))
    results = [measure_correlations(first, second), measure_warping(first, second)]
    grid = generate_grid(rng, PAGES, STEPS)
    results.append(measure_experts(grid, CrossCorrelation(), plain_correlation))
    results.append(measure_experts(grid, TimeWarping(), plain_warping))
    results.append(BenchmarkResult("peak memory", peak_megabytes(), MEMORY_LIMIT, "MB"))
    report(*results, measure_search(generate_grid(rng, SEARCH_PAGES, 1)))


if __name__ == "__main__":
    main()
