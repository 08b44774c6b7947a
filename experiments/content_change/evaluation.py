"""The figures of the experiment as rows, and paired tests between methods, clustered by host."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from experiments.content_change.protocol import MethodForecasts
from freshet.core.distributions import student_t_cdf
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, HashArray, IndexArray

LEAST_CHANCE = 1e-6


@dataclass(frozen=True, slots=True)
class ForecastRow:
    """The figures of a method for one label and filter.

    ``accuracy`` is averaged over the windows of a page, then over pages; the others are taken over
    all forecasts. ``selection`` is how experts were chosen, empty for methods without experts.
    """

    data: str
    method: str
    label: str
    filter: float
    selection: str
    pages: int
    windows: int
    accuracy: float
    balanced_accuracy: float
    auc: float
    logloss: float


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """How much more accurate a method is than another: a paired t-test over the hosts' means."""

    data: str
    label: str
    filter: float
    method: str
    selection: str
    against: str
    against_selection: str
    hosts: int
    difference: float
    p: float


@dataclass(frozen=True, slots=True)
class JudgedPages:
    """The pages of a row: their data, label and filter, labels and hosts, and the first step."""

    data: str
    label: str
    filter: float
    labels: IndexArray
    hosts: HashArray
    first_step: int

    @property
    def is_tested(self) -> BoolArray:
        """Return which steps of which pages are forecast and can be judged."""
        is_tested: BoolArray = self.labels >= 0
        return is_tested & (np.arange(self.labels.shape[1]) >= self.first_step)


def forecast_row(pages: JudgedPages, forecasts: MethodForecasts) -> ForecastRow:
    """Return the figures of a method."""
    is_tested = pages.is_tested
    labels, classes = pages.labels[is_tested], forecasts.classes[is_tested]
    chances = forecasts.probabilities[is_tested]
    figures = (
        float(page_accuracies(pages, forecasts).mean()),
        balanced_accuracy(labels, classes),
        area_under_curve(labels, chances),
        log_loss(labels, chances),
    )
    return ForecastRow(
        pages.data, forecasts.method, pages.label, pages.filter, forecasts.selection,
        len(pages.labels), len(labels), *(round(figure, 5) for figure in figures),
    )  # fmt: skip


def compare(pages: JudgedPages, ours: MethodForecasts, other: MethodForecasts) -> ComparisonRow:
    """Return the difference of the accuracies of two methods, with its p-value."""
    differences = page_accuracies(pages, ours) - page_accuracies(pages, other)
    _, clusters = np.unique(pages.hosts, return_inverse=True)
    hosts = np.bincount(clusters, differences) / np.bincount(clusters)
    return ComparisonRow(
        pages.data, pages.label, pages.filter, ours.method, ours.selection, other.method,
        other.selection, len(hosts), round(float(differences.mean()), 5),
        round(paired_p_value(hosts), 6),
    )  # fmt: skip


def page_accuracies(pages: JudgedPages, forecasts: MethodForecasts) -> FloatArray:
    """Return the share of correct classes of each page."""
    is_tested = pages.is_tested
    is_correct = (forecasts.classes == pages.labels) & is_tested
    return np.asarray(is_correct.sum(axis=1) / is_tested.sum(axis=1), np.float64)


def paired_p_value(differences: FloatArray) -> float:
    """Return the two-sided p-value of a t-test that the mean difference is 0.

    >>> round(paired_p_value(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    count = len(differences)
    spread = float(differences.std(ddof=1)) if count > 1 else 0.0
    if spread == 0:
        return 1.0
    statistic = abs(float(differences.mean())) / (spread / count**0.5)
    return min(1.0, 2 * (1 - student_t_cdf(count - 1, statistic)))


def balanced_accuracy(labels: IndexArray, classes: IndexArray) -> float:
    """Return the mean of the shares of correct classes among changes and among the others."""
    shares = [
        float((classes[labels == value] == value).mean())
        for value in (0, 1)
        if (labels == value).any()
    ]
    return sum(shares) / len(shares) if shares else float("nan")


def area_under_curve(labels: IndexArray, scores: FloatArray) -> float:
    """Return the chance that a change has a higher score than a step without; a tie counts half.

    >>> area_under_curve(np.array([0, 0, 1]), np.array([0.1, 0.5, 0.5]))
    0.75
    """
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    positives = int((labels == 1).sum())
    negatives = len(labels) - positives
    if not positives or not negatives:
        return 0.5
    surplus = ranks[places][labels == 1].sum() - positives * (positives + 1) / 2
    return float(surplus / (positives * negatives))


def log_loss(labels: IndexArray, chances: FloatArray) -> float:
    """Return the mean negative log likelihood of the labels."""
    bounded = np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE)
    return float(-np.log(np.where(labels == 1, bounded, 1 - bounded)).mean())


def as_json(data: str, rows: Sequence[ForecastRow]) -> str:
    """Return the experiment's JSON document."""
    return json.dumps({
        "name": "content_change",
        "data": data,
        "rows": [asdict(row) for row in rows],
    })


def as_text(rows: Sequence[ForecastRow], comparisons: Sequence[ComparisonRow]) -> str:
    """Return a line for each row."""
    return "\n".join([*_row_lines(rows), *_comparison_lines(comparisons)])


def _row_lines(rows: Sequence[ForecastRow]) -> Iterator[str]:
    yield (
        f"{'data':<10}{'label':<12}{'filter':>6}  {'method':<16}{'experts':<9}{'pages':>6}"
        f"{'windows':>9}{'accuracy':>10}{'balanced':>10}{'auc':>7}{'logloss':>9}"
    )
    for row in rows:
        yield (
            f"{row.data:<10}{row.label:<12}{row.filter:>6}  {row.method:<16}{row.selection:<9}"
            f"{row.pages:>6}{row.windows:>9}{row.accuracy:>10.4f}{row.balanced_accuracy:>10.4f}"
            f"{row.auc:>7.3f}{row.logloss:>9.3f}"
        )


def _comparison_lines(comparisons: Sequence[ComparisonRow]) -> Iterator[str]:
    for row in comparisons:
        yield (
            f"{row.data}, {row.label}, filter {row.filter}: {row.method} {row.selection} is"
            f" {100 * row.difference:+.2f} points against {row.against} {row.against_selection}"
            f" (p = {row.p:.4f}, {row.hosts} hosts)"
        )
