"""Tables of groups of pages, and tests whether the groups differ (Table 1).

Groups are tested on ranks, because intervals are far from normal: Kruskal-Wallis over all groups,
then Mann-Whitney for each pair with Holm's correction. Groups of fewer than five pages are shown
and not tested.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from freshet.core.distributions import student_t_quantile
from freshet.core.types import FloatArray, IndexArray
from freshet.measure.statistics.page_summary import PageFigures
from freshet.measure.statistics.rank_tests import holm_correction, kruskal_wallis, mann_whitney

MIN_TESTED_PAGES, MAX_PAIRED_GROUPS = 5, 12
MAX_DEPTH = 5
NO_GROUP = "none"
TESTED_FIGURES = ("interval_hours", "dice_mean", "knot_hours", "knot_dice")
SHAPES = ("flat", "sloped", "knotted")
WEB_SCHEMES = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """The mean and the median of a figure, and the number of pages that have it.

    ``low`` and ``high`` are the 95 % confidence interval of the mean (Student's t), not below 0;
    None where there are too few pages.
    """

    mean: float | None
    median: float | None
    pages: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """How the pages of a group change.

    ``compared`` pages have two looks or more; ``never_changed`` is the share of these that never
    changed. Hours and Dice are means over pages of each page's mean. Knots are those of the two
    lines of least squares, and ``paper_knot_hours`` and ``paper_knot_dice`` those of the paper's
    heuristic. ``shapes`` are the shares of
    flat, sloped and knotted curves among pages that have one. ``survival`` has an entry for each
    horizon of Table 4, and never rises (``mean_survival``); ``unbroken_survival`` is that of
    elements that were never absent.
    """

    name: str
    pages: int
    compared: int
    never_changed: float | None
    interval_hours: MeanEstimate
    expected_hours: MeanEstimate
    dice: MeanEstimate
    knot_hours: MeanEstimate
    knot_dice: MeanEstimate
    paper_knot_hours: MeanEstimate
    paper_knot_dice: MeanEstimate
    curves: int
    shapes: tuple[float, ...]
    survival: tuple[MeanEstimate, ...]
    unbroken_survival: tuple[MeanEstimate, ...]
    stay: MeanEstimate
    go: MeanEstimate


@dataclass(frozen=True, slots=True)
class GroupPairTest:
    """Two groups compared: ``p`` by Mann-Whitney, ``corrected`` by Holm over all pairs."""

    groups: tuple[str, str]
    pages: tuple[int, int]
    statistic: float
    p: float
    corrected: float


@dataclass(frozen=True, slots=True)
class GroupTest:
    """Whether groups differ in a figure: over all groups by Kruskal-Wallis, then pair by pair.

    ``untested`` groups have too few pages. ``unpaired`` groups are in the overall test only,
    because pairs are made of the largest groups. ``p`` is None where nothing could be tested, and
    ``why`` is the reason.
    """

    figure: str
    tested: tuple[str, ...]
    untested: tuple[str, ...]
    unpaired: tuple[str, ...] = ()
    statistic: float | None = None
    p: float | None = None
    pairs: tuple[GroupPairTest, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Histogram:
    """The number of pages between each two edges; ``lacking`` pages have no figure."""

    edges: FloatArray
    counts: NDArray[np.int64]
    lacking: int


def summarise_group(name: str, figures: PageFigures) -> GroupSummary:
    """Return how the pages of one group change."""
    compared = figures.compared > 0
    shapes = figures.shape[figures.shape != ""]
    return GroupSummary(
        name=name,
        pages=len(figures),
        compared=int(compared.sum()),
        never_changed=_share(figures.changes[compared] == 0),
        interval_hours=_mean(figures.interval_hours),
        expected_hours=_mean(figures.expected_hours),
        dice=_mean(figures.dice_mean),
        knot_hours=_mean(figures.knot_hours),
        knot_dice=_mean(figures.knot_dice),
        paper_knot_hours=_mean(figures.paper_knot_hours),
        paper_knot_dice=_mean(figures.paper_knot_dice),
        curves=len(shapes),
        shapes=tuple(float(np.mean(shapes == shape)) for shape in SHAPES) if len(shapes) else (),
        survival=mean_survival(figures.survival),
        unbroken_survival=mean_survival(figures.unbroken_survival),
        stay=_mean(figures.stay),
        go=_mean(figures.go),
    )


def mean_survival(shares: FloatArray) -> tuple[MeanEstimate, ...]:
    """Return the mean share of elements still present at each horizon (column), over pages (rows).

    Pages have different horizons: pages seen daily have none within hours, and short histories none
    after weeks. Plain means over each horizon's own pages might rise. So each step from one horizon
    to the next is averaged over the pages that have it (Kaplan and Meier 1958). Where all pages
    have all horizons, this is the plain mean.

    >>> [estimate.mean for estimate in mean_survival(np.array([[0.5, 0.5], [np.nan, 1.0]]))]
    [0.5, 0.5]
    """
    last_shares, surviving, estimates = np.ones(len(shares)), 1.0, []
    for column in shares.T:
        is_known = np.isfinite(column)
        present = float(last_shares[is_known].sum())
        surviving *= float(column[is_known].sum()) / present if present else 1.0
        median = float(np.median(column[is_known])) if is_known.any() else None
        estimates.append(
            MeanEstimate(surviving if is_known.any() else None, median, int(is_known.sum()))
        )
        last_shares = np.where(is_known, column, last_shares)
    return tuple(estimates)


def group_table(
    names: Sequence[str], member: IndexArray, figures: PageFigures
) -> list[GroupSummary]:
    """Return a row for every group; ``member`` is the group of each row of figures.

    Groups without pages are left out.
    """
    rows_by_group = _rows_by_group(len(names), member)
    return [
        summarise_group(name, figures[rows_of_group])
        for name, rows_of_group in zip(names, rows_by_group, strict=True)
        if len(rows_of_group)
    ]


def group_tests(
    names: Sequence[str], member: IndexArray, figures: PageFigures
) -> tuple[GroupTest, ...]:
    """Return for each tested figure whether the groups differ."""
    rows_by_group = _rows_by_group(len(names), member)
    tests = []
    for figure in TESTED_FIGURES:
        values = getattr(figures, figure)
        values_by_group = {
            name: _finite(values[rows_of_group])
            for name, rows_of_group in zip(names, rows_by_group, strict=True)
            if len(rows_of_group)
        }
        tests.append(compare_groups(figure, values_by_group))
    return tuple(tests)


def compare_groups(figure: str, values: dict[str, FloatArray]) -> GroupTest:
    """Test whether a figure differs between groups, given each group's values.

    >>> low, high = np.arange(10.0), np.arange(20.0, 30.0)
    >>> test = compare_groups("dice", {"a": low, "b": high, "c": low[:3]})
    >>> test.untested, test.p < 0.001, test.pairs[0].groups
    (('c',), True, ('a', 'b'))
    """
    large_groups = {
        name: group_values
        for name, group_values in values.items()
        if len(group_values) >= MIN_TESTED_PAGES
    }
    tested, untested = (
        tuple(large_groups),
        tuple(name for name in values if name not in large_groups),
    )
    if len(large_groups) < 2:
        why = f"fewer than two groups have {MIN_TESTED_PAGES} pages with a figure"
        return GroupTest(figure, tested, untested, why=why)
    if len(np.unique(np.concatenate(list(large_groups.values())))) == 1:
        return GroupTest(figure, tested, untested, why="all pages have the same figure")
    overall = kruskal_wallis(list(large_groups.values()))
    largest = sorted(large_groups, key=lambda name: -len(large_groups[name]))[:MAX_PAIRED_GROUPS]
    paired_groups = {name: large_groups[name] for name in large_groups if name in largest}
    unpaired = tuple(name for name in large_groups if name not in paired_groups)
    return GroupTest(
        figure, tested, untested, unpaired, overall.statistic, overall.p,
        tuple(_pair_tests(paired_groups)),
    )  # fmt: skip


def _pair_tests(values: dict[str, FloatArray]) -> Iterator[GroupPairTest]:
    pairs = list(combinations(values, 2))
    tests = [mann_whitney(values[a], values[b]) for a, b in pairs]
    p = np.array([test.p for test in tests], np.float64)
    for (a, b), test, corrected in zip(pairs, tests, holm_correction(p).tolist(), strict=True):
        sizes = len(values[a]), len(values[b])
        yield GroupPairTest((a, b), sizes, test.statistic, test.p, corrected)


def make_histogram(values: FloatArray, edges: FloatArray) -> Histogram:
    """Count values between edges; values outside count in the first and the last bin."""
    finite = _finite(values)
    counts, _ = np.histogram(finite.clip(edges[0], edges[-1]), edges)
    return Histogram(edges, counts.astype(np.int64), len(values) - len(finite))


def top_level_domain(url: str) -> str:
    """Return the top-level domain of a page's URL; "none" where its host is no name.

    >>> urls = ("https://www.example.co.uk:81/a", "http://10.0.0.1/", "ota:Google/Terms")
    >>> [top_level_domain(url) for url in urls]
    ['uk', 'none', 'none']
    """
    if not url.startswith(WEB_SCHEMES):
        return NO_GROUP
    host = url.split("/", 3)[2].rpartition("@")[2].partition("?")[0]
    name, dot, last = host.partition(":")[0].rstrip(".").rpartition(".")
    return last if dot and name and not last.isdecimal() else NO_GROUP


def path_depth(url: str) -> str:
    """Return the number of steps in a page's path, from 0 to "5+"; "none" without a path.

    >>> urls = ("https://example.org/", "https://example.org/a/b?c/d", "ota:A/B")
    >>> [path_depth(url) for url in urls]
    ['0', '2', 'none']
    """
    if not url.startswith(WEB_SCHEMES):
        return NO_GROUP
    path = url.partition("?")[0].split("/", 3)[3:]
    steps = sum(bool(step) for step in "".join(path).split("/"))
    return str(steps) if steps < MAX_DEPTH else f"{MAX_DEPTH}+"


def _rows_by_group(groups: int, member: IndexArray) -> list[NDArray[np.intp]]:
    """Return the rows of every group."""
    order = np.argsort(member, kind="stable")
    return np.split(order, np.searchsorted(member[order], np.arange(1, groups)))[:groups]


def _finite(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]


def _mean(values: FloatArray) -> MeanEstimate:
    finite = _finite(values)
    if not len(finite):
        return MeanEstimate(None, None, 0)
    mean, half_width = float(finite.mean()), _half_width(finite)
    bounds = (
        (None, None) if half_width is None else (max(0.0, mean - half_width), mean + half_width)
    )
    return MeanEstimate(mean, float(np.median(finite)), len(finite), *bounds)


def _half_width(values: FloatArray) -> float | None:
    """Return the half width of the 95 % confidence interval of a mean; None for few values."""
    if len(values) < MIN_TESTED_PAGES:
        return None
    return float(
        student_t_quantile(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values))
    )


def _share(flags: NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if len(flags) else None
