"""A model of new links is learned from looks, validated on later ones, stored, and used."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freshet.archive.catalog.rows import NewPage, VisitEntry
from freshet.collection.collection import Collection
from freshet.core.clock import from_epoch
from freshet.core.content.measured_looks import LinkTotals, MeasuredLooks
from freshet.core.errors import BadInputError, StopRequestedError
from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Change, FloatArray, Outcome, Page, PageKey, Visit
from freshet.crawl.forecast import forecasts
from freshet.crawl.link_forecast import choose_link_model
from freshet.features.outlinks.look_steps import LOOK_FEATURES
from freshet.learning.link_model.examples import (
    CollectionLinks,
    TooFewLinksError,
    link_examples,
)
from freshet.learning.link_model.learn import train_link_model
from freshet.learning.link_model.validation import default_expected_links
from freshet.predict.outlinks.link_model import (
    DEFAULT_LINK_FORECAST,
    LEARNED_LINKS,
    LinkScores,
    LinkSummary,
    LinkValidation,
)
from freshet.record.models.link_model_file import LINK_MODEL_FILE, read_link_model
from tests.learning.change_model.look_samples import (
    DAYS,
    FIRST_DAY,
    HOST_NUMBERS,
    PAGE_IDS,
    PAGES,
    daily_looks,
    page_rows,
)

NOW = from_epoch((FIRST_DAY + DAYS) * DAY_SECONDS)


def alternating_numbers() -> FloatArray:
    """Return four new links of each page on every other day, half of the pages on odd ones."""
    is_due = (np.arange(DAYS)[np.newaxis] + np.arange(PAGES)[:, np.newaxis]) % 2 == 0
    return np.where(is_due, 4.0, 0.0)


def steady_numbers() -> FloatArray:
    """Return new links that come at random, at a rate of the page's own."""
    rates = np.linspace(0.1, 3.0, PAGES)
    return np.random.default_rng(5).poisson(rates[:, np.newaxis], (PAGES, DAYS)).astype(np.float64)


def looks_with(numbers: FloatArray) -> MeasuredLooks:
    """Return a look a day at each page that finds given numbers of new links."""
    looks = daily_looks(numbers > 0)
    return replace(looks, new_links=np.where(looks.measured, numbers.T.reshape(-1), np.nan))


def links_of(numbers: FloatArray) -> CollectionLinks:
    looks = looks_with(numbers)
    return CollectionLinks(page_rows(), looks, link_examples(page_rows(), looks))


@pytest.fixture
def in_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn from days, with few trees."""
    monkeypatch.setattr("freshet.learning.link_model.examples.MIN_STEPS", 20)
    monkeypatch.setattr("freshet.learning.link_model.learn.ROUNDS", 40)


def test_weeks_are_learned_from_if_there_are_enough_else_days(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = looks_with(steady_numbers())
    assert link_examples(page_rows(), looks).grid.interval_days == 7
    monkeypatch.setattr("freshet.learning.link_model.examples.MIN_STEPS", 20)
    examples = link_examples(page_rows(), looks)
    assert examples.grid.interval_days == 1
    numbers = steady_numbers()[examples.rows, DAYS - examples.grid.steps + examples.steps]
    assert examples.new_links.tolist() == numbers.tolist()


def test_too_few_new_links_are_not_learned_from() -> None:
    with pytest.raises(TooFewLinksError, match="are needed"):
        links_of(np.zeros((PAGES, DAYS)))


def test_one_week_of_looks_is_not_learned_from() -> None:
    looks = looks_with(steady_numbers())
    week = looks.select(looks.times < (FIRST_DAY + 7) * DAY_SECONDS)
    with pytest.raises(TooFewLinksError, match=r"span 6\.0 days; at least 8 are needed"):
        link_examples(page_rows(), week)


@pytest.mark.usefixtures("in_days")
def test_a_week_missing_for_half_of_the_pages_is_left_out() -> None:
    looks = looks_with(steady_numbers())
    days = looks.times / DAY_SECONDS - FIRST_DAY
    is_missing = (looks.pages % 2 == 0) & (days > 29.5) & (days < 36.5)
    whole = link_examples(page_rows(), looks)
    partial = link_examples(page_rows(), looks.select(~is_missing))
    # The looks of seven days, and the one after that has nothing to be compared with.
    assert len(whole) - len(partial) == PAGES // 2 * 8
    assert np.isfinite(partial.new_links).all()
    links = CollectionLinks(page_rows(), looks.select(~is_missing), partial)
    assert np.isfinite(default_expected_links(links, partial)).all()


def test_later_looks_do_not_alter_the_features_of_an_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("freshet.learning.link_model.examples.MIN_STEPS", 20)
    numbers, altered = steady_numbers(), steady_numbers()
    altered[:, 40:] += 7
    first_altered = 40 - (DAYS - 30)
    one, other = (links_of(item).examples for item in (numbers, altered))
    before = one.steps <= first_altered
    np.testing.assert_array_equal(one.features[before], other.features[before])


@pytest.mark.usefixtures("in_days")
def test_a_model_is_not_used_where_the_default_forecast_knows_everything() -> None:
    assert not train_link_model(links_of(steady_numbers()), NOW).validation.is_better


def test_the_default_forecast_is_that_of_all_looks_of_a_week(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("freshet.learning.link_model.learn.ROUNDS", 20)
    validation = train_link_model(links_of(steady_numbers()), NOW).validation
    learned, default = (
        validation.scores[name].deviance for name in (LEARNED_LINKS, DEFAULT_LINK_FORECAST)
    )
    assert default < 1.2 * learned
    assert not validation.is_better
    assert validation.reason.endswith("the rule NNL-Av was better")


def test_the_default_forecast_knows_the_links_of_pages() -> None:
    collection = links_of(steady_numbers())
    later = collection.examples.select(collection.examples.steps == 7)
    times = np.array([FIRST_DAY * DAY_SECONDS])
    totals = LinkTotals(PAGE_IDS[-1:], times, np.array([1_000.0]))
    without, with_links = (
        default_expected_links(item, later)
        for item in (collection, replace(collection, link_totals=totals))
    )
    assert with_links[-1] > without[-1]
    assert with_links[:-1].tolist() == without[:-1].tolist()
    late = replace(totals, times=np.array([NOW.timestamp()]))
    unknown = default_expected_links(replace(collection, link_totals=late), later)
    assert unknown.tolist() == without.tolist()


def test_the_pages_of_one_site_are_learned_from_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.learning.link_model.learn.ROUNDS", 20)
    collection = links_of(alternating_numbers())
    pages, examples = collection.pages, collection.examples
    one_site = replace(examples, sites=np.zeros_like(examples.sites))
    assert one_site.groups().tolist() == examples.rows.tolist()
    assert examples.groups().tolist() == examples.sites.tolist()
    model = train_link_model(CollectionLinks(pages, collection.looks, one_site), NOW)
    assert model.booster.correction.trees


def test_every_feature_is_known_of_some_page() -> None:
    looks = looks_with(steady_numbers())
    looks = replace(looks, total_words=np.full(len(looks), 50.0))
    features = link_examples(page_rows(), looks).features
    assert features.shape[1] == len(LOOK_FEATURES)
    assert not np.isnan(features).all(axis=0).any()


@pytest.mark.parametrize(
    ("gain", "low", "rule", "reason"),
    [
        (0.5, 0.4, 1.5, "it was better than the default forecast"),
        (-0.1, -0.2, 0.9, "it was worse than the default forecast"),
        (0.0, 0.0, 1.5, "it was exactly as good as the default forecast"),
        (0.5, -0.1, 1.5, "its gain may be chance (the interval reaches 0)"),
        (0.5, 0.4, 0.9, "the rule NNL-Av was better"),
        (0.001, 0.0005, 1.5, "its gain was below 1%"),
    ],
)
def test_the_reason_says_what_decided(gain: float, low: float, rule: float, reason: str) -> None:
    looks = LinkSummary(1, 1, 1, NOW, NOW)
    deviances = {LEARNED_LINKS: 1.0, DEFAULT_LINK_FORECAST: 1.0 + gain, "NNL-Av": rule}
    scores = {name: LinkScores(deviance, 1.0, 0.5) for name, deviance in deviances.items()}
    validation = LinkValidation(looks, scores, gain, low, gain)
    assert validation.reason == f"on later looks that it had not seen, {reason}"
    assert validation.is_better == (gain == 0.5 and low == 0.4 and rule == 1.5)


def test_a_stopped_run_stores_no_model(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        raise StopRequestedError(f"{done} of {total}")

    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        add_link_looks(collection, looks_with(alternating_numbers()))
        with pytest.raises(StopRequestedError):
            collection.learn_links(progress=stop)
    assert not (tmp_path / "c" / "models" / LINK_MODEL_FILE).exists()


@pytest.mark.usefixtures("in_days")
def test_a_collection_learns_stores_and_uses_the_model(tmp_path: Path) -> None:
    folder = tmp_path / "c" / "models"
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        pages = add_link_looks(collection, looks_with(alternating_numbers()))
        before = forecasts(collection, pages, NOW)
        result = collection.learn_links()
        collection.add("https://host1.example/new")
        pages.append(collection.find_page("https://host1.example/new"))
        *after, of_new_page = forecasts(collection, pages, NOW)
    assert result.used
    assert result.model is not None
    scores = result.model.validation.scores
    assert scores[LEARNED_LINKS].deviance < 0.8 * scores[DEFAULT_LINK_FORECAST].deviance
    assert scores[LEARNED_LINKS].auc > 0.95
    assert read_link_model(folder, LOOK_FEATURES) == result.model
    assert not any(item.link_model for item in before)
    assert all("deviance" in item.link_model for item in after)
    assert not of_new_page.link_model
    due, other = sorted(item.horizons[0].new_links for item in after)[::-1]
    assert due > 2 * other
    assert abs(before[0].horizons[0].new_links - before[1].horizons[0].new_links) < 1
    path = folder / LINK_MODEL_FILE
    text = path.read_text("utf-8")
    for altered in ("{}", text[:-100], text.replace('"interval_days": 1', '"interval_days": 2')):
        path.write_text(altered, "utf-8")
        with pytest.raises(BadInputError, match="learn again"):
            read_link_model(folder, LOOK_FEATURES)
        model, problem = choose_link_model(folder)
        assert model is None
        assert "learn again" in problem


def add_link_looks(collection: Collection, looks: MeasuredLooks) -> list[Page]:
    """Add the pages and their looks to an empty collection; return the first two pages."""
    hosts = [f"host{number}.example" for number in HOST_NUMBERS]
    names = [f"https://{host}/{number}" for number, host in enumerate(hosts)]
    new_pages = [
        NewPage(PageKey(name, ""), host, host, f"{host}/")
        for name, host in zip(names, hosts, strict=True)
    ]
    ids = collection.catalog.add_pages(new_pages, from_epoch(float(looks.times[0]))).ids
    columns = zip(looks.pages, looks.times, looks.new_links, strict=True)
    collection.catalog.append_visits([
        VisitEntry(
            Visit(number.to_bytes(16, "big"), ids[page - 1], from_epoch(time), Outcome.OK),
            None if np.isnan(links) else Change(links > 0, new_internal=int(links)),
        )
        for number, (page, time, links) in enumerate(columns)
    ])
    return [collection.find_page(name) for name in names[:2]]
