"""The whole catalog, put together from its families of tables."""

from types import TracebackType
from typing import Self

from freshet.archive.catalog.sql.crawling import CrawlTables
from freshet.archive.catalog.sql.history import HistoryTables
from freshet.archive.catalog.sql.imports import ImportTables
from freshet.archive.catalog.sql.pages import PageTables
from freshet.archive.catalog.sql.totals import TotalTables
from freshet.archive.catalog.sql.visits import VisitTables


class SqlCatalog(PageTables, VisitTables, HistoryTables, TotalTables, CrawlTables, ImportTables):
    """A catalog in a SQL database; every method is one transaction unless it says otherwise."""

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
