"""The simulated web is deterministic, and its words change exactly at its change times."""

from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest

from freshet.core.types import Outcome, View
from freshet.record.parsed_visit import ParsedVisit
from freshet.view.formats.feeds import entries as feed_entries
from freshet.view.formats.sitemap import entries as sitemap_entries
from freshet.world.change_processes import DAY
from freshet.world.page_kinds import PAGE_KINDS
from freshet.world.simulated_web import SimulatedWeb
from tests.world.conftest import START, Look


def pages_of(web: SimulatedWeb, kind: str) -> list[int]:
    return [index for index, page in enumerate(web.pages) if page.kind == kind]


def at(web: SimulatedWeb, days: float) -> float:
    return web.span.start + days * DAY


def view(parsed: ParsedVisit) -> View:
    assert parsed.view is not None
    return parsed.view


def undisturbed(web: SimulatedWeb, page: int, epoch: float) -> bool:
    return not web.troubles_at(page, epoch) - {"redesigned"}


def test_about_sixty_pages_on_eight_hosts_show_every_kind(web: SimulatedWeb) -> None:
    assert len(web.hosts) == 8
    assert 55 <= len(web.pages) <= 65
    assert {page.kind for page in web.pages} == set(PAGE_KINDS)


def test_a_web_can_have_any_size() -> None:
    small = SimulatedWeb(seed=7, start=START, days=3)
    large = SimulatedWeb(seed=7, start=START, days=3, copies=20)
    assert len(large.pages) == 20 * len(small.pages)
    assert len({host.name for host in large.hosts}) == 160
    assert small.render(0, at(small, 1), 1).body == large.render(0, at(large, 1), 1).body


def test_the_same_seed_gives_the_same_web_in_any_order(web: SimulatedWeb) -> None:
    again = SimulatedWeb(seed=7, start=START, days=30)
    for page in reversed(range(len(web.pages))):
        answers = [world.render(page, at(world, 12.25), 3) for world in (web, again)]
        assert answers[0] == answers[1]
        np.testing.assert_array_equal(again.change_times(page), web.change_times(page))


def test_another_seed_gives_another_web(web: SimulatedWeb) -> None:
    other = SimulatedWeb(seed=8, start=START, days=30)
    assert other.text(0, at(other, 5)) != web.text(0, at(web, 5))
    assert not np.array_equal(other.change_times(0), web.change_times(0))


def test_change_times_are_sorted_and_count_the_versions(web: SimulatedWeb) -> None:
    for page in range(len(web.pages)):
        times = web.change_times(page)
        assert (np.diff(times) > 0).all()
        assert ((times >= web.span.start) & (times < web.span.end)).all()
        assert [web.version_at(page, t) for t in times] == list(range(1, len(times) + 1))


def test_words_change_at_every_real_change_and_at_no_other_time(web: SimulatedWeb) -> None:
    for page in range(len(web.pages)):
        times = web.change_times(page)
        texts = [web.text(page, t) for t in (web.span.start - 1, *times)]
        assert all(old != new for old, new in pairwise(texts))
        until = [web.text(page, t - 0.001) for t in times]
        assert until == texts[:-1]


def test_a_quiet_page_shows_other_words_exactly_when_its_version_is_another(
    web: SimulatedWeb, look: Look
) -> None:
    moments = [at(web, days) for days in (0.5, 1.1, 2.6, 9.2, 20.4, 28.8)]
    for page, asked in enumerate(web.pages):
        if asked.is_noisy or asked.kind == "script":
            continue
        looks = [(t, look(page, t, 1)) for t in moments if undisturbed(web, page, t)]
        versions = [web.version_at(page, t) for t, _ in looks]
        hashes = [view(parsed).text_hash for _, parsed in looks]
        assert len(set(zip(versions, hashes, strict=True))) == len(set(versions))
        assert len(set(hashes)) == len(set(versions))
        assert all(parsed.outcome is Outcome.OK for _, parsed in looks)


def test_noise_differs_at_every_visit_around_the_same_words(web: SimulatedWeb, look: Look) -> None:
    noisy = [page for page, asked in enumerate(web.pages) if asked.is_noisy]
    assert len(noisy) >= 6
    for page in noisy:
        moment = at(web, 3.3)
        first, second = (view(look(page, moment, visit)) for visit in (1, 2))
        assert first.text_hash != second.text_hash
        for line in web.text(page, moment).splitlines():
            words = " ".join(line.split())
            assert words in " ".join(first.text.split())
            assert words in " ".join(second.text.split())


def test_tokens_differ_in_the_bytes_and_not_in_the_words(web: SimulatedWeb, look: Look) -> None:
    shop = pages_of(web, "shop")[0]
    first, second = (view(look(shop, at(web, 3), visit)) for visit in (1, 2))
    assert first.body_hash != second.body_hash
    assert first.text_hash == second.text_hash


def test_status_and_advertising_pages_have_noise_and_no_change(web: SimulatedWeb) -> None:
    for page in pages_of(web, "status") + pages_of(web, "adverts"):
        assert web.pages[page].is_noisy
        assert len(web.change_times(page)) == 0


def test_a_redesign_changes_the_structure_and_keeps_the_words(
    web: SimulatedWeb, look: Look
) -> None:
    (page,) = pages_of(web, "redesigned")
    (redesign,) = web.episodes(page)
    moments = (redesign.start - 1, redesign.start)
    assert web.version_at(page, moments[0]) == web.version_at(page, moments[1])
    before, after = (view(look(page, t, 1)) for t in moments)
    assert before.structure_hash != after.structure_hash
    assert before.text_hash == after.text_hash
    assert web.change_times(page)[-1] > redesign.start


def test_a_page_is_gone_for_a_while_and_returns_changed(web: SimulatedWeb, look: Look) -> None:
    (page,) = pages_of(web, "returning")
    (gone,) = web.episodes(page)
    assert look(page, gone.start, 1).outcome is Outcome.GONE
    assert look(page, gone.end, 1).outcome is Outcome.OK
    assert web.version_at(page, gone.end) == web.version_at(page, gone.start) + 1
    assert gone.end in web.change_times(page)


def test_a_captcha_is_recognised_as_no_content(web: SimulatedWeb, look: Look) -> None:
    (page,) = pages_of(web, "guarded")
    (captcha,) = web.episodes(page)
    assert look(page, captcha.start - 1, 1).outcome is Outcome.OK
    assert look(page, captcha.start, 1).outcome is Outcome.CAPTCHA
    assert web.render(page, captcha.start, 1).is_error


def test_a_host_is_down_for_a_while(web: SimulatedWeb) -> None:
    page = pages_of(web, "shop")[0]
    (down,) = web.episodes(page)
    answer = web.render(page, down.start, 1)
    assert (answer.status, answer.is_error) == (503, True)
    assert dict(answer.headers)["Retry-After"]
    assert web.render(page, down.end, 1).status == 200


def test_a_page_that_needs_scripts_is_empty_without_them(web: SimulatedWeb, look: Look) -> None:
    (page,) = pages_of(web, "script")
    assert look(page, at(web, 1), 1).outcome is Outcome.EMPTY


def test_a_feed_links_what_its_page_links(web: SimulatedWeb, look: Look) -> None:
    front, feed = web.find_page(0, "/"), web.find_page(0, "/feed.xml")
    assert front is not None
    assert feed is not None
    body = web.render(feed, at(web, 4), 1).body.decode()
    feed_urls = {entry.url for entry in feed_entries(body, "http://herald.example/feed.xml")}
    assert feed_urls
    assert feed_urls <= set(view(look(front, at(web, 4), 1)).links.urls)
    np.testing.assert_array_equal(web.change_times(feed), web.change_times(front))


def test_an_honest_sitemap_says_when_pages_changed_and_a_lying_one_says_today(
    web: SimulatedWeb,
) -> None:
    moment = at(web, 20)
    for host, asked in enumerate(web.hosts):
        text = web.sitemap(host, moment)
        assert (text is None) == (asked.sitemap == "none")
        for entry in sitemap_entries(text, f"{web.origins[host]}/sitemap.xml") if text else ():
            page = web.find_page(host, entry.url.removeprefix(web.origins[host]))
            assert page is not None
            assert entry.lastmod is not None
            truth = web.last_change_time(page, moment) if asked.sitemap == "honest" else moment
            assert entry.lastmod.timestamp() == int(truth)


def test_robots_ask_for_a_delay_and_name_the_sitemap_at_its_origin(web: SimulatedWeb) -> None:
    origins = [f"http://127.0.0.1:{9000 + host}" for host in range(len(web.hosts))]
    texts = [web.robots(host, origins) for host in range(len(web.hosts))]
    assert "Crawl-delay: 1800\n" in texts[2]
    assert "Sitemap: http://127.0.0.1:9000/sitemap.xml" in texts[0]
    assert "Crawl-delay" not in texts[0]
    assert "Sitemap" not in texts[2]


def test_links_to_other_hosts_begin_with_their_origins(web: SimulatedWeb) -> None:
    origins = [f"http://127.0.0.1:{9000 + host}" for host in range(len(web.hosts))]
    bodies = [web.render(page, at(web, 20), 1, origins).body for page in pages_of(web, "blog")]
    assert any(b'href="http://127.0.0.1:90' in body for body in bodies)
    assert not any(b".example" in body for body in bodies)


@pytest.mark.parametrize("kind", ["news", "section", "shop"])
def test_lists_gain_links_as_they_change(web: SimulatedWeb, look: Look, kind: str) -> None:
    page = pages_of(web, kind)[0]
    early, late = (set(view(look(page, at(web, days), 1)).links.urls) for days in (1, 6))
    assert late - early


def test_an_honest_tag_follows_the_version_and_a_lying_one_lags_behind(web: SimulatedWeb) -> None:
    table, blog = pages_of(web, "table")[0], pages_of(web, "blog")[0]
    times = web.change_times(blog)
    tags = [web.render(blog, t, 1).etag for t in (times[1] - 1, times[1], times[2] - 1)]
    assert tags[0] != tags[1] == tags[2]
    times = web.change_times(table)
    false = [web.render(table, t - 1, 1).etag == web.render(table, t, 1).etag for t in times]
    assert np.mean(false) > 0.5
    assert len({web.render(table, t, 1).etag for t in times}) > 3


def test_tags_of_pages_with_noise_are_weak(web: SimulatedWeb) -> None:
    tags = [web.render(page, at(web, 1), 1).etag for page in pages_of(web, "status")]
    assert all(tag is not None and tag.startswith('W/"') for tag in tags)


def test_last_modified_is_the_last_change_or_a_lie(web: SimulatedWeb) -> None:
    blog, news = pages_of(web, "blog")[0], pages_of(web, "news")[0]
    moment = at(web, 25)
    assert web.render(blog, moment, 1).last_modified == int(web.last_change_time(blog, moment))
    assert web.render(news, moment, 1).last_modified == int(moment)
    forum = pages_of(web, "thread")[0]
    assert web.render(forum, moment, 1).last_modified is None


def test_pages_have_the_size_of_pages(web: SimulatedWeb) -> None:
    sizes = [
        len(web.render(page, at(web, 5), 1).body)
        for page, asked in enumerate(web.pages)
        if asked.kind not in {"script", "feed"}
    ]
    assert min(sizes) >= 3_000
    assert max(sizes) <= 30_000


def test_pages_of_one_directory_change_together(web: SimulatedWeb) -> None:
    first, second, *_ = (set(web.change_times(page)) for page in pages_of(web, "table"))
    assert len(first & second) > 0.8 * len(first | second)


def test_a_web_begins_at_an_aware_time() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        SimulatedWeb(seed=1, start=datetime(2026, 1, 5), days=1)  # noqa: DTZ001
    assert SimulatedWeb(seed=1, start=datetime(2026, 1, 5, tzinfo=UTC), days=1).span.end > 0
