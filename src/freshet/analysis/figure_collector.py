"""Collect the figures of pages batch by batch in bounded memory, the reduce step of an analysis."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshet.analysis.change_rates import fit_rates
from freshet.analysis.page_groups import Labels
from freshet.core.hashing import TIE_BREAK_RANGE
from freshet.core.tables import BoolArray, PageIdArray
from freshet.core.types import IndexArray, Page
from freshet.engine.result_cache import Columns
from freshet.measure.statistics.page_summary import (
    HOURS_PER_DAY,
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
    """Pages with their figures; ``member_rows`` are in the groups ``member_groups``."""

    ids: PageIdArray
    figures: PageFigures
    member_rows: IndexArray
    member_groups: IndexArray

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, is_kept: BoolArray) -> "GroupedFigures":
        """Return some of the pages."""
        new_rows = np.cumsum(is_kept) - 1
        is_kept_member = is_kept[self.member_rows]
        return GroupedFigures(
            self.ids[is_kept],
            self.figures[is_kept],
            new_rows[self.member_rows[is_kept_member]].astype(np.int32),
            self.member_groups[is_kept_member],
        )


class FigureCollector:
    """Fits the rates of measured batches, and keeps the figures of a sample of pages."""

    def __init__(self, max_pages: int = MAX_PAGES) -> None:
        self.page_count = 0
        self.group_numbers: dict[str, int] = {}
        self._max_pages = max_pages
        self._limit = TIE_BREAK_RANGE
        self._batches: list[GroupedFigures] = []
        self._pending: list[tuple[Columns, Sequence[Page], Sequence[Labels]]] = []
        self._rates: list[NDArray[np.float32]] = []

    def add_batch(self, columns: Columns, pages: Sequence[Page], labels: Sequence[Labels]) -> None:
        """Add a measured batch; ``pages`` and ``labels`` are in the order of its rows."""
        self.page_count += len(pages)
        self._pending.append((columns, pages, labels))
        looks = sum(len(columns["look_row"]) for columns, _, _ in self._pending)
        if (
            sum(len(batch_pages) for _, batch_pages, _ in self._pending) >= PAGES_PER_RATE_FIT
            or looks >= LOOKS_PER_RATE_FIT
        ):
            self._fit_pending()

    def figures(self) -> GroupedFigures:
        """Return the figures of all sampled pages, in the order of their batches."""
        self._fit_pending()
        offsets = np.cumsum([0, *(len(batch) for batch in self._batches)])
        rows = [
            batch.member_rows + offset
            for batch, offset in zip(self._batches, offsets, strict=False)
        ]
        return GroupedFigures(
            np.concatenate([np.empty(0, np.int64), *(batch.ids for batch in self._batches)]),
            concatenate_figures([batch.figures for batch in self._batches]),
            np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32),
            np.concatenate([
                np.empty(0, np.int32),
                *(batch.member_groups for batch in self._batches),
            ]),
        )

    def rates(self) -> NDArray[np.float32]:
        """Return the rate of every page, in changes a day, in the order of the batches."""
        self._fit_pending()
        return np.concatenate([np.empty(0, np.float32), *self._rates])

    def _fit_pending(self) -> None:
        """Fit the rates of the pending pages, and add their figures."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        results = [columns for columns, _, _ in pending]
        rates = fit_rates(
            [page for _, pages, _ in pending for page in pages],
            np.concatenate([columns["page"][columns["look_row"]] for columns in results]),
            np.concatenate([columns["look_time"] for columns in results]),
            np.concatenate([columns["look_changed"] for columns in results]),
        )
        self._rates.append(rates.astype(np.float32))
        ends = np.cumsum([len(pages) for _, pages, _ in pending])[:-1]
        for (columns, _, labels), batch_rates in zip(pending, np.split(rates, ends), strict=True):
            is_rate_known = can_estimate_rate(columns["changes"], columns["compared"])
            hours = np.where(is_rate_known, HOURS_PER_DAY / batch_rates, np.nan)
            figures = figures_from_columns({**columns, "expected_hours": hours})
            self._add_sampled(GroupedFigures(columns["page"], figures, *self._members(labels)))

    def _members(self, labels: Sequence[Labels]) -> tuple[IndexArray, IndexArray]:
        pairs = [(row, name) for row, names in enumerate(labels) for name in names]
        group_numbers = [
            self.group_numbers.setdefault(name, len(self.group_numbers)) for _, name in pairs
        ]
        return np.array([row for row, _ in pairs], np.int32), np.array(group_numbers, np.int32)

    def _add_sampled(self, batch: GroupedFigures) -> None:
        """Add the sampled pages of a batch, and halve the sample when it is too large."""
        self._batches.append(self._sampled(batch))
        while sum(map(len, self._batches)) > self._max_pages:
            self._limit /= 2
            self._batches = [self._sampled(batch) for batch in self._batches]

    def _sampled(self, batch: GroupedFigures) -> GroupedFigures:
        if self._limit == TIE_BREAK_RANGE:
            return batch
        return batch.take(tie_breaker(0)(batch.ids) < self._limit)
