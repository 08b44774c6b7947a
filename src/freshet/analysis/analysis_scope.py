"""The scope of an analysis: all pages or some, their whole history or a period of it."""

from dataclasses import dataclass, replace
from datetime import datetime

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.rows import HistoryRow


@dataclass(frozen=True, slots=True)
class AnalysisPeriod:
    """The times between which looks are analysed; None: without a bound.

    Over a period that was asked for, curves are those of the whole period; otherwise those of the
    first five weeks of a page.
    """

    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_limited(self) -> bool:
        """Whether a bound was given."""
        return self.since is not None or self.until is not None

    def rows(self, catalog: Catalog, page_id: int) -> list[HistoryRow]:
        """Return the visits of a page in the period; the first look is compared with none."""
        rows = catalog.history(page_id, since=self.since, until=self.until)
        looks = (number for number, row in enumerate(rows) if row.visit.outcome.is_look)
        first_look = next(looks, None)
        if self.since is not None and first_look is not None:
            rows[first_look] = replace(rows[first_look], change=None, since=None)
        return rows


WHOLE_HISTORY = AnalysisPeriod()


@dataclass(frozen=True, slots=True)
class AnalysisScope:
    """The pages with a tag or of a source, and the period of their looks; None: all pages."""

    tag: str | None = None
    source: str | None = None
    period: AnalysisPeriod = WHOLE_HISTORY


WHOLE_COLLECTION = AnalysisScope()
