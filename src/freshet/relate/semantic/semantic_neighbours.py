"""Pages with a similar meaning: nearest neighbours by the cosine of their semantic vectors."""

from dataclasses import dataclass, field

from freshet.core.content.content_grid import ContentGrid
from freshet.core.content.related_pages import RelatedPages
from freshet.relate.semantic.exact_index import ExactIndex
from freshet.relate.semantic.semantic_model import SemanticSettings, fit_semantic_model
from freshet.relate.tfidf import take_rows


@dataclass(frozen=True, slots=True)
class SemanticNeighbours:
    """Relates pages by the cosine of the semantic vectors of their last known versions.

    Dang et al. (2023), section 5.2. It is a ``PageRelation``: the model is fitted to the pages of
    the grid. Callers that keep the model or the vectors use the modules of this package directly.
    """

    settings: SemanticSettings = field(default_factory=SemanticSettings)

    def related(self, grid: ContentGrid, count: int) -> RelatedPages:
        """Return the pages with the most similar meaning."""
        counts = take_rows(grid.terms, grid.last_versions())
        model = fit_semantic_model(counts, grid.vocabulary, self.settings)
        return ExactIndex(model.transform(counts, grid.vocabulary)).neighbours(count)
