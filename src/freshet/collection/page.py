"""A page of a collection: its forecast, its figures, and the differences between versions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from freshet.analysis.page_reader import blocks_of_versions, collection_language, read_series
from freshet.analysis.page_traits import page_curve
from freshet.collection.post_list import PostList, list_posts
from freshet.core.errors import NotFoundError
from freshet.core.types import Change, View
from freshet.core.version_series import VersionSeries
from freshet.crawl.forecast import PageForecast, expected_links, forecast
from freshet.learning.related.related_pages import (
    DEFAULT_RELATION,
    RelatedPageList,
    find_related,
)
from freshet.measure.change.snippet import MAX_SNIPPET_CHARS, make_snippet
from freshet.measure.change.word_diff import DiffPiece, diff_hunks, word_diff
from freshet.measure.dynamics.curve.change_curve import ChangeCurve
from freshet.measure.dynamics.structure.blocks import DomBlock
from freshet.measure.dynamics.terms.term_table import TermTable, term_table
from freshet.measure.noise.mask import Mask, cut_spans, hidden_spans
from freshet.measure.noise.mask_pattern import HIDDEN_MARK
from freshet.record.change_criteria import ChangeCriteria, page_criteria
from freshet.record.stored_page import StoredPage, StoredVersion, VersionChoice

MAX_EARLIER_VERSIONS = 5


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """Two versions of a page, the change between them, and all words removed and added.

    ``change`` says whether they count as a change, by the page's ``counts_as`` and its mask.
    """

    old: StoredVersion
    new: StoredVersion
    change: Change
    words: list[DiffPiece]
    counts_as: str

    def hunks(self, *, context: int) -> list[tuple[DiffPiece, ...]]:
        """Return each change of the words with ``context`` lines around it."""
        return diff_hunks(self.words, context=context)


@dataclass(frozen=True, slots=True)
class VersionNews:
    """A snippet of the new text of a version since an earlier one; empty if there is none."""

    old: StoredVersion
    new: StoredVersion
    change: Change
    text: str


class CollectionPage(StoredPage):
    """A page of a collection that can also forecast, analyse and compare."""

    def forecast(self) -> PageForecast:
        """Return the probability that the page has changed, by time."""
        return forecast(self._reader, self)

    def posts(self, *, limit: int | None = None) -> PostList:
        """Return the posts that visits have found, all or the latest; of other pages, why none."""
        return list_posts(self._reader, self, limit=limit)

    def expected_links(self, by: datetime) -> float:
        """Return how many links that the page never had a look at a time is expected to find."""
        return expected_links(self._reader, [self], by)[0]

    def related(self, *, by: str = DEFAULT_RELATION, count: int = 20) -> RelatedPageList:
        """Return the pages that may tell about the changes of this one, with weights and lags."""
        return find_related(self._reader, self, by=by, count=count)

    def series(self) -> VersionSeries:
        """Return the page's looks in time order, with the words of each version."""
        return read_series(self._reader, self, dom=False).series

    def curve(self) -> ChangeCurve:
        """Return the page's change curve: its similarity to itself over time, and its knot."""
        return page_curve(self.series(), self.url)

    def terms(self) -> TermTable:
        """Return when each word was present, its staying power and its divergence."""
        return term_table(self.series(), collection_language(self._reader, self))

    def blocks(self) -> tuple[DomBlock, ...]:
        """Return the DOM blocks of the page with their lifespans; none if no version has any."""
        looks = self._reader.catalog.last_looks([self.id])
        last = self.view_of_visit(looks[self.id], dom=True) if looks else None
        return blocks_of_versions(read_series(self._reader, self, dom=True), last)

    def difference(
        self, old: VersionChoice | None = None, new: VersionChoice | None = None
    ) -> VersionDifference:
        """Compare two versions, by default those before and after the last change."""
        old_version, new_version = self._chosen_versions(old, new)
        criteria = page_criteria(self._reader, self)
        old_view, new_view = self._views([old_version, new_version], criteria)
        change = criteria.compare(old_view, new_view)
        words = word_diff(old_view.text, new_view.text)
        return VersionDifference(old_version, new_version, change, words, criteria.counts_as)

    def news(self, since: VersionChoice, *, limit: int = MAX_SNIPPET_CHARS) -> VersionNews:
        """Return what is new in the last version since an earlier one.

        Text that the page's mask hides is left out. Words that a few versions before the earlier
        one had weigh less.
        """
        old_version, new_version = self.version(since), self.version(-1)
        criteria = page_criteria(self._reader, self)
        old_view, new_view = self._views([old_version, new_version], criteria)
        earlier_views = self._views_before(old_version, criteria)
        text = make_snippet(
            _visible_text(old_view, criteria.mask),
            _visible_text(new_view, criteria.mask),
            earlier_texts=[_visible_text(view, criteria.mask) for view in earlier_views],
            max_chars=limit,
        )
        return VersionNews(old_version, new_version, criteria.compare(old_view, new_view), text)

    def _views(self, versions: Sequence[StoredVersion], criteria: ChangeCriteria) -> list[View]:
        return [self.view(version.number, dom=criteria.reads_dom) for version in versions]

    def _views_before(self, version: StoredVersion, criteria: ChangeCriteria) -> list[View]:
        """Return a few different views from before a version whose bytes are stored."""
        rows = {
            earlier.row.visit.digest: earlier.row for earlier in self.versions[: version.number - 1]
        }
        rows.pop(version.row.visit.digest, None)
        nearest = list(rows.values())[-MAX_EARLIER_VERSIONS:]
        views = (self.view_of_visit(row, dom=criteria.reads_dom) for row in nearest)
        return [view for view in views if view is not None]

    def _chosen_versions(
        self, old: VersionChoice | None, new: VersionChoice | None
    ) -> tuple[StoredVersion, StoredVersion]:
        """Return two versions by choice, by default those before and after the last change."""
        if len(self.versions) < 2 and old is None:
            raise NotFoundError(
                f"{self.url} has fewer than two versions, so nothing to compare;"
                " 'freshet history' lists what there is"
            )
        if old is not None:
            return self.version(old), self.version(-1 if new is None else new)
        changed = [v for v in self.versions[1:] if v.row.change and v.row.change.changed]
        later = changed[-1] if changed else self.versions[-1]
        return self.versions[later.number - 2], later


def _visible_text(view: View, mask: Mask) -> str:
    """Return the text of a view without what the mask hides."""
    return cut_spans(view.text, hidden_spans(view, mask)).replace(HIDDEN_MARK, " ")
