"""What the figures are held against: required bounds, and the accuracies that the paper reports."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from experiments.content_change.result_tables import ExperimentResult


@dataclass(frozen=True, slots=True)
class FigureBound:
    """A bound of one figure: ``measure`` is at least ``bound``, or at most if ``is_upper``.

    With ``against`` the figure is one of a comparison (difference or p), otherwise one of a method.
    A ``goal`` was aimed for. No run may fall below the ``floor``, or the bound if there is none.
    The floor is near the stored figure, because a run on other cores differs a little; where the
    bound is missed, it is below the bound.
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

    def is_met(self, value: float) -> bool:
        """Return whether a value meets the required bound."""
        return value <= self.bound if self.is_upper else value >= self.bound

    def is_above_floor(self, value: float) -> bool:
        """Return whether a value is not worse than the floor, or the bound if there is none."""
        floor = self.bound if self.floor is None else self.floor
        return value <= floor if self.is_upper else value >= floor


@dataclass(frozen=True, slots=True)
class PaperValue:
    """The accuracy of a method in a table of Radinsky & Bennett (2013)."""

    table: int
    method: str
    selection: str
    accuracy: float


def bounded_figures(
    bounds: Iterable[FigureBound], result: ExperimentResult
) -> Iterator[tuple[FigureBound, float]]:
    """Yield each bound whose figure is among the results, with the figure."""
    rows = {
        (row.data, row.label, row.filter, row.method, row.selection): row for row in result.rows
    }
    comparisons = {
        (
            row.data, row.label, row.filter, row.method, row.selection, row.against,
            row.against_selection,
        ): row
        for row in result.comparisons
    }  # fmt: skip
    for bound in bounds:
        row = (comparisons if bound.against else rows).get(bound.key)  # type: ignore[call-overload]
        if row is not None:
            yield bound, float(getattr(row, bound.measure))
