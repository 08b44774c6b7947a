"""A collection that is kept fresh by a formula or a learned model: planned, crawled, explained."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from freshet.collection.collection import Collection
from freshet.collection.doctor import run_doctor
from freshet.core.clock import FixedClock
from freshet.core.errors import BadInputError, SettingsError, UsageError
from freshet.core.tables import HostCaps, PageTable
from freshet.crawl.fetch_job import FetchJob
from freshet.crawl.live_policy import page_table, visit_table, warm_up_policy
from freshet.crawl.session import CrawlSession
from freshet.schedule.policies import make_policy as make_policy
from tests.crawl.crawl_samples import NOON, SOON, fetched_page, url
from tests.record.record_samples import NOW, START, URL, html, make_collection, observe, record
from tests.schedule.test_model_file import MODEL

DAYS_AGO = (NOW - START) / timedelta(days=1)
PAGES = 12
A_DAY = 5
EVENING = NOON.replace(hour=23, minute=59)


def opened_with(folder: Path, policy: str) -> Collection:
    """Make a collection and open it with that policy set."""
    make_collection(folder).close()
    set_policy(folder, policy)
    return Collection.open(folder, clock=FixedClock(NOW))


def set_policy(folder: Path, policy: str) -> None:
    file = folder / "freshet.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("policy")]
    file.write_text("\n".join([f"policy = '''{policy}'''", *lines]))


def looks(collection: Collection, *texts: str, address: str = URL) -> None:
    """Record a look a day, the last one a day ago."""
    days = range(-len(texts), 0)
    record(
        collection,
        [observe(DAYS_AGO + d, html(t), url=address) for d, t in zip(days, texts, strict=True)],
    )


def test_a_plan_goes_by_the_formula_and_names_it(tmp_path: Path) -> None:
    with opened_with(tmp_path / "c", "0-t*X") as collection:
        calm, busy = "https://calm.example/", "https://busy.example/"
        looks(collection, "a", "a", "a", address=calm)
        looks(collection, "a", "b", "c", address=busy)
        plan = collection.plan()
    assert plan.policy == "0 - t * X"
    assert [choice.page.url for choice in plan.choices] == [calm, busy]
    assert plan.choices[0].value > plan.choices[1].value


def test_why_shows_the_formula_its_names_and_the_score(tmp_path: Path) -> None:
    with opened_with(tmp_path / "c", "t*(X+.5)") as collection:
        looks(collection, "a", "b", "b", "c")
        found = collection.why(collection.page(URL))
    lines = dict(found.lines())
    assert lines["formula"] == "t * (X + 0.5)"
    assert lines["where"] == "X = 2, t = 1"
    assert lines["score"] == "2.5"
    assert lines["value"].startswith("100 of 100")
    assert lines["plan"] == "without an objective, by t * (X + 0.5)"
    assert found.explanation.reckoning.names == {"X": 2.0, "t": 1.0}


def test_a_page_never_seen_comes_first_whatever_the_formula_gives(tmp_path: Path) -> None:
    with opened_with(tmp_path / "c", "1e30 * t") as collection:
        looks(collection, "a", "b")
        collection.add("https://new.example/")
        [first, _] = collection.plan().choices
    assert (first.page.url, first.reason) == ("https://new.example/", "nothing seen yet")


def test_a_collection_by_formula_still_has_forecasts(tmp_path: Path) -> None:
    with opened_with(tmp_path / "c", "t * X") as collection:
        looks(collection, "a", "b", "b")
        assert 0 < collection.page(URL).forecast().horizons[3].changed < 1


def test_a_model_is_found_from_the_collection_wherever_the_command_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_collection(tmp_path / "c") as collection:
        MODEL.save(collection.path / "models" / "news.json")
    set_policy(tmp_path / "c", "models/news.json")
    monkeypatch.chdir(tmp_path)
    with Collection.open(Path("c"), clock=FixedClock(NOW)) as collection:
        monkeypatch.chdir("/")
        looks(collection, "a", "b")
        assert collection.plan().policy == "news"
        why = dict(collection.why(collection.page(URL)).lines())
    assert why["formula"] == str(MODEL.formula)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("t * (X", "setting policy: formula 't * (X', character 7: ')' is missing"),
        ("t * Y", "'Y' is unknown"),
        ('__import__("os").system("true")', "cannot read"),
        ("t" + "*t" * 50_000, "shorten it"),
        ("((((((", "something is missing"),
    ],
)
def test_a_wrong_formula_is_refused_by_whatever_plans(
    tmp_path: Path, policy: str, said: str
) -> None:
    with opened_with(tmp_path / "c", policy) as collection:
        page = collection.add(URL)
        for planning in (
            collection.plan,
            lambda: collection.why(page),
            lambda: warm_up_policy(collection.settings, NOW),
        ):
            with pytest.raises(UsageError, match="setting policy") as refused:
                planning()
            assert said in str(refused.value)
            assert len(str(refused.value)) < 500
        assert collection.page(URL).forecast().looks == 0


def test_a_misspelt_policy_is_refused_where_the_settings_are_read(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"policy must be one of guarded-freshness, .* a formula"
    ):
        opened_with(tmp_path / "c", "nutsch")


@pytest.mark.parametrize("content", [None, "", "{}", '{"format": "freshet-model"'])
def test_a_missing_or_damaged_model_is_refused_by_plans_and_reported_by_doctor(
    tmp_path: Path, content: str | None
) -> None:
    with opened_with(tmp_path / "c", "models/news.json") as collection:
        if content is not None:
            (collection.path / "models" / "news.json").write_text(content)
        with pytest.raises(BadInputError, match=r"setting policy: .*models/news\.json: "):
            collection.plan()
        assert list(collection.pages()) == []
    [told] = [finding for finding in run_doctor(tmp_path / "c") if finding.what == "policy"]
    assert not told.fine
    assert "models/news.json" in told.found


def test_another_objective_is_planned_for_without_the_formula(tmp_path: Path) -> None:
    with opened_with(tmp_path / "c", "t * X") as collection:
        assert collection.plan(objective="changes").policy == "guarded-changes"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Collection.create(tmp_path / "c", contact="me@example.org") as collection:
        collection.add_many([url(number) for number in range(PAGES)])
    set_policy(tmp_path / "c", "t * (X + 0.01) + CG")
    with (tmp_path / "c" / "freshet.toml").open("a") as file:
        file.write("\n[rounds]\nshare = 0.0\n")
    return tmp_path / "c"


@contextmanager
def crawling(folder: Path, clock: FixedClock, budget: int) -> Iterator[CrawlSession]:
    opened = Collection.open(folder, clock=clock)
    with opened as collection, collection.recording() as recorder:
        session = CrawlSession(collection, recorder, budget=f"{budget}/day", catch_up=True)
        session.start()
        yield session


def a_day(session: CrawlSession, clock: FixedClock) -> list[int]:
    """Draw what the day has room for, bring it, and return the pages in their order."""
    jobs = session.draw_jobs(clock.now() + SOON, PAGES, HostCaps()).jobs
    session.record_observations([
        fetched_page(item, clock.now(), text_of(item, clock)) for item in jobs
    ])
    return [job.page for job in jobs]


def text_of(job: FetchJob, clock: FixedClock) -> str:
    """Return what a page says on a day: every third one changes daily, the next weekly."""
    day = (clock.now() - NOON).days
    every = {0: 1, 1: 7}.get(job.page % 3, 10_000)
    return f"word{day // every}"


def live_days(folder: Path, *lives: int) -> list[list[int]]:
    """Crawl two days with room for all pages, then lives of so many days with room for a few."""
    visited: list[list[int]] = []
    clock = FixedClock(EVENING)
    for number, days in enumerate((2, *lives)):
        with crawling(folder, clock, A_DAY if number else PAGES) as session:
            for _ in range(days):
                visited.append(a_day(session, clock))
                clock.at += timedelta(days=1)
    return visited


def known_pages(collection: Collection) -> PageTable:
    [table] = [page_table(batch, {}, 1.0) for batch in collection.catalog.live_page_columns()]
    return table


@pytest.mark.parametrize("text", ["t * (X + 0.01) + CG", "0 - NAD", "pow(t, GAD) / (n + 1)"])
def test_the_live_crawl_and_the_simulators_policy_choose_alike(folder: Path, text: str) -> None:
    """The visits of a live crawl, told to a policy as the simulator makes it, day by day."""
    set_policy(folder, text)
    visited = live_days(folder, 10)
    assert [len(day) for day in visited] == [PAGES, PAGES, *[A_DAY] * 10]
    with Collection.open(folder) as collection:
        replayed = make_policy(text)
        replayed.add(known_pages(collection))
        rows = [row for page in collection.pages() for row in page.history()]
    clock = FixedClock(EVENING)
    for day in visited:
        assert replayed.choose(clock.now(), len(day), HostCaps()).pages.tolist() == day
        log = [(row.visit, row.change) for row in rows if row.visit.time == clock.now()]
        replayed.learn(visit_table(log))
        clock.at += timedelta(days=1)


def test_a_crawl_by_formula_goes_on_after_restarts_as_if_there_had_been_none(
    folder: Path, tmp_path: Path
) -> None:
    twin = tmp_path / "twin"
    with Collection.create(twin, contact="me@example.org") as collection:
        collection.add_many([url(number) for number in range(PAGES)])
    (twin / "freshet.toml").write_text((folder / "freshet.toml").read_text())
    without = live_days(folder, 7)
    assert live_days(twin, 2, 1, 2, 2) == without


def test_a_formula_changed_between_two_lives_learns_the_same_visits(folder: Path) -> None:
    live_days(folder, 4)
    set_policy(folder, "NAD * t")
    with Collection.open(folder, clock=FixedClock(NOON + timedelta(days=6))) as collection:
        pages = list(collection.pages())
        found = [collection.why(page).explanation for page in pages]
        seen = [sum(row.change is not None for row in page.history()) for page in pages]
        changed = [sum(bool(r.change and r.change.changed) for r in p.history()) for p in pages]
    assert [item.looks for item in found] == seen
    shares = np.divide(changed, seen)
    assert [item.reckoning.names["NAD"] for item in found] == pytest.approx(shares.tolist())
    assert {item.reckoning.formula for item in found} == {"NAD * t"}
