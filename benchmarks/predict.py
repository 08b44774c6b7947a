"""Forecasts of pages by sliding experts, against scikit-learn's SVC fitted one by one (bar: 100).

All predictions for 400 pages with 21 experts and 130 windows of 50 steps, on all cores. An expert
has 7 dense features and the distribution of 1,000 terms. The reference standardises the dense
features of each window, puts the terms beside them and fits an SVC with the same kernel, for a
sample of the windows. Ours computes the products of terms once per page, which is counted, and
shares them between the targets of a page. A few generated pages are repeated; nothing else is
shared between the repetitions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from time import process_time

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.report import BenchmarkResult, report, seconds
from freshet.core.types import FloatArray
from freshet.predict.expert_problem import ExpertProblem, SlidingSettings
from freshet.predict.kernels.sliding_svm import slide_experts
from freshet.predict.sliding_window import ForecastMethod, forecast_pages

PAGES, EXPERTS, STEPS, WINDOW, FEATURES, TERMS = 400, 21, 180, 50, 7, 1000
GENERATED_PAGES = 4
GRID_PAGES = 20
SAMPLE_STEPS = range(WINDOW, STEPS, 13)
PENALTY = 0.1
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
UNITS = ("fits/s", "fits/CPU s")
METHODS = (ForecastMethod.SINGLE_EXPERT, ForecastMethod.VOTE, ForecastMethod.HEDGE)


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """A page with its experts, the version of each at every step, and the terms of versions."""

    problem: ExpertProblem
    versions: NDArray[np.int64]
    version_terms: FloatArray

    def terms(self, expert: int) -> FloatArray:
        """Return the term distribution of an expert at every step."""
        return self.version_terms[expert, self.versions[expert]]

    def products(self, expert: int) -> FloatArray:
        """Return the products of the terms of every two steps, from one per pair of versions."""
        versions = self.versions[expert]
        distributions = self.version_terms[expert, : versions[-1] + 1]
        return (distributions @ distributions.T)[np.ix_(versions, versions)]


def generate_page(seed: int) -> GeneratedPage:
    """Return a page whose labels follow its own changes and those of one expert a little."""
    rng = np.random.default_rng(seed)
    changes = (rng.random((EXPERTS, STEPS)) < rng.uniform(0.2, 0.6)).astype(float)
    labels = (0.4 * changes[0] + 0.6 * changes[1] + rng.random(STEPS) > 1.0).astype(np.int8)
    distances = changes * rng.exponential(0.1, changes.shape)
    noise = rng.random((EXPERTS, STEPS, FEATURES - 3))
    dense = np.concatenate([np.stack([distances, np.roll(distances, 1, 1), changes], 2), noise], 2)
    versions = np.cumsum(changes, axis=1).astype(np.int64)
    version_terms = rng.dirichlet(np.full(TERMS, 0.3), size=(EXPERTS, versions.max() + 1))
    gram = np.zeros((EXPERTS, STEPS, STEPS))
    page = GeneratedPage(ExpertProblem(dense, labels, gram), versions, version_terms)
    for expert in range(EXPERTS):
        gram[expert] = page.products(expert)
    return page


def problems(pages: list[GeneratedPage], count: int) -> Iterator[ExpertProblem]:
    """Yield the problems of so many pages, computing the products of each page's own terms."""
    for page in islice(cycle(pages), count):
        if page.problem.gram is not None:
            page.problem.gram[0] = page.products(0)
        yield page.problem


def fit_one_by_one(page: GeneratedPage, penalty: float) -> FloatArray:
    """Return the decisions of scikit-learn's SVC for every expert at the sampled steps."""
    decisions = np.empty((EXPERTS, len(SAMPLE_STEPS)))
    for expert in range(EXPERTS):
        terms = page.terms(expert)
        for column, step in enumerate(SAMPLE_STEPS):
            rows = slice(step - WINDOW, step + 1)
            dense = page.problem.dense[expert, rows]
            scaled = StandardScaler().fit(dense[:-1]).transform(dense)
            examples = np.hstack([scaled, terms[rows]])
            machine = SVC(C=penalty, kernel="poly", degree=3, gamma=1.0 / FEATURES, coef0=1.0)
            machine.fit(examples[:-1], page.problem.labels[step - WINDOW : step])
            decisions[expert, column] = machine.decision_function(examples[-1:])[0]
    return decisions


def compare_pages(
    name: str, pages: list[GeneratedPage], count: int, penalties: tuple[float, ...]
) -> list[BenchmarkResult]:
    """Return fits per second of whole forecasts and of scikit-learn one by one, also per CPU."""
    settings = SlidingSettings(penalties=penalties)
    sample = list(zip(pages, cycle(penalties), strict=False))
    times = []
    for work in (
        lambda: list(forecast_pages(problems(pages, count), METHODS, settings)),
        lambda: [fit_one_by_one(page, penalty) for page, penalty in sample],
    ):
        started = process_time()
        times.append((seconds(work), process_time() - started))
    amounts = (
        count * EXPERTS * (STEPS - WINDOW) * len(penalties),
        len(sample) * EXPERTS * len(SAMPLE_STEPS),
    )
    return [
        BenchmarkResult(name + suffix, amounts[0] / ours, amounts[1] / reference, unit)
        for ours, reference, suffix, unit in zip(*times, ("", ", CPU"), UNITS, strict=True)
    ]


def compare_single_fit(pages: list[GeneratedPage], penalty: float) -> list[BenchmarkResult]:
    """Return the CPU time of one fit, and how many classes are equal."""
    kernel_settings = SlidingSettings(warm_up=WINDOW).kernel_settings()
    arrays = [page.problem.expert_arrays() for page in pages]
    started = process_time()
    ours = [slide_experts(experts, np.array([penalty]), kernel_settings) for experts in arrays]
    middle = process_time()
    reference = [fit_one_by_one(page, penalty) for page in pages]
    reference_time = process_time() - middle
    fits, sample_fits = (len(pages) * EXPERTS * n for n in (STEPS - WINDOW, len(SAMPLE_STEPS)))
    equal = np.mean([
        (decisions[:, 0, list(SAMPLE_STEPS)] > 0) == (expected > 0)
        for decisions, expected in zip(ours, reference, strict=True)
    ])
    return [
        BenchmarkResult(
            f"one fit, C = {penalty:g}",
            1e6 * (middle - started) / fits,
            1e6 * reference_time / sample_fits,
            "CPU us",
        ),
        BenchmarkResult(f"equal classes, C = {penalty:g}", float(equal), 1.0, "share"),
    ]


def main() -> None:
    """Print the ratios."""
    pages = [generate_page(seed) for seed in range(GENERATED_PAGES)]
    warm_up = SlidingSettings(penalties=(PENALTY,))
    list(forecast_pages(problems(pages, 1), METHODS, warm_up))
    results = compare_pages("predict, one C", pages, PAGES, (PENALTY,))
    results += compare_pages("predict, grid of C", pages, GRID_PAGES, PENALTIES)
    for penalty in (0.01, 0.1, 1.0, 10.0):
        results += compare_single_fit(pages, penalty)
    report(*results)


if __name__ == "__main__":
    main()
