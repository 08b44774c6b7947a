"""The reduce of an analysis: figures of pages gathered batch by batch, in bounded memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.analysis.change_rates import mean_posterior_rates
from freshet.analysis.page_groups import Labels
from freshet.core.tables import BoolArray, PageIdArray, PageTable, VisitTable, hash_names
from freshet.core.tie_break import TIE_BREAK_RANGE
from freshet.core.types import FloatArray, IndexArray, Page
from freshet.engine.result_cache import Columns
from freshet.measure.statistics.page_summary import (
    HOURS_PER_DAY,
    UNKNOWN_MARK,
    PageFigures,
    can_estimate_rate,
    concatenate_figures,
    figures_from_columns,
)
from freshet.schedule.top_k import tie_breaker

MAX_PAGES = 200_000
PAGES_PER_RATE_FIT, LOOKS_PER_RATE_FIT = 20_000, 500_000


@dataclass(frozen=True, slots=True)
class GroupedFigures:
    """Pages with their figures; ``member_rows`` and ``member_groups`` say which of them are in which group."""

    ids: PageIdArray
    figures: PageFigures
    member_rows: IndexArray
    member_groups: IndexArray

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, kept: BoolArray) -> "GroupedFigures":
        """Return some of the pages."""
        place = np.cumsum(kept) - 1
        held = kept[self.member_rows]
        return GroupedFigures(
            self.ids[kept],
            self.figures[kept],
            place[self.member_rows[held]].astype(np.int32),
            self.member_groups[held],
        )


class FigureCollector:
    """Takes in measured batches: learns rates, and holds figures for pages drawn by lot."""

    def __init__(self, most: int = MAX_PAGES) -> None:
        self.page_count = 0
        self.group_numbers: dict[str, int] = {}
        self._most = most
        self._limit = TIE_BREAK_RANGE
        self._parts: list[GroupedFigures] = []
        self._waiting: list[tuple[Columns, Sequence[Page], Sequence[Labels]]] = []
        self._rates: list[NDArray[np.float32]] = []

    def add_batch(self, found: Columns, pages: Sequence[Page], labels: Sequence[Labels]) -> None:
        """Take in a batch; both are in the order of its rows."""
        self.page_count += len(pages)
        self._waiting.append((found, pages, labels))
        looks = sum(len(found["look_row"]) for found, _, _ in self._waiting)
        if (
            sum(len(held) for _, held, _ in self._waiting) >= PAGES_PER_RATE_FIT
            or looks >= LOOKS_PER_RATE_FIT
        ):
            self._settle()

    def figures(self) -> GroupedFigures:
        """Return everything that is held, in the order in which it came."""
        self._settle()
        offsets = np.cumsum([0, *(len(part) for part in self._parts)])
        rows = [
            part.member_rows + offset for part, offset in zip(self._parts, offsets, strict=False)
        ]
        return GroupedFigures(
            np.concatenate([np.empty(0, np.int64), *(part.ids for part in self._parts)]),
            concatenate_figures([part.figures for part in self._parts]),
            np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32),
            np.concatenate([np.empty(0, np.int32), *(part.member_groups for part in self._parts)]),
        )

    def rates(self) -> NDArray[np.float32]:
        """Return the rate of every page, in changes a day, in the order in which they came."""
        self._settle()
        return np.concatenate([np.empty(0, np.float32), *self._rates])

    def _settle(self) -> None:
        """Learn the rates of the pages that wait, and take their figures over."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        rates = fit_rates([(found, pages) for found, pages, _ in waiting])
        self._rates.append(rates.astype(np.float32))
        ends = np.cumsum([len(pages) for _, pages, _ in waiting])[:-1]
        for (found, _, labels), learnt in zip(waiting, np.split(rates, ends), strict=True):
            tells = can_estimate_rate(found["changes"], found["compared"])
            hours = np.where(tells, HOURS_PER_DAY / learnt, np.nan)
            figures = figures_from_columns({**found, "expected_hours": hours})
            self._hold(GroupedFigures(found["page"], figures, *self._members(labels)))

    def _members(self, labels: Sequence[Labels]) -> tuple[IndexArray, IndexArray]:
        pairs = [(row, name) for row, names in enumerate(labels) for name in names]
        codes = [self.group_numbers.setdefault(name, len(self.group_numbers)) for _, name in pairs]
        return np.array([row for row, _ in pairs], np.int32), np.array(codes, np.int32)

    def _hold(self, part: GroupedFigures) -> None:
        """Hold the pages whose lot is low enough, and lower the limit when there are too many."""
        self._parts.append(self._drawn(part))
        while sum(map(len, self._parts)) > self._most:
            self._limit /= 2
            self._parts = [self._drawn(part) for part in self._parts]

    def _drawn(self, part: GroupedFigures) -> GroupedFigures:
        return (
            part
            if self._limit == TIE_BREAK_RANGE
            else part.take(tie_breaker(0)(part.ids) < self._limit)
        )


def fit_rates(batches: Sequence[tuple[Columns, Sequence[Page]]]) -> FloatArray:
    """Return the rates of pages, in changes a day, learnt together from all of their looks."""
    pages = [page for _, held in batches for page in held]
    ids = np.array([page.id for page in pages], np.int64)
    table = PageTable(
        ids,
        hash_names([page.host for page in pages]),
        hash_names([page.site for page in pages]),
        hash_names([page.directory for page in pages]),
        np.ones(len(ids)),
        np.full(len(ids), np.nan),
    )
    changed = np.concatenate([found["look_changed"] for found, _ in batches])
    return mean_posterior_rates(
        table,
        VisitTable(
            np.concatenate([found["page"][found["look_row"]] for found, _ in batches]),
            np.concatenate([found["look_time"] for found, _ in batches]),
            np.ones(len(changed), np.bool_),
            changed != UNKNOWN_MARK,
            changed == 1,
            np.full(len(changed), -1, np.int32),
        ),
    )
