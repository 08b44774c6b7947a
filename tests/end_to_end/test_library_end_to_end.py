"""The library does what the commands do, and its pages go into every verb."""

from pathlib import Path

import polars as pl
import pytest

import freshet
from freshet.collection.collection import Collection
from freshet.core.errors import NotFoundError
from freshet.core.types import Change
from tests.record.record_samples import URL, html, observe, record

OTHER = "https://example.org/other"


def test_a_collection_is_made_and_opened(tmp_path: Path) -> None:
    with freshet.create(tmp_path / "c", contact="a@example.org") as made:
        made.add(URL)
    with freshet.open(tmp_path / "c") as opened:
        assert [page.url for page in opened.pages()] == [URL]


def test_pages_found_one_by_one_and_together_are_the_same(collection: Collection) -> None:
    added = collection.add(URL, tags=("front",))
    assert [added] == list(collection.pages()) == [collection.page(URL)]
    assert (added.url, added.source, added.tags) == (URL, "", ("front",))
    record(collection, [observe(1, html("one")), observe(2, html("two"))])
    for page in collection.pages():
        assert len(page.history()) == len(page.versions) == 2
        assert page.view().links is not None
        assert page.difference().change.changed


def test_every_verb_takes_the_pages_that_were_found(collection: Collection) -> None:
    record(collection, [observe(1, html("one")), observe(2, html("two"))])
    pages = list(collection.pages())
    collection.pause(pages)
    collection.tag("front", pages)
    assert [(page.paused, page.tags) for page in collection.pages()] == [(True, ("front",))]
    collection.resume(pages)
    collection.untag("front", pages)
    assert list(collection.pages()) == pages
    assert collection.measure_again(pages) == 1
    collection.remove(pages)
    assert list(collection.pages()) == []


def test_settings_of_a_page_are_listed_with_their_origin(collection: Collection) -> None:
    page = collection.add(URL, tags=("front",))
    collection.change_settings("front", [("importance", 2.0)])
    collection.change_settings(page, [("counts_as", "links")])
    found = {row.name: (row.value, row.origin) for row in collection.resolved_settings(page)}
    assert found["importance"] == (2.0, "tag front")
    assert found["counts_as"] == ("links", "page")
    assert found["proxy"][1] == "default"


def test_a_collection_lists_its_settings_with_their_defaults(collection: Collection) -> None:
    rows = {row.name: row for row in collection.setting_rows()}
    assert rows["contact"].value == collection.settings.contact != rows["contact"].default
    assert rows["limits.body_bytes"].value == rows["limits.body_bytes"].default
    assert all(row.meaning for row in rows.values())


def test_a_rule_that_is_removed_from_a_mask_stays_removed(collection: Collection) -> None:
    page = collection.add(URL)
    collection.hide(page, ["seen # times", "/html/body/aside"])
    mask = collection.unhide(page, ["seen # times"])
    assert [rule.what for rule in mask.rules] == ["/html/body/aside"]
    assert mask.never == ("seen # times",)
    assert collection.unhide(page, ["1"]).rules == ()
    assert collection.mask(page).never == ("seen # times", "/html/body/aside")
    with pytest.raises(NotFoundError):
        collection.unhide(page, ["1"])


def test_a_page_is_shown_with_the_selected_parts(collection: Collection) -> None:
    record(collection, [observe(1, html("one", "a")), observe(2, html("two", "b"))])
    page = collection.page(URL)
    assert collection.show(page).text is None
    found = collection.show(page, 1, parts=("links",))
    assert (found.version, found.versions, found.visits) == (1, 2, 2)
    assert [link.url for link in found.links or ()] == ["https://example.org/a"]


def test_totals_are_counted_only_for_as_many_pages_as_wanted(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.add_many([f"https://example.org/{number}" for number in range(9)])
    counted: list[str] = []
    summaries = collection.catalog.page_totals

    def watched(pages):
        return summaries(counted.append(page.url) or page for page in pages)

    monkeypatch.setattr(collection.catalog, "page_totals", watched)
    assert len(collection.summaries(limit=2)) == len(counted) == 2


def test_changed_pages_are_listed_by_their_last_change(collection: Collection) -> None:
    for url, days in ((URL, (1, 2)), (OTHER, (1, 3)), ("https://example.org/same", (1,))):
        record(collection, [observe(day, html(str(day)), url=url) for day in days])
    found = collection.summaries(changed=True)
    assert [row.page.url for row in found] == [OTHER, URL]
    assert collection.summaries(changed=True, limit=1) == found[:1]


def test_an_import_is_recorded_with_its_number_source_and_bad_rows(
    collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "seen.csv").write_text(f"page,time,changed\n{URL},2024-01-01,0\n{URL},never,1\n")
    done = collection.import_history("csv", tmp_path / "seen.csv")
    [kept] = collection.status().imports
    assert (kept.id, kept.source) == (done.number, "seen")
    assert collection.page(URL).source == "seen"
    assert collection.bad_rows(done.number) == done.bad_rows
    with pytest.raises(NotFoundError, match="there is no import 9"):
        collection.bad_rows(9)


def test_links_that_came_and_went_are_named_wherever_changes_are_read(
    collection: Collection, tmp_path: Path
) -> None:
    record(collection, [observe(1, html("one", "a", "b")), observe(2, html("two", "b", "c"))])
    change = collection.page(URL).history()[-1].change
    assert change is not None
    assert change.new_links == ("https://example.org/c",)
    assert change.removed_links == ("https://example.org/a",)
    collection.export("changes", tmp_path / "changes.parquet")
    row = pl.read_parquet(tmp_path / "changes.parquet").row(-1, named=True)
    assert (row["new_links"], row["removed_links"]) == (
        ["https://example.org/c"],
        ["https://example.org/a"],
    )


def test_links_that_were_not_compared_are_not_reported_as_none(
    collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "seen.csv").write_text(f"page,time,changed\n{URL},2024-01-01,1\n")
    collection.import_history("csv", tmp_path / "seen.csv")
    collection.export("changes", tmp_path / "changes.parquet")
    assert pl.read_parquet(tmp_path / "changes.parquet")["new_links"].to_list() == [None]
    assert Change(True).new_link_count is None


def test_pages_beside_another_writer_are_counted_right(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_pages = collection.catalog.add_pages

    def beside(items, now):
        with freshet.open(collection.path) as other:
            other.add(OTHER)
        return add_pages(items, now)

    monkeypatch.setattr(collection.catalog, "add_pages", beside)
    added = collection.add_many([URL, OTHER])
    assert (added.new, added.known) == (1, 1)


def test_a_removed_page_is_found_only_on_request(collection: Collection) -> None:
    page = collection.add(URL)
    collection.remove([page])
    for source in (None, ""):
        with pytest.raises(NotFoundError, match="freshet add"):
            collection.page(URL, source=source)
    assert collection.page(URL, removed=True) == page
    assert collection.add(URL) == page
