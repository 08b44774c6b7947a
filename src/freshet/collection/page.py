"""One page of a collection: its forecast, its figures, and what differs between versions."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshet.analysis.page_reader import blocks_of, history_of, language_around
from freshet.analysis.page_traits import curve_of
from freshet.core.errors import NotFound
from freshet.core.types import Change, View
from freshet.core.version_series import Series
from freshet.crawl.forecast import PageForecast, forecast
from freshet.measure.change.snippet import LIMIT, snippet
from freshet.measure.change.word_diff import Piece, difference, hunks
from freshet.measure.dynamics.curve.change_curve import Curve
from freshet.measure.dynamics.structure.blocks import Block
from freshet.measure.dynamics.terms.term_table import TermTable, term_table
from freshet.measure.noise.mask import hidden, without
from freshet.measure.noise.mask_pattern import HOLE
from freshet.record.change_criteria import Gauge, gauges
from freshet.record.stored_page import StoredPage, Version, Which

REMEMBERED = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions of a page, compared: the change, and the words that went and came.

    The words are all that differ; ``change`` says whether that counts, by the page's ``counts_as``
    and under its mask.
    """

    old: Version
    new: Version
    change: Change
    words: list[Piece]
    counts_as: str

    def hunks(self, *, context: int) -> list[tuple[Piece, ...]]:
        """Return each change of the words with so many lines around it."""
        return hunks(self.words, context=context)


@dataclass(frozen=True, slots=True)
class News:
    """What is new in a version since another one, as short as a search result; empty if nothing."""

    old: Version
    new: Version
    change: Change
    text: str


class CollectionPage(StoredPage):
    """A page of a collection that can also forecast, analyse and compare."""

    def forecast(self) -> PageForecast:
        """Return how likely the page is to have changed by when."""
        return forecast(self._files.catalog, self._files.settings, self, self._files.clock)

    def series(self) -> Series:
        """Return the page's looks in time order, with the words of each version they showed."""
        return history_of(self._files, self, dom=False).series

    def curve(self) -> Curve:
        """Return how alike the page stays to what it was, with its knot where it has one."""
        return curve_of(self.series(), self.url)

    def terms(self) -> TermTable:
        """Return when each word was there, how well it stays, and how telling it is here."""
        return term_table(self.series(), language_around(self._files, self))

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks of the page and how each lives; none where no version has any."""
        looks = self._files.catalog.last_looks([self.id])
        last = self.view_of(looks[self.id], dom=True) if looks else None
        return blocks_of(history_of(self._files, self, dom=True), last)

    def difference(self, old: Which | None = None, new: Which | None = None) -> Difference:
        """Compare two versions; without any, those around the last change."""
        (first, second), gauge = self._pair(old, new), self._gauge()
        before, after = self._views([first, second], gauge)
        words = difference(before.text, after.text)
        return Difference(first, second, gauge.compare(before, after), words, gauge.counts_as)

    def news(self, since: Which, *, limit: int = LIMIT) -> News:
        """Return what is new in the last version since the one seen at a time.

        What the page's mask hides is left out; words that a few versions before then had, too, are
        no great news.
        """
        first, last, gauge = self.version(since), self.version(-1), self._gauge()
        before, after = self._views([first, last], gauge)
        texts = [_text_left(view, gauge) for view in (before, after)]
        earlier = [_text_left(view, gauge) for view in self._views_before(first, gauge)]
        told = snippet(*texts, earlier=earlier, limit=limit)
        return News(first, last, gauge.compare(before, after), told)

    def _gauge(self) -> Gauge:
        return gauges(self._files.catalog, self._files.settings, [self.id])[self.id]

    def _views(self, versions: Sequence[Version], gauge: Gauge) -> list[View]:
        return [self.view(version.number, dom=gauge.reads_dom) for version in versions]

    def _views_before(self, version: Version, gauge: Gauge) -> list[View]:
        """Return a few different views from before a version, as far as their bytes are kept."""
        earlier = {each.row.visit.digest: each.row for each in self.versions[: version.number - 1]}
        earlier.pop(version.row.visit.digest, None)
        nearest = list(earlier.values())[-REMEMBERED:]
        views = (self.view_of(row, dom=gauge.reads_dom) for row in nearest)
        return [view for view in views if view is not None]

    def _pair(self, old: Which | None, new: Which | None) -> tuple[Version, Version]:
        if len(self.versions) < 2 and old is None:
            raise NotFound(
                f"{self.url} has fewer than two versions, so nothing to compare;"
                " 'freshet history' lists what there is"
            )
        if old is not None:
            return self.version(old), self.version(-1 if new is None else new)
        changed = [v for v in self.versions[1:] if v.row.change and v.row.change.changed]
        later = changed[-1] if changed else self.versions[-1]
        return self.versions[later.number - 2], later


def _text_left(view: View, gauge: Gauge) -> str:
    """Return what of a view's text its mask leaves, line by line."""
    return without(view.text, hidden(view, gauge.mask)).replace(HOLE, " ")
