"""The whole catalog, put together from its families of tables."""

from freshet.archive.catalog.sql.history import HistoryTables
from freshet.archive.catalog.sql.imports import ImportTables
from freshet.archive.catalog.sql.masks import MaskTables
from freshet.archive.catalog.sql.pages import PageTables
from freshet.archive.catalog.sql.planning import PlanTables
from freshet.archive.catalog.sql.rounds import BurstTables
from freshet.archive.catalog.sql.totals import TotalTables
from freshet.archive.catalog.sql.user_info import UserInfoTables
from freshet.archive.catalog.sql.visits import VisitTables
from freshet.core.close_on_exit import CloseOnExit


class SqlCatalog(
    PageTables,
    VisitTables,
    HistoryTables,
    TotalTables,
    MaskTables,
    BurstTables,
    PlanTables,
    ImportTables,
    UserInfoTables,
    CloseOnExit,
):
    """A catalog in a SQL database; every method is one transaction unless it says otherwise."""

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()
