"""One page in figures: how often it changes, by how much, and how (Adar et al. 2009, section 4).

What cannot be said is None, and ``why`` says for each such figure what is lacking; in columns it is
not a number.
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
TRAIT_COLUMNS = ("knot_hours", "knot_dice", "stay", "go")
OTHER_COLUMNS = ("shape", "survival", "why")
NO_SURVIVAL = (None,) * 6

Marks = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class LookTable:
    """What each look at a page found, in time order: 1 yes, 0 no, -1 where it is not known.

    ``dice`` is not a number where it is not known.
    """

    times: FloatArray
    changed: Marks
    bytes: Marks
    text: Marks
    significant: Marks
    structure: Marks
    links: Marks
    dice: FloatArray

    def __len__(self) -> int:
        return len(self.times)

    @property
    def compared(self) -> int:
        """Return how many looks were compared with the one before."""
        return int(np.count_nonzero(self.changed != UNKNOWN_MARK))

    @property
    def starts_version(self) -> BoolArray:
        """Whether each look begins a version: the first one does, and those that found a change."""
        found = np.asarray(self.changed == 1, np.bool_)
        found[:1] = True
        return found

    @property
    def version_times(self) -> FloatArray:
        """Return when each version was first seen."""
        return np.asarray(self.times[self.starts_version])


def look_table(found: Iterable[tuple[float, Change | None]]) -> LookTable:
    """Put what looks found into columns, in time order whatever order they come in.

    >>> looks = look_table([(20.0, Change(True, dice=0.5)), (10.0, None)])
    >>> looks.times.tolist(), looks.changed.tolist(), looks.text.tolist(), looks.dice.tolist()
    ([10.0, 20.0], [-1, 1], [-1, -1], [nan, 0.5])
    """
    ordered = sorted(found, key=lambda item: item[0])
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
    """What the measures of a page's versions said; None, and ``why``, where they could not.

    ``survival`` holds the share of elements still there at the six times of Table 4, ``stay`` and
    ``go`` the shares of words of high and of low staying power.
    """

    shape: str | None = None
    knot_hours: float | None = None
    knot_dice: float | None = None
    survival: tuple[float | None, ...] = ()
    stay: float | None = None
    go: float | None = None
    why: tuple[tuple[str, str], ...] = ()


NO_TRAITS = PageTraits()


@dataclass(frozen=True, slots=True)
class PageChangeSummary:
    """How a page changes, in figures.

    Changes are counted as spec 0 defines them and, unmasked, by what differed; None where no look
    tells. ``interval_hours`` is the plain mean of the time from one version to the next, as in the
    paper, so that one change has an interval too; ``expected_hours`` is one over the posterior
    rate, which holds for uneven visits too. Of a page that changed at nearly every look, or of
    whose looks only those with a change were kept, the rate is only known to be high, and nothing
    is said.
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
    tells = rate is not None and can_estimate_rate(changes, looks.compared)
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
        expected_hours=HOURS_PER_DAY / rate if rate and tells else None,
        dice_mean=float(dice.mean()) if len(dice) else None,
        dice_median=float(np.median(dice)) if len(dice) else None,
        traits=replace(traits, why=()),
        why=(*_lacking(looks, changes, len(dice), rate), *traits.why),
    )


def with_rate(summary: PageChangeSummary, rate: float) -> PageChangeSummary:
    """Return a summary that was made before its page's rate was learnt with what that tells."""
    if not can_estimate_rate(summary.changes, summary.compared):
        return summary
    why = tuple(reason for reason in summary.why if reason[0] != "expected_hours")
    return replace(summary, expected_hours=HOURS_PER_DAY / rate, why=why)


def can_estimate_rate(changes: Any, compared: Any) -> Any:
    """Whether pages stood still at enough of their looks that their rates can be told from them.

    >>> can_estimate_rate(4, 10), can_estimate_rate(10, 10), can_estimate_rate(619, 635)
    (True, False, False)
    """
    return (compared > 0) & (changes <= MAX_CHANGED_SHARE * compared)


def mean_interval_hours(times: FloatArray) -> float | None:
    """Return the mean hours between versions; None where there are not two at different times.

    >>> mean_interval_hours(np.array([0.0, 3600.0, 4 * 3600.0])), mean_interval_hours(np.array([0.0]))
    (2.0, None)
    """
    if len(times) < 2 or times[0] == times[-1]:
        return None
    return float(times[-1] - times[0]) / (len(times) - 1) / HOUR_SECONDS


def _count(marks: Marks) -> int | None:
    known = marks[marks != UNKNOWN_MARK]
    return int(known.sum()) if len(known) else None


def _lacking(
    looks: LookTable, changes: int, dice: int, rate: float | None
) -> list[tuple[str, str]]:
    """Say what cannot be said, and why."""
    found = []
    if mean_interval_hours(looks.version_times) is None:
        found.append(("interval_hours", _few_changes(looks.compared, changes)))
    if not rate or not can_estimate_rate(changes, looks.compared):
        found.append(("expected_hours", _no_rate(looks.compared, changes)))
    if not dice and changes:
        found.append(("dice_mean", "no version of a change was compared"))
    elif not dice:
        found.append(("dice_mean", _few_changes(looks.compared, changes)))
    return found


def _no_rate(compared: int, changes: int) -> str:
    if not compared:
        return "no two looks were compared"
    if can_estimate_rate(changes, compared):
        return "no rate was learnt"
    return "changed at every look" if changes == compared else "changed at nearly every look"


def _few_changes(compared: int, changes: int) -> str:
    if not compared:
        return "no two looks were compared"
    if not changes:
        return f"no change in {compared} comparison{'s' * (compared > 1)}"
    return "all versions have the same time"


def summaries_to_columns(summaries: Sequence[PageChangeSummary]) -> dict[str, NDArray[Any]]:
    """Put summaries into plain columns: numbers, the shapes, the shares of survival, reasons."""
    traits = [summary.traits for summary in summaries]
    survival = [(*each.survival, *NO_SURVIVAL)[: len(NO_SURVIVAL)] for each in traits]
    return {
        **{name: _numbers([getattr(each, name) for each in summaries]) for name in NUMBER_COLUMNS},
        **{name: _numbers([getattr(each, name) for each in traits]) for name in TRAIT_COLUMNS},
        "shape": np.array([each.shape or "" for each in traits], np.str_),
        "survival": np.array(survival, np.float64).reshape(-1, len(NO_SURVIVAL)),
        "why": np.array(["\n".join(map(": ".join, each.why)) for each in summaries], np.str_),
    }


def summaries_from_columns(columns: Mapping[str, NDArray[Any]]) -> list[PageChangeSummary]:
    """Read summaries back from their columns."""
    plain = {
        name: columns[name].tolist() for name in (*NUMBER_COLUMNS, *TRAIT_COLUMNS, *OTHER_COLUMNS)
    }
    rows = (dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True))
    return [_summary(row) for row in rows]


def _summary(row: Mapping[str, Any]) -> PageChangeSummary:
    why = tuple((name, text) for name, _, text in (_parted(row["why"])))
    traits = PageTraits(
        shape=row["shape"] or None,
        survival=tuple(map(_said, row["survival"])),
        **{name: _said(row[name]) for name in TRAIT_COLUMNS},
    )
    counts = {name: _counted(row[name]) for name in COUNT_COLUMNS}
    said = {name: _said(row[name]) for name in NUMBER_COLUMNS if name not in COUNT_COLUMNS}
    return PageChangeSummary(**counts, **said, traits=traits, why=why)


def _parted(why: str) -> Iterator[tuple[str, str, str]]:
    return (line.partition(": ") for line in why.splitlines())


def _said(value: float) -> Any:
    return None if value != value else float(value)


def _counted(value: float) -> Any:
    return None if value != value else int(value)


@dataclass(frozen=True, slots=True)
class PageFigures:
    """The figures of many pages as columns, not a number where nothing can be said.

    ``survival`` has a column for each time of Table 4; ``shape`` is empty where there is none.
    """

    compared: FloatArray
    changes: FloatArray
    interval_hours: FloatArray
    expected_hours: FloatArray
    dice_mean: FloatArray
    knot_hours: FloatArray
    knot_dice: FloatArray
    shape: NDArray[np.str_]
    survival: FloatArray
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


def concatenate_figures(parts: Sequence[PageFigures]) -> PageFigures:
    """Return the figures of several batches one after another."""
    whole = parts or [figures_from_columns(summaries_to_columns([]))]
    return PageFigures(
        *(np.concatenate([getattr(p, name) for p in whole]) for name in FIGURE_COLUMNS)
    )


def _numbers(values: Sequence[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], np.float64)
