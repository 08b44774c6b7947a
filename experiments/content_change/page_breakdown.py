"""For which pages related pages help: differences of accuracy by page, and by groups of pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.content_change.evaluation import (
    JudgedPages,
    host_means,
    mean_accuracies,
    page_accuracies,
    paired_p_value,
)
from experiments.content_change.protocol import RANDOM_SELECTIONS, MethodForecasts
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.predict.sliding_window import ForecastMethod
from freshet.view.url import page_address

SHOWN_PAGES = 5
THIRDS = ("low", "middle", "high")


@dataclass(frozen=True, slots=True)
class PageGainRow:
    """How much more accurate experts are than the page alone (2D) and than random experts.

    ``rank`` orders the pages by their gain over random experts; the first and the last are stored.
    """

    data: str
    label: str
    method: str
    selection: str
    rank: int
    host: str
    changes: int
    weight: float
    gain: float
    gain_over_random: float


@dataclass(frozen=True, slots=True)
class PageGroupRow:
    """The gains of a group of pages as means of its hosts' means, with p-values of these means.

    ``repeat`` is the correlation of the gains over random experts in the first and in the second
    half of the tested steps: pages that are really helped would be helped in both.
    """

    data: str
    label: str
    method: str
    selection: str
    group: str
    pages: int
    hosts: int
    gain: float
    p: float
    gain_over_random: float
    p_over_random: float
    repeat: float


@dataclass(frozen=True, slots=True)
class PageGains:
    """The gains of each page by one method and selection, and what groups are formed by."""

    gains: FloatArray
    over_random: FloatArray
    halves: tuple[FloatArray, FloatArray]
    changes: IndexArray
    weights: FloatArray


def breakdown_rows(
    tested: JudgedPages, names: Sequence[str], forecasts: Sequence[MethodForecasts]
) -> tuple[list[PageGroupRow], list[PageGainRow]]:
    """Return the groups of pages and the pages with the extreme gains, by Hedge's experts."""
    by_name = {(forecast.method, forecast.selection): forecast for forecast in forecasts}
    method = ForecastMethod.HEDGE
    randoms = [by_name[method, name] for name in RANDOM_SELECTIONS if (method, name) in by_name]
    groups: list[PageGroupRow] = []
    extremes: list[PageGainRow] = []
    for (name, selection), forecast in by_name.items():
        if name != method or selection in RANDOM_SELECTIONS or not randoms:
            continue
        single = by_name[ForecastMethod.SINGLE_EXPERT, ""]
        gains = page_gains(tested, forecast, single, randoms)
        key = tested.data, tested.label, method.value, selection
        groups += _group_rows(key, tested, gains)
        extremes += _extreme_rows(key, names, gains)
    return groups, extremes


def page_gains(
    tested: JudgedPages,
    forecast: MethodForecasts,
    single: MethodForecasts,
    randoms: Sequence[MethodForecasts],
) -> PageGains:
    """Return the gains of each page over 2D and over random experts."""
    accuracies = page_accuracies(tested, forecast)
    early, late = (
        page_accuracies(half, forecast) - mean_accuracies(half, randoms) for half in _halves(tested)
    )
    return PageGains(
        accuracies - page_accuracies(tested, single),
        accuracies - mean_accuracies(tested, randoms),
        (early, late),
        (tested.labels[:, : tested.first_step] == 1).sum(axis=1).astype(np.int32),
        forecast.related_weights,
    )


def _halves(tested: JudgedPages) -> tuple[JudgedPages, JudgedPages]:
    """Return the judges of the first and of the second half of the tested steps."""
    steps = tested.labels.shape[1]
    middle = (tested.first_step + steps) // 2
    early = tested.labels.copy()
    early[:, middle:] = -1
    return replace(tested, labels=early), replace(tested, first_step=middle)


def _groups(hosts: HashArray, gains: PageGains) -> Iterator[tuple[str, BoolArray]]:
    """Yield the name of each group of pages and which pages belong to it."""
    yield "all", np.ones(len(hosts), np.bool_)
    for name, values in (("changes", gains.changes), ("weight", gains.weights)):
        thirds = np.searchsorted(np.quantile(values, (1 / 3, 2 / 3)), values)
        for third, level in enumerate(THIRDS):
            yield f"{name} {level}", thirds == third
    _, clusters, counts = np.unique(hosts, return_inverse=True, return_counts=True)
    yield "alone on its host", counts[clusters] == 1
    yield "others on its host", counts[clusters] > 1


def _group_rows(
    key: tuple[str, str, str, str], tested: JudgedPages, gains: PageGains
) -> Iterator[PageGroupRow]:
    for name, is_member in _groups(tested.hosts, gains):
        if not is_member.any():
            continue
        hosts = tested.hosts[is_member]
        own = host_means(hosts, gains.gains[is_member])
        random = host_means(hosts, gains.over_random[is_member])
        early, late = (half[is_member] for half in gains.halves)
        yield PageGroupRow(
            *key, name, len(hosts), len(own),
            round(float(own.mean()), 5), round(paired_p_value(own), 6),
            round(float(random.mean()), 5), round(paired_p_value(random), 6),
            round(correlation(early, late), 4),
        )  # fmt: skip


def _extreme_rows(
    key: tuple[str, str, str, str], names: Sequence[str], gains: PageGains
) -> Iterator[PageGainRow]:
    order = np.argsort(-gains.over_random, kind="stable")
    ranks = [*range(len(order))[:SHOWN_PAGES], *range(len(order))[SHOWN_PAGES:][-SHOWN_PAGES:]]
    for rank in ranks:
        page = int(order[rank])
        yield PageGainRow(
            *key, rank + 1, page_address(names[page]).host, int(gains.changes[page]),
            round(float(gains.weights[page]), 4), round(float(gains.gains[page]), 5),
            round(float(gains.over_random[page]), 5),
        )  # fmt: skip


def correlation(first: FloatArray, second: FloatArray) -> float:
    """Return the correlation of two samples; 0 if one of them is constant.

    >>> correlation(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 4.0]))
    1.0
    """
    if len(first) < 2 or first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
