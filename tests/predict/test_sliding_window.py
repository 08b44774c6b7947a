"""Forecasts for every step of a page: the methods, their weights, and bad input."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.content_change.planted_leader import LEADER, plant_leader

from freshet.core.errors import BadInputError
from freshet.predict.expert_problem import ExpertProblem, SlidingSettings
from freshet.predict.kernels.sliding_svm import ExpertArrays
from freshet.predict.sliding_window import ForecastMethod, SlidingExperts, forecast_pages
from tests.predict.expert_samples import page_like_experts

SETTINGS = SlidingSettings(penalties=(0.03, 0.3), models=3)
METHODS = tuple(ForecastMethod)


def problem_of(experts: ExpertArrays) -> ExpertProblem:
    return ExpertProblem(experts.dense, experts.labels, experts.gram)


def accuracy(problem: ExpertProblem, classes: np.ndarray) -> float:
    return float(np.mean(classes[50:] == problem.labels[50:]))


def test_hedge_finds_one_leader_among_twenty_experts_where_the_vote_does_not() -> None:
    problems = [plant_leader(seed) for seed in range(4)]
    methods = (ForecastMethod.VOTE, ForecastMethod.HEDGE)
    rows = list(forecast_pages(problems, methods, SETTINGS))
    vote, hedge = (
        np.mean([accuracy(p, row[method].classes) for p, row in zip(problems, rows, strict=True)])
        for method in methods
    )
    assert 0.55 < vote < 0.7
    assert hedge >= 0.8


def test_votes_tell_which_experts_said_so() -> None:
    forecasts = SlidingExperts(plant_leader(1), SETTINGS).forecast(ForecastMethod.HEDGE)
    assert forecasts.votes is not None
    heaviest = forecasts.votes.at(150)[0]
    assert heaviest.expert == LEADER
    assert heaviest.label == forecasts.classes[150]
    assert sum(vote.weight for vote in forecasts.votes.at(150)) == pytest.approx(1.0)


def test_the_vote_weighs_experts_by_relation() -> None:
    problem = plant_leader(2, steps=90)
    only_leader = replace(problem, weights=np.eye(21)[LEADER])
    vote = SlidingExperts(only_leader, SETTINGS).forecast(ForecastMethod.VOTE)
    assert accuracy(problem, vote.classes) >= 0.75
    assert vote.votes is not None
    assert vote.votes.at(60)[0].expert == LEADER


@pytest.mark.parametrize("method", METHODS)
def test_every_method_hides_the_future(method: ForecastMethod) -> None:
    problem = problem_of(page_like_experts(1, steps=80))
    hidden = ExpertProblem(problem.dense.copy(), problem.labels.copy(), problem.gram)
    hidden.labels[70:] = -1
    hidden.dense[:, 71:] = 9.0
    seen, unseen = (SlidingExperts(item, SETTINGS).forecast(method) for item in (problem, hidden))
    np.testing.assert_array_equal(seen.classes[:71], unseen.classes[:71])
    np.testing.assert_array_equal(seen.probabilities[:71], unseen.probabilities[:71])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("label", [0, 1])
def test_equal_labels_give_that_class_and_a_smoothed_probability(
    method: ForecastMethod, label: int
) -> None:
    experts = page_like_experts(1, steps=70)
    problem = replace(problem_of(experts), labels=np.full(70, label, np.int8))
    forecasts = SlidingExperts(problem, SETTINGS).forecast(method)
    assert (forecasts.classes[50:] == label).all()
    assert forecasts.probabilities[60] == pytest.approx((50 * label + 1) / 52)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("steps", [0, 1, 12, 30])
def test_a_page_with_fewer_versions_than_the_window_has_forecasts(
    method: ForecastMethod, steps: int
) -> None:
    problem = problem_of(page_like_experts(1, steps=steps))
    forecasts = SlidingExperts(problem, SETTINGS).forecast(method)
    assert ((forecasts.probabilities > 0) & (forecasts.probabilities < 1)).all()
    assert np.isin(forecasts.classes, [0, 1]).all()
    assert len(forecasts.classes) == steps


@pytest.mark.parametrize("method", METHODS)
def test_unknown_features_labels_and_products_have_defined_answers(method: ForecastMethod) -> None:
    experts = page_like_experts(1, steps=70)
    experts.dense[1, 40:60] = np.nan
    experts.dense[:, 65] = np.nan
    experts.dense[0, 10:20, 1] = np.inf
    experts.gram[0, 5] = np.nan
    experts.labels[20:30] = -1
    forecasts = SlidingExperts(problem_of(experts), SETTINGS).forecast(method)
    assert ((forecasts.probabilities > 0) & (forecasts.probabilities < 1)).all()


@pytest.mark.parametrize(("size", "product"), [(1e308, 1.0), (1.0, 1e200), (1e-320, -1e120)])
def test_extreme_features_and_products_have_defined_answers(size: float, product: float) -> None:
    experts = page_like_experts(1, steps=70)
    problem = ExpertProblem(experts.dense * size, experts.labels, experts.gram * product)
    forecasts = SlidingExperts(problem, SETTINGS).forecast(ForecastMethod.HEDGE)
    assert ((forecasts.probabilities > 0) & (forecasts.probabilities < 1)).all()


def test_without_related_pages_all_experts_are_the_page_itself() -> None:
    problem = problem_of(page_like_experts(5, experts=1, steps=70))
    page = SlidingExperts(problem, SETTINGS)
    single = page.forecast(ForecastMethod.SINGLE_EXPERT).classes
    for method in (ForecastMethod.VOTE, ForecastMethod.HEDGE, ForecastMethod.UNION):
        np.testing.assert_array_equal(page.forecast(method).classes, single)


def test_identical_experts_answer_as_one_does() -> None:
    one = page_like_experts(5, experts=1, steps=70)
    problem = ExpertProblem(
        np.repeat(one.dense, 4, 0), one.labels, np.repeat(one.gram, 4, 0), np.array([1, 0.5, 2, 0])
    )
    page = SlidingExperts(problem, SETTINGS)
    np.testing.assert_array_equal(
        page.forecast(ForecastMethod.VOTE).classes,
        page.forecast(ForecastMethod.SINGLE_EXPERT).classes,
    )


def test_ties_of_the_majority_are_broken_by_the_previous_label() -> None:
    labels = np.array([1, 0, 0, 1, 1, 1], np.int8)
    problem = ExpertProblem(np.zeros((1, 6, 1)), labels)
    page = SlidingExperts(problem, SlidingSettings(window=2))
    assert page.forecast(ForecastMethod.MAJORITY).classes.tolist() == [0, 1, 0, 0, 1, 1]
    assert page.forecast(ForecastMethod.PREVIOUS).classes.tolist() == [0, 1, 0, 0, 1, 1]


def test_results_do_not_depend_on_the_number_of_workers() -> None:
    problems = [problem_of(page_like_experts(seed, steps=60)) for seed in range(3)]
    one, two = (
        list(forecast_pages(problems, [ForecastMethod.BAGGING], SETTINGS, workers=workers))
        for workers in (1, 2)
    )
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(
            first[ForecastMethod.BAGGING].probabilities,
            second[ForecastMethod.BAGGING].probabilities,
        )


def test_the_chance_of_the_past_counts_as_much_as_it_was_right() -> None:
    problem = problem_of(page_like_experts(1, steps=80))
    known = np.where(problem.labels == 1, 0.9, 0.1)
    alone, helped, misled = (
        SlidingExperts(replace(problem, own_chances=chances), SETTINGS).forecast(
            ForecastMethod.SINGLE_EXPERT
        )
        for chances in (None, known, 1 - known)
    )
    np.testing.assert_array_equal(helped.classes[50:], problem.labels[50:])
    np.testing.assert_allclose(misled.probabilities[60:], alone.probabilities[60:], atol=0.02)
    np.testing.assert_array_equal(misled.classes[60:], alone.probabilities[60:] > 0.5)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadInputError, match="own_chances"):
        ExpertProblem(np.zeros((1, 6, 1)), np.zeros(6, np.int8), own_chances=np.zeros(5))
    with pytest.raises(BadInputError, match="labels"):
        ExpertProblem(np.zeros((1, 6, 1)), np.zeros(5, np.int8))
    with pytest.raises(BadInputError, match="the page itself"):
        ExpertProblem(np.zeros((0, 6, 1)), np.zeros(6, np.int8))
    with pytest.raises(BadInputError, match="penalties"):
        SlidingSettings(penalties=(0.0,))
