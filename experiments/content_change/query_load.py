"""The labels by name; those of relevance need queries, which are drawn from the first window."""

import numpy as np

from freshet.core.content.content_grid import ContentGrid
from freshet.measure.targets.becomes_relevant import BecomesRelevant, WeightedQuery
from freshet.measure.targets.target import Target
from freshet.measure.targets.target_names import target_of_name
from freshet.relate.tfidf import take_rows

RELEVANT = "relevant"
QUERIES, WORDS_PER_QUERY = 200, 2
# Words of fewer pages have no ranking, and words of more pages say little.
FEWEST_PAGES, LARGEST_PAGE_SHARE = 2, 0.2


def target_of_label(label: str, grid: ContentGrid, window: int) -> Target:
    """Return the target of a label; queries are drawn from the texts of the first window."""
    if label != RELEVANT:
        return target_of_name(label)
    return BecomesRelevant(draw_queries(grid.until(window)))


def draw_queries(grid: ContentGrid, count: int = QUERIES, seed: int = 1) -> list[WeightedQuery]:
    """Return queries of two words each that occur together in a page of the last step."""
    rng = np.random.default_rng(seed)
    rows = take_rows(grid.terms, grid.last_versions())
    pages_with_word = np.bincount(rows.columns, minlength=rows.column_count)
    is_usable = pages_with_word >= FEWEST_PAGES
    is_usable &= pages_with_word <= max(FEWEST_PAGES, LARGEST_PAGE_SHARE * len(rows))
    queries = []
    for page in rng.integers(0, max(len(rows), 1), count if len(rows) else 0).tolist():
        words = rows.row(page)[0]
        words = words[is_usable[words]]
        if len(words) >= WORDS_PER_QUERY:
            chosen = rng.choice(words, WORDS_PER_QUERY, replace=False)
            queries.append(WeightedQuery(np.sort(grid.vocabulary[chosen])))
    return queries
