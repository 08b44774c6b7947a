"""Figures of one page: how often it changes, by how much, and how (Adar et al. 2009, section 4).

An unknown figure is None, and ``why`` has the reason for it; in columns it is NaN.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshet.core.tables import BoolArray
from freshet.core.types import Change, FloatArray

HOUR_SECONDS, HOURS_PER_DAY = 3600.0, 24.0
UNKNOWN_MARK = -1
MAX_CHANGED_SHARE = 0.9
ASPECT_COLUMNS = ("changed", "bytes", "text", "significant", "structure", "links")

COUNT_COLUMNS = (
    "looks", "compared", "changes", "by_bytes", "by_text", "significant", "by_structure",
    "by_links",
)  # fmt: skip
NUMBER_COLUMNS = (
    *COUNT_COLUMNS, "first", "last", "interval_hours", "expected_hours", "dice_mean", "dice_median",
)  # fmt: skip
TRAIT_COLUMNS = (
    "knot_hours", "knot_dice", "paper_knot_hours", "paper_knot_dice", "stay", "go",
)  # fmt: skip
SURVIVAL_COLUMNS = ("survival", "unbroken_survival")
OTHER_COLUMNS = ("shape", *SURVIVAL_COLUMNS, "why")
NO_SURVIVAL = (None,) * 6

MarkArray = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class LookTable:
    """The result of each look at a page, in time order: 1 yes, 0 no, -1 unknown.

    ``dice`` is NaN where it is unknown.
    """

    times: FloatArray
    changed: MarkArray
    bytes: MarkArray
    text: MarkArray
    significant: MarkArray
    structure: MarkArray
    links: MarkArray
    dice: FloatArray

    def __len__(self) -> int:
        return len(self.times)

    @property
    def compared(self) -> int:
        """Return how many looks were compared with the look before."""
        return int(np.count_nonzero(self.changed != UNKNOWN_MARK))

    @property
    def starts_version(self) -> BoolArray:
        """Whether each look starts a version: the first look, and looks with a change."""
        is_start = np.asarray(self.changed == 1, np.bool_)
        is_start[:1] = True
        return is_start

    @property
    def version_times(self) -> FloatArray:
        """Return the time at which each version was first seen."""
        return np.asarray(self.times[self.starts_version])


def look_table(looks: Iterable[tuple[float, Change | None]]) -> LookTable:
    """Return the results of looks as columns, in time order.

    >>> looks = look_table([(20.0, Change(True, dice=0.5)), (10.0, None)])
    >>> looks.times.tolist(), looks.changed.tolist(), looks.text.tolist(), looks.dice.tolist()
    ([10.0, 20.0], [-1, 1], [-1, -1], [nan, 0.5])
    """
    ordered = sorted(looks, key=lambda item: item[0])
    changes = [change for _, change in ordered]
    marks = {
        name: np.array([_mark(change, name) for change in changes], np.int8)
        for name in ASPECT_COLUMNS
    }
    dice = [np.nan if change is None or change.dice is None else change.dice for change in changes]
    times = np.array([time for time, _ in ordered], np.float64)
    return LookTable(times=times, dice=np.array(dice, np.float64), **marks)


def _mark(change: Change | None, name: str) -> int:
    fact = None if change is None else getattr(change, name)
    return UNKNOWN_MARK if fact is None else int(fact)


@dataclass(frozen=True, slots=True)
class PageTraits:
    """Results of the measures of a page's versions; None where unknown, with ``why``.

    The knot is that of the two lines of least squares; ``paper_knot_hours`` and ``paper_knot_dice``
    are those of the paper's heuristic.
    ``survival`` has the share of elements alive at the six horizons of Table 4, and
    ``unbroken_survival`` the share of those that were never absent. ``stay`` and ``go`` are the
    shares of words of high and of low staying power.
    """

    shape: str | None = None
    knot_hours: float | None = None
    knot_dice: float | None = None
    paper_knot_hours: float | None = None
    paper_knot_dice: float | None = None
    survival: tuple[float | None, ...] = ()
    unbroken_survival: tuple[float | None, ...] = ()
    stay: float | None = None
    go: float | None = None
    why: tuple[tuple[str, str], ...] = ()


NO_TRAITS = PageTraits()


@dataclass(frozen=True, slots=True)
class PageChangeSummary:
    """How a page changes, in figures.

    Changes are counted as spec 0 defines them and, unmasked, by the aspect that differed; None
    where no look has that aspect. ``interval_hours`` is the plain mean of the time from one version
    to the next, as in the paper, so that one change has an interval too. ``expected_hours`` is one
    over the posterior rate, which is also valid for uneven visits. It is unknown for a page that
    changed at nearly every look, or of which only looks with a change were stored, because then the
    rate is only known to be high.
    """

    looks: int
    compared: int
    changes: int
    by_bytes: int | None
    by_text: int | None
    significant: int | None
    by_structure: int | None
    by_links: int | None
    first: float | None
    last: float | None
    interval_hours: float | None
    expected_hours: float | None
    dice_mean: float | None
    dice_median: float | None
    traits: PageTraits = NO_TRAITS
    why: tuple[tuple[str, str], ...] = ()


def summarise_page(
    looks: LookTable, *, rate: float | None = None, traits: PageTraits = NO_TRAITS
) -> PageChangeSummary:
    """Return a page's figures; ``rate`` is the mean of its posterior, in changes a day."""
    changes = int(np.count_nonzero(looks.changed == 1))
    dice = looks.dice[(looks.changed == 1) & np.isfinite(looks.dice)]
    is_rate_known = rate is not None and can_estimate_rate(changes, looks.compared)
    return PageChangeSummary(
        looks=len(looks),
        compared=looks.compared,
        changes=changes,
        by_bytes=_count(looks.bytes),
        by_text=_count(looks.text),
        significant=_count(looks.significant),
        by_structure=_count(looks.structure),
        by_links=_count(looks.links),
        first=float(looks.times[0]) if len(looks) else None,
        last=float(looks.times[-1]) if len(looks) else None,
        interval_hours=mean_interval_hours(looks.version_times),
        expected_hours=HOURS_PER_DAY / rate if rate and is_rate_known else None,
        dice_mean=float(dice.mean()) if len(dice) else None,
        dice_median=float(np.median(dice)) if len(dice) else None,
        traits=replace(traits, why=()),
        why=(*_missing_reasons(looks, changes, len(dice), rate), *traits.why),
    )


def with_rate(summary: PageChangeSummary, rate: float) -> PageChangeSummary:
    """Return a summary with the figures that depend on the page's rate."""
    if not can_estimate_rate(summary.changes, summary.compared):
        return summary
    why = tuple(reason for reason in summary.why if reason[0] != "expected_hours")
    return replace(summary, expected_hours=HOURS_PER_DAY / rate, why=why)


def can_estimate_rate(changes: Any, compared: Any) -> Any:
    """Return whether enough looks found no change for an estimate of the rate.

    >>> can_estimate_rate(4, 10), can_estimate_rate(10, 10), can_estimate_rate(619, 635)
    (True, False, False)
    """
    return (compared > 0) & (changes <= MAX_CHANGED_SHARE * compared)


def mean_interval_hours(times: FloatArray) -> float | None:
    """Return the mean hours between versions; None without two different times.

    >>> mean_interval_hours(np.array([0.0, 3600.0, 4 * 3600.0]))
    2.0
    """
    if len(times) < 2 or times[0] == times[-1]:
        return None
    return float(times[-1] - times[0]) / (len(times) - 1) / HOUR_SECONDS


def _count(marks: MarkArray) -> int | None:
    known_marks = marks[marks != UNKNOWN_MARK]
    return int(known_marks.sum()) if len(known_marks) else None


def _missing_reasons(
    looks: LookTable, changes: int, dice_count: int, rate: float | None
) -> list[tuple[str, str]]:
    """Return the reason for each unknown figure."""
    reasons = []
    if mean_interval_hours(looks.version_times) is None:
        reasons.append(("interval_hours", _no_interval_reason(looks.compared, changes)))
    if not rate or not can_estimate_rate(changes, looks.compared):
        reasons.append(("expected_hours", _no_rate_reason(looks.compared, changes)))
    if not dice_count and changes:
        reasons.append(("dice_mean", "no change has two versions to compare"))
    elif not dice_count:
        reasons.append(("dice_mean", _no_interval_reason(looks.compared, changes)))
    return reasons


def _no_rate_reason(compared: int, changes: int) -> str:
    if not compared:
        return "no two looks were compared"
    if can_estimate_rate(changes, compared):
        return "no rate could be estimated"
    return "changed at every look" if changes == compared else "changed at nearly every look"


def _no_interval_reason(compared: int, changes: int) -> str:
    if not compared:
        return "no two looks were compared"
    if not changes:
        return f"no change in {compared} comparison{'s' * (compared > 1)}"
    return "all versions have the same time"


def summaries_to_columns(summaries: Sequence[PageChangeSummary]) -> dict[str, NDArray[Any]]:
    """Return summaries as columns: numbers, shapes, shares of survival, reasons."""
    traits = [summary.traits for summary in summaries]
    return {
        **{name: _numbers([getattr(item, name) for item in summaries]) for name in NUMBER_COLUMNS},
        **{name: _numbers([getattr(item, name) for item in traits]) for name in TRAIT_COLUMNS},
        "shape": np.array([item.shape or "" for item in traits], np.str_),
        **{
            name: _survival_rows([getattr(item, name) for item in traits])
            for name in SURVIVAL_COLUMNS
        },
        "why": np.array(["\n".join(map(": ".join, item.why)) for item in summaries], np.str_),
    }


def summaries_from_columns(columns: Mapping[str, NDArray[Any]]) -> list[PageChangeSummary]:
    """Read summaries back from their columns."""
    values = {
        name: columns[name].tolist() for name in (*NUMBER_COLUMNS, *TRAIT_COLUMNS, *OTHER_COLUMNS)
    }
    rows = (dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True))
    return [_summary(row) for row in rows]


def _summary(row: Mapping[str, Any]) -> PageChangeSummary:
    why = tuple((name, text) for name, _, text in (_split_reasons(row["why"])))
    traits = PageTraits(
        shape=row["shape"] or None,
        survival=tuple(map(_optional_float, row["survival"])),
        unbroken_survival=tuple(map(_optional_float, row["unbroken_survival"])),
        **{name: _optional_float(row[name]) for name in TRAIT_COLUMNS},
    )
    counts = {name: _optional_int(row[name]) for name in COUNT_COLUMNS}
    numbers = {
        name: _optional_float(row[name]) for name in NUMBER_COLUMNS if name not in COUNT_COLUMNS
    }
    return PageChangeSummary(**counts, **numbers, traits=traits, why=why)


def _split_reasons(why: str) -> Iterator[tuple[str, str, str]]:
    return (line.partition(": ") for line in why.splitlines())


def _optional_float(value: float) -> Any:
    return None if value != value else float(value)


def _optional_int(value: float) -> Any:
    return None if value != value else int(value)


@dataclass(frozen=True, slots=True)
class PageFigures:
    """The figures of many pages as columns; NaN where unknown.

    ``survival`` and ``unbroken_survival`` have a column for each horizon of Table 4; ``shape`` is
    empty where it is unknown.
    """

    compared: FloatArray
    changes: FloatArray
    interval_hours: FloatArray
    expected_hours: FloatArray
    dice_mean: FloatArray
    knot_hours: FloatArray
    knot_dice: FloatArray
    paper_knot_hours: FloatArray
    paper_knot_dice: FloatArray
    shape: NDArray[np.str_]
    survival: FloatArray
    unbroken_survival: FloatArray
    stay: FloatArray
    go: FloatArray

    def __len__(self) -> int:
        return len(self.compared)

    def __getitem__(self, rows: NDArray[Any]) -> "PageFigures":
        return PageFigures(*(getattr(self, name)[rows] for name in FIGURE_COLUMNS))


FIGURE_COLUMNS = tuple(PageFigures.__dataclass_fields__)


def figures_from_columns(columns: Mapping[str, NDArray[Any]]) -> PageFigures:
    """Return the figures among the columns of summaries."""
    return PageFigures(*(columns[name] for name in FIGURE_COLUMNS))


def concatenate_figures(batches: Sequence[PageFigures]) -> PageFigures:
    """Return the figures of several batches as one table."""
    batches = batches or [figures_from_columns(summaries_to_columns([]))]
    return PageFigures(
        *(np.concatenate([getattr(batch, name) for batch in batches]) for name in FIGURE_COLUMNS)
    )


def _numbers(values: Sequence[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _survival_rows(rows: Sequence[tuple[float | None, ...]]) -> FloatArray:
    shares = [(*row, *NO_SURVIVAL)[: len(NO_SURVIVAL)] for row in rows]
    return np.array(shares, np.float64).reshape(-1, len(NO_SURVIVAL))
