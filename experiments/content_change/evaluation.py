"""The figures of the experiment as rows, and paired tests between methods, clustered by host."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.content_change.protocol import MethodForecasts
from freshet.core.distributions import student_t_cdf
from freshet.core.tables import BoolArray
from freshet.core.types import FloatArray, HashArray, IndexArray
from freshet.predict.forecast_scores import forecast_scores

# Differences that vary less than this are equal but for rounding.
LEAST_SPREAD = 1e-9


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
    """How much more accurate a method is than another, as a mean over hosts, with a paired t-test.

    ``difference`` is the mean of the hosts' mean differences, and ``p`` belongs to this mean. It
    is not the difference of two accuracies, which are means over pages.
    """

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
    scores = forecast_scores(forecasts.probabilities[is_tested], labels == 1)
    figures = (
        float(page_accuracies(pages, forecasts).mean()),
        balanced_accuracy(labels, classes),
        scores.auc,
        scores.log_loss,
    )
    return ForecastRow(
        pages.data, forecasts.method, pages.label, pages.filter, forecasts.selection,
        len(pages.labels), len(labels), *(round(figure, 5) for figure in figures),
    )  # fmt: skip


def compare(pages: JudgedPages, ours: MethodForecasts, *others: MethodForecasts) -> ComparisonRow:
    """Return how much the accuracy of a method differs from the mean of others, with its p-value.

    Several others are the same method with differently drawn experts; the first one gives the name.
    """
    differences = page_accuracies(pages, ours) - mean_accuracies(pages, others)
    hosts = host_means(pages.hosts, differences)
    return ComparisonRow(
        pages.data, pages.label, pages.filter, ours.method, ours.selection, others[0].method,
        others[0].selection, len(hosts), round(float(hosts.mean()), 5),
        round(paired_p_value(hosts), 6),
    )  # fmt: skip


def host_means(hosts: HashArray, values: FloatArray) -> FloatArray:
    """Return the mean of the values of each host's pages."""
    _, clusters = np.unique(hosts, return_inverse=True)
    return np.asarray(np.bincount(clusters, values) / np.bincount(clusters), np.float64)


def mean_accuracies(pages: JudgedPages, forecasts: Sequence[MethodForecasts]) -> FloatArray:
    """Return the share of correct classes of each page, averaged over several forecasts."""
    return np.asarray(np.mean([page_accuracies(pages, f) for f in forecasts], axis=0), np.float64)


def page_accuracies(pages: JudgedPages, forecasts: MethodForecasts) -> FloatArray:
    """Return the share of correct classes of each page."""
    is_tested = pages.is_tested
    is_correct = (forecasts.classes == pages.labels) & is_tested
    counts = np.maximum(is_tested.sum(axis=1), 1)
    return np.asarray(is_correct.sum(axis=1) / counts, np.float64)


def paired_p_value(differences: FloatArray) -> float:
    """Return the two-sided p-value of a t-test that the mean difference is 0.

    It is 1 if all differences are equal, because then nothing tells how far the mean varies.

    >>> round(paired_p_value(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    count = len(differences)
    spread = float(differences.std(ddof=1)) if count > 1 else 0.0
    if spread < LEAST_SPREAD:
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
