"""Pages by group: tables of how each changes, and whether the groups differ (Table 1).

Groups are tested on ranks, since intervals are far from normal: Kruskal-Wallis over all of them,
then Mann-Whitney for each pair with Holm's correction. Groups of fewer than five pages are shown
and not tested.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from freshet.core.types import FloatArray, IndexArray
from freshet.measure.statistics.page_summary import PageFigures
from freshet.measure.statistics.rank_tests import holm_correction, kruskal_wallis, mann_whitney

MIN_TESTED_PAGES, MAX_PAIRED_GROUPS = 5, 12
MAX_DEPTH = 5
NO_GROUP = "none"
TESTED_FIGURES = ("interval_hours", "dice_mean")
SHAPES = ("flat", "sloped", "knotted")
WEB_SCHEMES = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean over the pages of which something can be said, their median, and their number.

    ``low`` and ``high`` hold the mean with 95 % (Student's t), and no less than nought, as all that
    is measured is; None where there are too few pages.
    """

    mean: float | None
    median: float | None
    pages: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """How the pages of a group change.

    ``compared`` pages were looked at twice or more; ``never_changed`` is the share of those that
    never did. Hours and Dice are means over pages of the pages' own means; ``shapes`` are the
    shares of flat, sloped and knotted curves among pages that have one; ``survival`` has an entry
    for each time of Table 4, and never rises (``mean_survival``).
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
    curves: int
    shapes: tuple[float, ...]
    survival: tuple[MeanEstimate, ...]
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
    """Whether groups differ in a figure: over all by Kruskal-Wallis, then pair by pair.

    ``untested`` groups have too few pages; ``unpaired`` ones are tested over all only, as pairs
    are made of the largest groups. ``p`` is None where nothing could be tested, and ``why`` tells.
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
    """How many pages lie between each two edges; ``lacking`` are those without a figure."""

    edges: FloatArray
    counts: NDArray[np.int64]
    lacking: int


def summarise_group(name: str, figures: PageFigures) -> GroupSummary:
    """Return how the pages of one group change."""
    compared = figures.compared > 0
    drawn = figures.shape[figures.shape != ""]
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
        curves=len(drawn),
        shapes=tuple(float(np.mean(drawn == shape)) for shape in SHAPES) if len(drawn) else (),
        survival=mean_survival(figures.survival),
        stay=_mean(figures.stay),
        go=_mean(figures.go),
    )


def mean_survival(shares: FloatArray) -> tuple[MeanEstimate, ...]:
    """Return the mean share still there at each horizon (column), over pages (rows).

    Pages are known from and up to different times: those seen daily say nothing of hours, and
    short histories nothing of weeks. Means over each time's own pages might rise. So each step
    from one horizon to the next is taken over the pages that tell of it (Kaplan and Meier 1958),
    and where all pages tell of all horizons this is their plain mean.

    >>> [each.mean for each in mean_survival(np.array([[0.5, 0.5], [np.nan, 1.0]]))]
    [0.5, 0.5]
    """
    before, left, found = np.ones(len(shares)), 1.0, []
    for column in shares.T:
        known = np.isfinite(column)
        there = float(before[known].sum())
        left *= float(column[known].sum()) / there if there else 1.0
        middle = float(np.median(column[known])) if known.any() else None
        found.append(MeanEstimate(left if known.any() else None, middle, int(known.sum())))
        before = np.where(known, column, before)
    return tuple(found)


def group_table(
    names: Sequence[str], member: IndexArray, figures: PageFigures
) -> list[GroupSummary]:
    """Return a row for every group; ``member`` says for each row of figures which group it is in.

    Groups without pages are left out.
    """
    rows = _by_group(len(names), member)
    return [
        summarise_group(name, figures[held])
        for name, held in zip(names, rows, strict=True)
        if len(held)
    ]


def group_tests(
    names: Sequence[str], member: IndexArray, figures: PageFigures
) -> tuple[GroupTest, ...]:
    """Return for every figure that is tested whether the groups differ."""
    rows = _by_group(len(names), member)
    tests = []
    for figure in TESTED_FIGURES:
        values = getattr(figures, figure)
        held = {name: _known(values[at]) for name, at in zip(names, rows, strict=True) if len(at)}
        tests.append(compare_groups(figure, held))
    return tuple(tests)


def compare_groups(figure: str, values: dict[str, FloatArray]) -> GroupTest:
    """Test whether a figure differs between groups, given each group's values.

    >>> low, high = np.arange(10.0), np.arange(20.0, 30.0)
    >>> found = compare_groups("dice", {"a": low, "b": high, "c": low[:3]})
    >>> found.untested, found.p < 0.001, found.pairs[0].groups
    (('c',), True, ('a', 'b'))
    """
    large = {name: held for name, held in values.items() if len(held) >= MIN_TESTED_PAGES}
    tested, untested = tuple(large), tuple(name for name in values if name not in large)
    if len(large) < 2:
        why = f"fewer than two groups have {MIN_TESTED_PAGES} pages with a figure"
        return GroupTest(figure, tested, untested, why=why)
    if len(np.unique(np.concatenate(list(large.values())))) == 1:
        return GroupTest(figure, tested, untested, why="all pages have the same figure")
    overall = kruskal_wallis(list(large.values()))
    largest = sorted(large, key=lambda name: -len(large[name]))[:MAX_PAIRED_GROUPS]
    paired = {name: large[name] for name in large if name in largest}
    unpaired = tuple(name for name in large if name not in paired)
    return GroupTest(
        figure, tested, untested, unpaired, overall.statistic, overall.p,
        tuple(_pairs(paired)),
    )  # fmt: skip


def _pairs(values: dict[str, FloatArray]) -> Iterator[GroupPairTest]:
    pairs = list(combinations(values, 2))
    found = [mann_whitney(values[a], values[b]) for a, b in pairs]
    p = np.array([test.p for test in found], np.float64)
    for (a, b), test, corrected in zip(pairs, found, holm_correction(p).tolist(), strict=True):
        sizes = len(values[a]), len(values[b])
        yield GroupPairTest((a, b), sizes, test.statistic, test.p, corrected)


def make_histogram(values: FloatArray, edges: FloatArray) -> Histogram:
    """Count values between edges, those beyond the ends in the first and last."""
    known = _known(values)
    counts, _ = np.histogram(known.clip(edges[0], edges[-1]), edges)
    return Histogram(edges, counts.astype(np.int64), len(values) - len(known))


def top_level_domain(url: str) -> str:
    """Return the top-level domain of a page's URL; "none" where its host is no name.

    >>> top_level_domain("https://www.example.co.uk:81/a"), top_level_domain("http://10.0.0.1/"), top_level_domain("ota:Google/Terms")
    ('uk', 'none', 'none')
    """
    if not url.startswith(WEB_SCHEMES):
        return NO_GROUP
    host = url.split("/", 3)[2].rpartition("@")[2].partition("?")[0]
    name, dot, last = host.partition(":")[0].rstrip(".").rpartition(".")
    return last if dot and name and not last.isdecimal() else NO_GROUP


def path_depth(url: str) -> str:
    """Return how many steps a page's path has, from 0 to "5+"; "none" where it has no path.

    >>> path_depth("https://example.org/"), path_depth("https://example.org/a/b?c/d"), path_depth("ota:A/B")
    ('0', '2', 'none')
    """
    if not url.startswith(WEB_SCHEMES):
        return NO_GROUP
    path = url.partition("?")[0].split("/", 3)[3:]
    steps = sum(bool(step) for step in "".join(path).split("/"))
    return str(steps) if steps < MAX_DEPTH else f"{MAX_DEPTH}+"


def _by_group(groups: int, member: IndexArray) -> list[NDArray[np.intp]]:
    """Return the rows of every group."""
    order = np.argsort(member, kind="stable")
    return np.split(order, np.searchsorted(member[order], np.arange(1, groups)))[:groups]


def _known(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]


def _mean(values: FloatArray) -> MeanEstimate:
    known = _known(values)
    if not len(known):
        return MeanEstimate(None, None, 0)
    mean, around = float(known.mean()), _around(known)
    bounds = (None, None) if around is None else (max(0.0, mean - around), mean + around)
    return MeanEstimate(mean, float(np.median(known)), len(known), *bounds)


def _around(known: FloatArray) -> float | None:
    """Return how far from its mean a sample's true mean may lie, with 95 %."""
    if len(known) < MIN_TESTED_PAGES:
        return None
    return float(stdtrit(len(known) - 1, 0.975) * known.std(ddof=1) / np.sqrt(len(known)))


def _share(flags: NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if len(flags) else None
