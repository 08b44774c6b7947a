"""Experts by the cross-correlation that is updated snapshot by snapshot (section 9.2)."""

from dataclasses import dataclass

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages
from freshet.relate.content_neighbours import ContentNeighbours
from freshet.relate.online_correlation import OnlineCrossCorrelation
from freshet.relate.tfidf import inverse_document_frequencies, last_term_weights


@dataclass(frozen=True, slots=True)
class SnapshotCorrelation:
    """Relates pages as ``CrossCorrelation`` does, but takes one snapshot of the pages at a time.

    Only ``candidates`` pages with the most similar words are compared, which bounds the memory.
    """

    words: int = 50
    candidates: int = 40

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return the pages with the highest correlations, with their lags."""
        idf = inverse_document_frequencies(grid)
        online = OnlineCrossCorrelation(
            ContentNeighbours().related(grid, self.candidates),
            last_term_weights(grid, idf),
            words=self.words,
            lag_count=max(grid.step_count, 1),
        )
        for step in range(grid.step_count):
            online.update(last_term_weights(grid.until(step), idf))
        return online.related(count)
