"""Pages of the same host, which often share a template and days of release."""

from dataclasses import dataclass

import numpy as np

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages, collect_related
from freshet.core.types import FloatArray, IndexArray
from freshet.relate.kernels.content_neighbours import row_products
from freshet.relate.tfidf import inverse_document_frequencies, last_term_weights, normalise_rows


@dataclass(frozen=True, slots=True)
class SameHost:
    """Relates the pages of a host by the cosine of the tf-idf of their last known versions.

    Beyond the paper. Pages without common words are not related.
    """

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return the pages of the same host, those with the most similar words first."""
        rows = normalise_rows(last_term_weights(grid, inverse_document_frequencies(grid)))
        scratch = np.zeros(rows.column_count)
        related: list[tuple[IndexArray, FloatArray, IndexArray]] = []
        order = np.argsort(grid.hosts, kind="stable").astype(np.int32)
        starts = np.searchsorted(grid.hosts[order], grid.hosts, side="left")
        ends = np.searchsorted(grid.hosts[order], grid.hosts, side="right")
        for page in range(grid.page_count):
            others = order[starts[page] : ends[page]]
            others = others[others != page]
            cosines = row_products(page, others, rows.starts, rows.columns, rows.values, scratch)
            is_similar = cosines > 0
            lags = np.zeros(np.count_nonzero(is_similar), np.int32)
            related.append((others[is_similar], cosines[is_similar], lags))
        return collect_related(related).closest(count)
