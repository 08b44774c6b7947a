from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from freshet.core.errors import SettingsError
from freshet.measure.noise.mask import Mask, MaskRule
from freshet.record.change_criteria import encode_mask, parse_mask
from freshet.record.remeasure_pages import remeasure_pages
from tests.record.record_samples import CLOCK, NOW, URL, html, make_collection, observe, record

TICKING = [observe(day, html(f"seen {day} times")) for day in range(3)]
NEWS = observe(3, html("seen 3 times, and the bridge is open again"))


def facts(collection: object) -> list[tuple[bool, bool | None, int]]:
    rows = collection.page(URL).history()  # type: ignore[attr-defined]
    return [(row.change.changed, row.change.text, row.change.mask) for row in rows if row.change]


def test_what_a_mask_hides_is_no_change_and_lasting_text_still_is(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, TICKING[:1])
        page = collection.catalog.pages_with_url(URL)[0]
        assert (
            collection.catalog.add_mask_version(page.id, {"patterns": ["seen # times"]}, NOW) == 1
        )
        record(collection, TICKING[1:], [NEWS])
        assert facts(collection) == [(False, True, 1), (False, True, 1), (True, True, 1)]


def test_old_rows_come_under_a_mask_only_when_measured_again(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, TICKING)
        assert facts(collection) == [(True, True, 0), (True, True, 0)]
        page = collection.catalog.pages_with_url(URL)[0]
        collection.catalog.add_mask_version(page.id, {"patterns": ["seen # times"]}, NOW)
        assert facts(collection) == [(True, True, 0), (True, True, 0)]
        remeasure_pages(collection, [page])
        assert facts(collection) == [(False, True, 1), (False, True, 1)]


@pytest.mark.parametrize("counts_as", ["words:2", "significant"])
def test_a_mask_holds_for_words_that_are_counted(tmp_path: Path, counts_as: str) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, TICKING[:1])
        page = collection.catalog.pages_with_url(URL)[0]
        collection.catalog.add_mask_version(page.id, {"patterns": ["seen # times"]}, NOW)
        collection.catalog.set_page_settings(page.id, {"counts_as": counts_as})
        record(collection, TICKING[1:], [NEWS])
        assert [changed for changed, _, _ in facts(collection)][:2] == [False, False]


def test_every_version_of_a_mask_is_kept_and_the_latest_counts(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, TICKING[:1])
        page = collection.catalog.pages_with_url(URL)[0]
        collection.catalog.add_mask_version(page.id, {"patterns": ["a"]}, NOW)
        assert collection.catalog.add_mask_version(page.id, {"patterns": ["b"]}, NOW) == 2
        assert collection.catalog.latest_masks([page.id])[page.id].body == {"patterns": ["b"]}


ASIDE = {"rules": [{"what": "/html[0]/body[0]/aside[0]"}]}


def advertising(day: int, news: str = "") -> bytes:
    return html(news).replace(b"</body>", f"<aside>Buy {day} lamps</aside></body>".encode())


def test_a_mask_of_paths_holds_in_a_crawl_and_when_measured_again(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(day, advertising(day)) for day in range(2)])
        page = collection.catalog.pages_with_url(URL)[0]
        collection.catalog.add_mask_version(page.id, ASIDE, NOW)
        later = [observe(day, advertising(day)) for day in (2, 3)]
        record(collection, later, [observe(4, advertising(4, "the bridge is open"))])
        assert [changed for changed, _, _ in facts(collection)] == [True, False, False, True]
        remeasure_pages(collection, [page])
        assert [changed for changed, _, _ in facts(collection)] == [False, False, False, True]


def test_a_mask_of_paths_holds_for_visits_that_come_late(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(0, advertising(0))])
        page = collection.catalog.pages_with_url(URL)[0]
        collection.catalog.add_mask_version(page.id, ASIDE, NOW)
        record(collection, [observe(9, advertising(9))], [observe(5, advertising(5))])
        assert [changed for changed, _, _ in facts(collection)] == [False, False]


def test_a_mask_of_paths_holds_after_the_collection_was_closed(tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as collection:
        record(collection, [observe(0, advertising(0))])
        page = collection.catalog.pages_with_url(URL)[0]
        collection.catalog.add_mask_version(page.id, ASIDE, NOW)
    with Collection.open(tmp_path / "c", clock=CLOCK) as collection:
        record(collection, [observe(1, advertising(1))])
        assert [changed for changed, _, _ in facts(collection)] == [False]


def test_a_mask_is_read_as_it_was_written() -> None:
    mask = Mask(
        7, (MaskRule("seen # times"), MaskRule("/html/body/aside", "learnt", "it differs")), ("a",)
    )
    assert parse_mask(7, encode_mask(mask)) == mask


def test_a_mask_with_a_bad_rule_says_what_to_do() -> None:
    with pytest.raises(SettingsError, match="hides the whole of every page"):
        parse_mask(1, {"rules": [{"what": "/html/body"}]})
