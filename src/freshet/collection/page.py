"""One page of a collection: its forecast, its figures, and what differs between versions."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshet.analysis.page_reader import blocks_of_versions, history_of, language_around
from freshet.analysis.page_traits import page_curve
from freshet.core.errors import NotFoundError
from freshet.core.types import Change, View
from freshet.core.version_series import VersionSeries
from freshet.crawl.forecast import PageForecast, forecast
from freshet.measure.change.snippet import MAX_SNIPPET_CHARS, make_snippet
from freshet.measure.change.word_diff import DiffPiece, diff_hunks, word_diff
from freshet.measure.dynamics.curve.change_curve import ChangeCurve
from freshet.measure.dynamics.structure.blocks import DomBlock
from freshet.measure.dynamics.terms.term_table import TermTable, term_table
from freshet.measure.noise.mask import cut_spans, hidden_spans
from freshet.measure.noise.mask_pattern import HIDDEN_MARK
from freshet.record.change_criteria import ChangeCriteria, criteria_of_pages
from freshet.record.stored_page import StoredPage, StoredVersion, VersionChoice

MAX_EARLIER_VERSIONS = 5


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """Two versions of a page, compared: the change, and the words that went and came.

    The words are all that differ; ``change`` says whether that counts, by the page's ``counts_as``
    and under its mask.
    """

    old: StoredVersion
    new: StoredVersion
    change: Change
    words: list[DiffPiece]
    counts_as: str

    def hunks(self, *, context: int) -> list[tuple[DiffPiece, ...]]:
        """Return each change of the words with so many lines around it."""
        return diff_hunks(self.words, context=context)


@dataclass(frozen=True, slots=True)
class VersionNews:
    """What is new in a version since another one, as short as a search result; empty if nothing."""

    old: StoredVersion
    new: StoredVersion
    change: Change
    text: str


class CollectionPage(StoredPage):
    """A page of a collection that can also forecast, analyse and compare."""

    def forecast(self) -> PageForecast:
        """Return how likely the page is to have changed by when."""
        return forecast(self._files.catalog, self._files.settings, self, self._files.clock)

    def series(self) -> VersionSeries:
        """Return the page's looks in time order, with the words of each version they showed."""
        return history_of(self._files, self, dom=False).series

    def curve(self) -> ChangeCurve:
        """Return how alike the page stays to what it was, with its knot where it has one."""
        return page_curve(self.series(), self.url)

    def terms(self) -> TermTable:
        """Return when each word was there, how well it stays, and how telling it is here."""
        return term_table(self.series(), language_around(self._files, self))

    def blocks(self) -> tuple[DomBlock, ...]:
        """Return the blocks of the page and how each lives; none where no version has any."""
        looks = self._files.catalog.last_looks([self.id])
        last = self.view_of_visit(looks[self.id], dom=True) if looks else None
        return blocks_of_versions(history_of(self._files, self, dom=True), last)

    def difference(
        self, old: VersionChoice | None = None, new: VersionChoice | None = None
    ) -> VersionDifference:
        """Compare two versions; without any, those around the last change."""
        (first, second), gauge = self._pair(old, new), self._gauge()
        before, after = self._views([first, second], gauge)
        words = word_diff(before.text, after.text)
        return VersionDifference(
            first, second, gauge.compare(before, after), words, gauge.counts_as
        )

    def news(self, since: VersionChoice, *, limit: int = MAX_SNIPPET_CHARS) -> VersionNews:
        """Return what is new in the last version since the one seen at a time.

        What the page's mask hides is left out; words that a few versions before then had, too, are
        no great news.
        """
        first, last, gauge = self.version(since), self.version(-1), self._gauge()
        before, after = self._views([first, last], gauge)
        texts = [_text_left(view, gauge) for view in (before, after)]
        earlier = [_text_left(view, gauge) for view in self._views_before(first, gauge)]
        told = make_snippet(*texts, earlier_texts=earlier, max_chars=limit)
        return VersionNews(first, last, gauge.compare(before, after), told)

    def _gauge(self) -> ChangeCriteria:
        return criteria_of_pages(self._files.catalog, self._files.settings, [self.id])[self.id]

    def _views(self, versions: Sequence[StoredVersion], gauge: ChangeCriteria) -> list[View]:
        return [self.view(version.number, dom=gauge.reads_dom) for version in versions]

    def _views_before(self, version: StoredVersion, gauge: ChangeCriteria) -> list[View]:
        """Return a few different views from before a version, as far as their bytes are kept."""
        earlier = {each.row.visit.digest: each.row for each in self.versions[: version.number - 1]}
        earlier.pop(version.row.visit.digest, None)
        nearest = list(earlier.values())[-MAX_EARLIER_VERSIONS:]
        views = (self.view_of_visit(row, dom=gauge.reads_dom) for row in nearest)
        return [view for view in views if view is not None]

    def _pair(
        self, old: VersionChoice | None, new: VersionChoice | None
    ) -> tuple[StoredVersion, StoredVersion]:
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


def _text_left(view: View, gauge: ChangeCriteria) -> str:
    """Return what of a view's text its mask leaves, line by line."""
    return cut_spans(view.text, hidden_spans(view, gauge.mask)).replace(HIDDEN_MARK, " ")
