"""What the figures are held against: required bounds, and the accuracies that the paper reports.

The bounds are code, so that storing new figures cannot alter them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from experiments.content_change.evaluation import ComparisonRow, ForecastRow
from experiments.content_change.learned_correction import LEARNED_CORRECTION
from experiments.content_change.planted_leader import PLANTED
from experiments.content_change.pooled import POOLED
from experiments.content_change.result_tables import ExperimentResult
from freshet.predict.sliding_window import ForecastMethod

PAGES, WORLD, ANY_TEXT, TEN_WORDS = "pages", "world", "any_text", "words10"
MAJORITY, HEDGE, ALONE = ForecastMethod.MAJORITY, ForecastMethod.HEDGE, ForecastMethod.SINGLE_EXPERT
P_VALUE, GREATEST_P = "p", 0.05
RELATIONS = ("content", "xcorr", "dtw", "graph", "co_change", "same_host")


@dataclass(frozen=True, slots=True)
class FigureBound:
    """A bound of one figure: ``measure`` is at least ``bound``, or at most if ``is_upper``.

    With ``against`` the figure is one of a comparison (difference or p), otherwise one of a method.
    A p-value meets its bound only if the method is the better one of the two. A ``goal`` was aimed
    for. No run may fall below the ``floor``, or the bound if there is none. The floor is near the
    stored figure, because a run on other cores differs a little; where that figure hardly meets the
    bound, the floor is below the bound.
    """

    data: str
    label: str
    filter: float
    method: str
    selection: str
    measure: str
    bound: float
    is_upper: bool = False
    against: str = ""
    against_selection: str = ""
    floor: float | None = None
    goal: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Return what the row of the figure is found by."""
        method = self.data, self.label, self.filter, self.method, self.selection
        return (*method, self.against, self.against_selection) if self.against else method

    def value(self, row: ForecastRow | ComparisonRow) -> float:
        """Return the figure in its row."""
        return float(getattr(row, self.measure))

    def is_met(self, row: ForecastRow | ComparisonRow) -> bool:
        """Return whether the figure of a row meets the required bound."""
        return self._holds(row, self.bound)

    def is_above_floor(self, row: ForecastRow | ComparisonRow) -> bool:
        """Return whether a figure is not worse than the floor, or the bound if there is none."""
        return self._holds(row, self.bound if self.floor is None else self.floor)

    def _holds(self, row: ForecastRow | ComparisonRow, bound: float) -> bool:
        if self.measure == P_VALUE and isinstance(row, ComparisonRow) and row.difference <= 0:
            return False
        value = self.value(row)
        return value <= bound if self.is_upper else value >= bound


# Floors of AUC, log-loss and the difference of accuracy from the majority.
FORECASTER_FLOORS: tuple[tuple[str, float, str, tuple[float | None, ...]], ...] = (
    (ANY_TEXT, 0.3, LEARNED_CORRECTION, (0.783, 0.541, 0.016)),
    (ANY_TEXT, 0.3, POOLED, (0.792, 0.528, 0.029)),
    (ANY_TEXT, 0.05, LEARNED_CORRECTION, (0.859, 0.316, 0.005)),
    (ANY_TEXT, 0.05, POOLED, (0.863, 0.311, 0.009)),
    (TEN_WORDS, 0.3, LEARNED_CORRECTION, (0.702, 0.560, 0.012)),
    (TEN_WORDS, 0.3, POOLED, (None, 0.557, 0.022)),
    (TEN_WORDS, 0.05, LEARNED_CORRECTION, (0.851, 0.279, None)),
    (TEN_WORDS, 0.05, POOLED, (0.857, 0.273, 0.005)),
)
LEAST_AUC, GREATEST_LOG_LOSS = {0.3: 0.71, 0.05: 0.79}, {0.3: 0.61, 0.05: 0.355}


def _forecaster_bounds() -> Iterator[FigureBound]:
    for label, least_share, method, (auc, log_loss, difference) in FORECASTER_FLOORS:
        key = PAGES, label, least_share, method, ""
        yield FigureBound(*key, "auc", LEAST_AUC[least_share], floor=auc)
        yield FigureBound(
            *key, "logloss", GREATEST_LOG_LOSS[least_share], is_upper=True, floor=log_loss
        )
        yield FigureBound(*key, "difference", 0.0, against=MAJORITY, floor=difference)


def _world_bounds(
    method: str, selection: str, against: str, floor: float
) -> tuple[FigureBound, FigureBound]:
    """Return the bounds of a method that must be better than another one, beyond chance."""
    key = WORLD, ANY_TEXT, 0.3, method, selection
    return (
        FigureBound(*key, "difference", 0.0, against=against, floor=floor),
        FigureBound(*key, P_VALUE, GREATEST_P, is_upper=True, against=against),
    )


def _goals() -> Iterator[FigureBound]:
    for method in (LEARNED_CORRECTION, POOLED):
        yield FigureBound(PAGES, ANY_TEXT, 0.05, method, "", "auc", 0.85, goal=True)
    for relation in RELATIONS:
        yield FigureBound(
            PAGES, ANY_TEXT, 0.05, HEDGE, relation, P_VALUE, GREATEST_P, is_upper=True,
            against=HEDGE, against_selection="random", goal=True,
        )  # fmt: skip


BOUNDS = (
    *_forecaster_bounds(),
    FigureBound(
        PAGES, ANY_TEXT, 0.3, ALONE, "", "difference", 0.015, against=MAJORITY, floor=0.019
    ),
    FigureBound(
        PAGES, TEN_WORDS, 0.3, ALONE, "", "difference", 0.015, against=MAJORITY, floor=0.022
    ),
    FigureBound(PLANTED, ANY_TEXT, 0.0, HEDGE, PLANTED, "accuracy", 0.8, floor=0.871),
    *_world_bounds(ALONE, "", MAJORITY, 0.033),
    *_world_bounds(HEDGE, "xcorr", ALONE, 0.257),
    *_goals(),
)


@dataclass(frozen=True, slots=True)
class PaperValue:
    """The accuracy of a method in a table of Radinsky & Bennett (2013)."""

    table: int
    method: str
    selection: str
    accuracy: float


def bounded_figures(
    bounds: Iterable[FigureBound], result: ExperimentResult
) -> Iterator[tuple[FigureBound, ForecastRow | ComparisonRow]]:
    """Yield each bound whose figure is among the results, with the row of the figure."""
    rows: dict[tuple[object, ...], ForecastRow | ComparisonRow] = {
        (row.data, row.label, row.filter, row.method, row.selection): row for row in result.rows
    }
    comparisons: dict[tuple[object, ...], ForecastRow | ComparisonRow] = {
        (
            row.data, row.label, row.filter, row.method, row.selection, row.against,
            row.against_selection,
        ): row
        for row in result.comparisons
    }  # fmt: skip
    for bound in bounds:
        row = (comparisons if bound.against else rows).get(bound.key)
        if row is not None:
            yield bound, row
