"""The forecast of posts is trained on a collection's own threads, tested, stored, and used."""

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.core.errors import StopRequestedError
from freshet.crawl.forecast import forecasts
from freshet.crawl.live_policy import build_live_policy
from freshet.crawl.plan import CrawlPreview
from freshet.crawl.threads.post_model import LivePostModel, choose_post_model
from freshet.learning.post_model.examples import WatchedThread, post_examples
from freshet.predict.change_model import DEFAULT_FORECAST, LEARNED
from freshet.predict.threads.rate_model import pooled_hazard
from freshet.record.models.post_model_file import POST_MODEL_FILE, read_post_model
from freshet.schedule.threads.timeliness_policy import TimelinessPolicy
from tests.learning.post_model.thread_looks import HOUR, NOW, THREADS, URLS, add_threads


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with Collection.create(tmp_path / "c", contact="me@example.org") as opened:
        opened.clock = FixedClock(NOW)
        yield opened


def watched(posts: list[float], found: list[float], looks: list[float]) -> WatchedThread:
    """Return a thread with times in hours."""
    hours = (HOUR * np.array(times) for times in (posts, found, looks))
    return WatchedThread(*hours, site=1)


def test_a_look_finds_a_post_that_is_later_than_the_look_before() -> None:
    thread = watched([0.5, 1.5, 0.7, 6.2], [1, 2, 5, 7], [1, 2, 3, 5, 7])
    examples = post_examples([thread])
    assert (examples.times / HOUR).tolist() == [2, 3, 5, 7]
    # The look after five hours found a post that is older than the look before it.
    assert examples.has_post.tolist() == [True, False, False, True]
    assert examples.summary().changes == 2


def test_a_model_knows_only_posts_that_were_found() -> None:
    thread = watched([0.5, 1.5, 9.0], [1, 2, 3], [1, 2, 3])
    assert thread.known_posts(0.9 * HOUR) is None
    known = [thread.known_posts(hours * HOUR) for hours in (1, 2, 3)]
    assert [len(posts) for posts in known if posts is not None] == [1, 2, 3]
    # A time ahead of the look counts as the look.
    assert known[2] is not None
    assert known[2].times[-1] == 180.0


def test_looks_within_a_minute_are_one() -> None:
    assert len(post_examples([watched([0.5], [1], [1, 1.01, 2])])) == 1


def test_a_collection_learns_its_threads_and_uses_the_model(collection: Collection) -> None:
    add_threads(collection)
    page = collection.find_page(URLS[0])
    (before,) = forecasts(collection, [page], NOW)
    result = collection.learn_posts()
    assert result.used, result.why
    assert result.model is not None
    scores = result.model.validation.scores
    assert scores[LEARNED].log_loss < 0.75 * scores[DEFAULT_FORECAST].log_loss
    assert (result.model.trained.pages, result.model.posts) == (THREADS, 571)
    stored = read_post_model(collection.path / "models")
    assert stored is not None
    assert (stored.validation, stored.title) == (result.model.validation, result.model.title)
    (after,) = forecasts(collection, [page], NOW)
    assert not before.post_model
    assert after.post_model == result.model.title
    assert before.next_post is not None
    assert after.next_post is not None
    # Posts come every eight hours: the shipped model expects bursts and long silences.
    assert after.next_post.high is not None
    assert after.next_post.high - NOW < timedelta(hours=10)
    assert before.next_post.high is None or before.next_post.high > after.next_post.high


def test_plan_and_crawl_have_the_curves_of_the_learned_model(collection: Collection) -> None:
    (page, *_) = add_threads(collection)
    collection.learn_posts()
    settings = collection.planning_settings("timeliness")
    live = LivePostModel(collection.models_folder, NOW)
    policies = [
        CrawlPreview(collection, settings).policy,
        build_live_policy(collection.catalog, settings, now=NOW, hazard=live.hazard),
        build_live_policy(collection.catalog, settings, now=NOW),
    ]
    posts = [
        policy.explain(page, NOW + timedelta(hours=5)).waiting_posts
        for policy in policies
        if isinstance(policy, TimelinessPolicy)
    ]
    assert posts[0] == pytest.approx(posts[1])
    assert posts[0] != pytest.approx(posts[2], rel=0.05)


def test_a_running_crawl_takes_a_new_model_within_the_hour(collection: Collection) -> None:
    live = LivePostModel(collection.models_folder, NOW)
    assert live.hazard is pooled_hazard()
    add_threads(collection)
    collection.learn_posts()
    assert not live.refresh_if_due(NOW + timedelta(minutes=59))
    assert live.refresh_if_due(NOW + timedelta(minutes=60))
    assert live.hazard is not pooled_hazard()
    assert not live.refresh_if_due(NOW + timedelta(minutes=120))


def test_too_few_posts_are_told_and_nothing_is_stored(collection: Collection) -> None:
    assert collection.learn_posts().why == "there are 0 posts in 0 threads; 300 in 5 are needed"
    add_threads(collection, threads=4)
    result = collection.learn_posts()
    assert result.why == "there are 288 posts in 4 threads; 300 in 5 are needed"
    assert (result.model, result.used) == (None, False)
    assert not (collection.path / "models" / POST_MODEL_FILE).exists()


def test_a_damaged_model_is_not_used_and_the_reason_is_told(collection: Collection) -> None:
    add_threads(collection)
    collection.learn_posts()
    path = collection.path / "models" / POST_MODEL_FILE
    path.write_text(path.read_text().replace('"base":', '"vase":'))
    choice = choose_post_model(collection.models_folder)
    assert choice.hazard is pooled_hazard()
    assert "damaged or edited" in choice.problem
    (forecast,) = forecasts(collection, [collection.find_page(URLS[0])], NOW)
    assert "damaged or edited" in forecast.post_problem


def test_a_stopped_run_stores_no_model(collection: Collection) -> None:
    def stop(done: int, total: int) -> None:
        raise StopRequestedError(f"{done} of {total}")

    add_threads(collection)
    with pytest.raises(StopRequestedError):
        collection.learn_posts(progress=stop)
    assert not (collection.path / "models" / POST_MODEL_FILE).exists()
