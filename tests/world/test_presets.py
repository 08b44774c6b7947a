"""The presets give the published figures, measured as the papers measured them."""

import numpy as np
import pytest

from freshet.world.parameters import PopulationGroup
from freshet.world.population import PagePopulation, draw_population
from freshet.world.presets import BRDC, OUTLINKS, PRESETS, WEB_CHANGES
from tests.world.measures import CrawlResult, Rule, crawl_by_rule, link_figures, measure_hourly

RULES: tuple[Rule, ...] = ("nad", "aad", "cg", "gad", "sad", "age", "rand")


@pytest.fixture(scope="module")
def brdc() -> dict[Rule, CrawlResult]:
    people = draw_population(BRDC, 12_000, 57, seed=1)
    return {rule: crawl_by_rule(people, rule) for rule in RULES}


@pytest.fixture(scope="module")
def outlinks() -> PagePopulation:
    return draw_population(OUTLINKS, 60_000, 10, seed=1)


@pytest.fixture(scope="module")
def web_changes() -> PagePopulation:
    return draw_population(WEB_CHANGES, 40_000, 5 * 7 * 24, seed=1)


@pytest.mark.parametrize(
    ("rule", "changerate", "ndcg"),
    [
        ("rand", 0.1566, 0.1565),
        ("age", 0.1753, 0.1754),
        ("nad", 0.7162, 0.7288),
        ("sad", 0.5451, 0.5674),
        ("aad", 0.6778, 0.6986),
        ("gad", 0.6535, 0.6769),
        ("cg", 0.6672, 0.6888),
    ],
)
def test_classic_rules_find_what_they_found_in_brdc(
    brdc: dict[Rule, CrawlResult], rule: Rule, changerate: float, ndcg: float
) -> None:
    assert brdc[rule].changerate == pytest.approx(changerate, abs=0.015)
    assert brdc[rule].ndcg == pytest.approx(ndcg, abs=0.02)


def test_classic_rules_come_in_the_published_order(brdc: dict[Rule, CrawlResult]) -> None:
    assert sorted(RULES, key=lambda rule: -brdc[rule].changerate) == list(RULES)
    assert sorted(RULES, key=lambda rule: -brdc[rule].ndcg) == list(RULES)


def test_the_uniform_weighting_finds_as_much_by_either_clock(brdc: dict[Rule, CrawlResult]) -> None:
    by_visit = crawl_by_rule(draw_population(BRDC, 12_000, 57, seed=1), "nad", "visit")
    assert by_visit.changerate == pytest.approx(0.7162, abs=0.015)
    assert by_visit.changerate == pytest.approx(brdc["nad"].changerate, abs=0.01)


def test_pages_gain_internal_links_as_published(outlinks: PagePopulation) -> None:
    assert OUTLINKS.internal_links is not None
    without, mean, deviation = link_figures(outlinks, OUTLINKS.internal_links)
    assert 0.68 <= without <= 0.75
    assert mean == pytest.approx(2.7, rel=0.1)
    assert deviation == pytest.approx(14, rel=0.2)


def test_pages_gain_external_links_as_published(outlinks: PagePopulation) -> None:
    assert OUTLINKS.external_links is not None
    without, mean, deviation = link_figures(outlinks, OUTLINKS.external_links)
    assert 0.91 <= without <= 0.94
    assert mean == pytest.approx(0.4, rel=0.1)
    assert deviation == pytest.approx(3.4, rel=0.2)


def test_a_third_never_changes_and_the_rest_every_five_days(web_changes: PagePopulation) -> None:
    hourly_changes = measure_hourly(web_changes)
    assert hourly_changes.never_changed == pytest.approx(0.34, abs=0.015)
    assert hourly_changes.hours.mean() == pytest.approx(123, rel=0.06)
    assert hourly_changes.dice.mean() == pytest.approx(0.794, abs=0.015)


def test_four_in_ten_pages_change_nearly_every_hour(web_changes: PagePopulation) -> None:
    assert np.mean(web_changes.changed.mean(axis=1) > 0.8) == pytest.approx(0.416, abs=0.03)


@pytest.mark.parametrize(
    ("depth", "hours", "dice"),
    [
        ("0", 80, 0.858),
        ("1", 104, 0.820),
        ("2", 127, 0.780),
        ("3", 167, 0.736),
        ("4", 176, 0.740),
        ("5+", 199, 0.678),
    ],
)
def test_deeper_pages_change_less_often_and_more(
    web_changes: PagePopulation, depth: str, hours: float, dice: float
) -> None:
    hourly_changes = measure_hourly(web_changes)
    group = web_changes.depths[hourly_changes.has_changed] == index(WEB_CHANGES.depths, depth)
    assert hourly_changes.hours[group].mean() == pytest.approx(hours, rel=0.12)
    assert hourly_changes.dice[group].mean() == pytest.approx(dice, abs=0.025)


@pytest.mark.parametrize(
    ("domain", "hours", "dice"),
    [
        ("com", 126, 0.788),
        ("net", 125, 0.764),
        ("org", 95, 0.852),
        ("edu", 161, 0.875),
        ("gov", 169, 0.836),
    ],
)
def test_domains_differ_as_published(
    web_changes: PagePopulation, domain: str, hours: float, dice: float
) -> None:
    hourly_changes = measure_hourly(web_changes)
    group = web_changes.domains[hourly_changes.has_changed] == index(WEB_CHANGES.domains, domain)
    assert hourly_changes.hours[group].mean() == pytest.approx(hours, rel=0.2)
    assert hourly_changes.dice[group].mean() == pytest.approx(dice, abs=0.03)


@pytest.mark.parametrize(
    ("visitors", "hours", "dice"),
    [("2", 138, 0.802), ("3-6", 125, 0.827), ("7-38", 106, 0.825), ("39+", 102, 0.812)],
)
def test_pages_with_more_visitors_change_more_often(
    web_changes: PagePopulation, visitors: str, hours: float, dice: float
) -> None:
    hourly_changes = measure_hourly(web_changes)
    group = web_changes.visitors[hourly_changes.has_changed] == index(
        WEB_CHANGES.visitors, visitors
    )
    assert hourly_changes.hours[group].mean() == pytest.approx(hours, rel=0.06)
    assert hourly_changes.dice[group].mean() == pytest.approx(dice, abs=0.035)


@pytest.mark.parametrize(
    ("category", "hours", "dice"),
    [
        ("Industry/trade", 218, 0.665),
        ("Music", 147, 0.801),
        ("Porn", 137, 0.765),
        ("Personal pages", 88, 0.829),
        ("Sports/recreation", 66, 0.898),
        ("News/magazines", 33, 0.870),
    ],
)
def test_categories_differ_as_published(
    web_changes: PagePopulation, category: str, hours: float, dice: float
) -> None:
    hourly_changes = measure_hourly(web_changes)
    group = web_changes.categories[hourly_changes.has_changed] == index(
        WEB_CHANGES.categories, category
    )
    assert hourly_changes.hours[group].mean() == pytest.approx(hours, rel=0.2)
    assert hourly_changes.dice[group].mean() == pytest.approx(dice, abs=0.03)


def test_shares_of_a_preset_add_up_to_one() -> None:
    for preset in PRESETS.values():
        for shares in (
            preset.paces,
            preset.domains,
            preset.depths,
            preset.visitors,
            preset.categories,
        ):
            assert sum(one.share for one in shares) == pytest.approx(1)


def index(groups: tuple[PopulationGroup, ...], name: str) -> int:
    return [group.name for group in groups].index(name)
