"""Masks as a crawl learns them, and as a person edits them."""

from pathlib import Path
from random import Random

import pytest

from freshet.collection.collection import Collection
from freshet.collection.masks import add_mask_rules, mask_rule_effects, remove_mask_rules
from freshet.core.errors import NotFoundError, SettingsError
from freshet.core.types import Change, Outcome
from freshet.crawl.noise import (
    NoiseLearner,
    NoiseTrigger,
    _looks,
    _rows_to_learn,
    learn_and_keep_mask,
    learned_mask,
    why_too_large_to_learn,
)
from freshet.measure.noise import learning_limits
from freshet.measure.noise.mask_learning import learn_mask
from freshet.record.change_criteria import page_mask, save_mask
from freshet.record.remeasure_pages import remeasure_pages
from tests.record.record_samples import URL, make_collection, observe, record

TREES = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "nut"]
STANDING = "".join(f"<p>Paragraph {n} of a page that stands as it is.</p>" for n in "abcdef")


def page_with(counter: str, more: str = "") -> bytes:
    body = f"<h1>Harbour</h1>{STANDING}{more}<footer>{counter}</footer>"
    return f"<html><title>t</title><body>{body}</body></html>".encode()


def counted(number: int, more: str = "") -> bytes:
    return page_with(f"You are visitor number {81434 + 37 * number} of this harbour", more)


def watch(collection: Collection, numbers: range) -> list[int]:
    """Record visits hours apart as a crawl does; return those after which a mask was learnt."""
    watching, learnt = NoiseLearner(collection), []
    with collection.recording() as recorder:
        for number in numbers:
            batch = recorder.record([observe(number / 5, counted(number))])
            if watching.learn_from(batch.recorded_visits):
                recorder.clear_cache()
                learnt.append(number)
    return learnt


def changes(collection: Collection) -> list[bool]:
    return [row.change.changed for row in collection.page(URL).history() if row.change]


def test_a_counter_is_learnt_within_ten_visits_and_hides_nothing_else(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        assert len(watch(collection, range(10))) == 1
        page = collection.page(URL)
        (rule,) = page_mask(collection, page).rules
        assert (rule.what, rule.by) == ("You are visitor number # of this harbour", "learnt")
        assert not any(changes(collection))
        record(collection, [observe(11, counted(11, "<p>The ferry runs again on Sundays.</p>"))])
        assert changes(collection)[-1]


def test_visits_so_far_are_measured_again_when_a_mask_is_learnt(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        watch(collection, range(10))
        masks = {row.change.mask for row in collection.page(URL).history() if row.change}
        assert masks == {1}


def test_what_was_seen_before_a_restart_counts(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, *([observe(number / 5, counted(number))] for number in range(7)))
        assert watch(collection, range(7, 10)) != []


CHANGED, SAME, HIDDEN = Change(True, text=True), Change(False, text=False), Change(False, text=True)


def tries(looks: list[Change]) -> list[int]:
    """Return after which looks a page's noise is looked into."""
    trigger, found = NoiseTrigger(), []
    for number, look in enumerate(looks, 1):
        trigger.add_look(look)
        found += [number] if trigger.is_learning_due() else []
    return found


def test_a_page_that_changes_at_every_other_look_is_left_alone() -> None:
    assert tries([CHANGED, SAME] * 20) == []


def test_a_restless_page_is_looked_into_ever_less_often() -> None:
    assert tries([CHANGED] * 59) == [4, 6, 9, 13, 19, 28, 42, 58]


def test_a_page_is_not_looked_into_at_a_look_that_found_nothing() -> None:
    assert tries([CHANGED] * 3 + [SAME, CHANGED, SAME] * 2) == [5]


def test_a_mask_is_checked_every_few_looks_and_when_the_page_comes_to_rest() -> None:
    trigger, checks = NoiseTrigger(), []
    for number, look in enumerate([*[HIDDEN] * 16, *[SAME] * 12], 1):
        trigger.add_look(look)
        checks += [number] if trigger.is_check_due() else []
    assert checks == [1, 7, 13, 20, 25]


def test_what_a_person_takes_out_is_never_learnt_again(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        watch(collection, range(10))
        page = collection.page(URL)
        mask = remove_mask_rules(collection, page, ["1"])
        assert (mask.rules, mask.never) == ((), ("You are visitor number # of this harbour",))
        assert learned_mask(collection, page, learn_mask) is None
        add_mask_rules(collection, page, mask.never)
        again = page_mask(collection, page)
        assert ([rule.by for rule in again.rules], again.never) == (["hand"], ())


def test_rules_tell_what_they_hide_now(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(0, counted(0))])
        page = collection.page(URL)
        mask = add_mask_rules(
            collection, page, ["visitor number #", "/html/body/footer", "no such text"]
        )
        assert [(row.hits, row.sample) for row in mask_rule_effects(page, mask)] == [
            (1, "visitor number 81434"),
            (1, "You are visitor number 81434 of this harbour"),
            (0, ""),
        ]


def test_a_rule_that_is_not_there_cannot_be_taken_out(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(0, counted(0))])
        page = collection.page(URL)
        with pytest.raises(NotFoundError, match="has no rule '3'"):
            remove_mask_rules(collection, page, ["3"])
        with pytest.raises(SettingsError, match="hides the whole of every page"):
            add_mask_rules(collection, page, ["*"])
        assert page_mask(collection, page).version == 0


def test_a_mask_of_a_page_without_versions_hides_nothing_yet(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        page = collection.add(URL)
        mask = add_mask_rules(collection, page, ["seen # times"])
        assert [row.hits for row in mask_rule_effects(page, mask)] == [0]
        assert save_mask(collection, page, mask, after=0) is None
        again = save_mask(collection, page, mask, after=1)
        assert again is not None
        assert again.version == 2


def slots(number: int, counter: int) -> bytes:
    """Return a page with a counter, and an advertisement that becomes news at the 30th visit."""
    news = "THE HARBOUR IS CLOSED until the spring of next year, said the master"
    drawn = " ".join(
        Random(number).choices(["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "nut"], k=5)
    )
    advert = f"{news if number >= 30 else drawn} now"
    return page_with(f"You are visitor number {counter} here", f"<p>Advertisement: {advert}!</p>")


def watch_slots(collection: Collection, numbers: range, counted_until: int) -> None:
    """Record visits to that page as one crawl does; its counter stops at some visit."""
    watching = NoiseLearner(collection)
    with collection.recording() as recorder:
        for number in numbers:
            counter = 4000 + 31 * min(number, counted_until)
            batch = recorder.record([observe(number / 5, slots(number, counter))])
            recorder.discard_states(watching.learn_from(batch.recorded_visits))


@pytest.mark.parametrize("counts_on", [True, False], ids=["the counter counts on", "all rests"])
def test_a_change_in_a_masked_part_is_reported_once_it_persists(
    tmp_path: Path, counts_on: bool
) -> None:
    with make_collection(tmp_path / "c") as collection:
        watch_slots(collection, range(60), counted_until=60 if counts_on else 30)
        found = changes(collection)
        assert not any(found[12:29])
        assert sum(found[29:]) == 1
        mask = page_mask(collection, collection.page(URL))
        exceptions = [line for rule in mask.rules for line in rule.but]
        assert sum("THE HARBOUR IS CLOSED" in line for line in exceptions) == 1


def test_a_page_that_is_removed_meanwhile_does_not_stop_learning(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        watching = NoiseLearner(collection)
        with collection.recording() as recorder:
            for number in range(10):
                batch = recorder.record([observe(number / 5, counted(number))])
                collection.remove([collection.page(URL, removed=True)])
                recorder.discard_states(watching.learn_from(batch.recorded_visits))
        page = collection.page(URL, removed=True)
        assert len(page_mask(collection, page).rules) == 1


def test_looks_answered_with_not_modified_show_what_the_one_before_did(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(0, counted(0)), observe(1, outcome=Outcome.NOT_MODIFIED)])
        page = collection.page(URL)
        first, second = _looks(page, _rows_to_learn(collection, page, 0), {})
        assert (first.view.text, second.time - first.time) == (second.view.text, 86_400)


def test_what_a_person_hides_while_a_crawl_learns_is_not_lost(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, *([observe(number / 5, counted(number))] for number in range(10)))
        page = collection.page(URL)
        learnt = learned_mask(collection, page, learn_mask)
        assert learnt is not None
        add_mask_rules(collection, page, ["Paragraph a *"])
        assert save_mask(collection, page, learnt, after=learnt.version - 1) is None
        assert [rule.by for rule in page_mask(collection, page).rules] == ["hand"]
        assert [rule.by for rule in (learn_and_keep_mask(collection, page) or learnt).rules] == [
            "hand",
            "learnt",
        ]


def test_looks_answered_with_not_modified_carry_the_version_of_the_mask(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(0, counted(0))])
        add_mask_rules(collection, collection.page(URL), ["visitor number #"])
        record(collection, [observe(1, outcome=Outcome.NOT_MODIFIED)])
        last = collection.page(URL).history()[-1].change
        assert last is not None
        assert (last.changed, last.mask) == (False, 1)


def test_what_a_mask_leaves_out_is_no_word_of_the_pages_history(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, *([observe(number / 5, counted(number))] for number in range(10)))
        page = collection.page(URL)
        assert len({terms.hashes.tobytes() for terms in page.series().terms}) == 10
        add_mask_rules(collection, page, ["visitor number #"])
        assert len({terms.hashes.tobytes() for terms in page.series().terms}) == 1
        add_mask_rules(collection, page, ["/html/body/footer"])
        assert len({terms.hashes.tobytes() for terms in page.series().terms}) == 1


def test_a_damaged_record_does_not_stop_learning(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, *([observe(number / 5, counted(number))] for number in range(4)))
        location = collection.page(URL).versions[1].row.visit.location
        assert location is not None
        file = collection.archive_folder / location.file
        content = bytearray(file.read_bytes())
        content[location.offset + 40 : location.offset + 60] = bytes(20)
        file.write_bytes(content)
        assert len(watch(collection, range(4, 14))) == 1
        assert page_mask(collection, collection.page(URL)).rules


def test_a_change_that_persisted_before_a_restart_is_reported_after_it(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        watch_slots(collection, range(32), counted_until=30)
        watch_slots(collection, range(32, 44), counted_until=30)
        assert sum(changes(collection)[29:]) == 1


@pytest.mark.parametrize(
    ("padding", "why"),
    [
        (f"<!--{' ' * learning_limits.MAX_BYTES}-->", " bytes, more than 2,000,000"),
        ("<p>Still.</p>" * learning_limits.MAX_LINES, " lines, more than 4,000"),
    ],
    ids=["bytes", "lines"],
)
def test_a_page_that_is_too_large_is_not_learnt_from_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, padding: str, why: str
) -> None:
    with make_collection(tmp_path / "c") as collection:
        watching = NoiseLearner(collection)
        with collection.recording() as recorder, caplog.at_level("INFO"):
            for number in range(5):
                batch = recorder.record([observe(number / 5, counted(number, padding))])
                assert not watching.learn_from(batch.recorded_visits)
        page = collection.page(URL)
        assert page_mask(collection, page).rules == ()
        said = why_too_large_to_learn(collection, page)
        assert said.endswith(why)
    assert f"the noise of {URL} is not learned: it has {said}" in caplog.text


def test_only_the_latest_visits_of_a_large_history_are_measured_again(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, *([observe(day, counted(day))] for day in range(10)))
        page = collection.page(URL)
        add_mask_rules(collection, page, ["visitor number #"])
        size = len(counted(9))
        assert remeasure_pages(collection, [page], max_bytes=3 * size + size // 2) == 3
        assert changes(collection) == [True] * 6 + [False] * 3
        assert remeasure_pages(collection, [page], max_bytes=100 * size) == 9
        assert not any(changes(collection))
