"""Redirects: a visit that is led elsewhere stays its page's, and each answer is archived."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from freshet.archive.observation import HttpExchange, Observation
from freshet.collection.collection import Collection
from freshet.core.types import Outcome
from tests.record.record_samples import (
    CLOCK,
    URL,
    bodies,
    delete_visit_rows,
    hop,
    html,
    make_collection,
    marks,
    observe,
    page_facts,
    record,
)

THERE = "https://elsewhere.example/there"
FINAL = "https://elsewhere.example/deep/final"
PRIVATE = "http://10.0.0.1/"
HTTP = HttpExchange(
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"
)
UNCHANGED = HttpExchange(b"HTTP/1.1 304 Not Modified\r\n\r\n")
BOTH = (hop(URL, THERE, b"first"), hop(THERE, FINAL, b"second"))

FOLLOWED = observe(1, html("one", "a"), exchange=HTTP, hops=BOTH, final_url=FINAL)
AGAIN = observe(2, html("one", "a"), exchange=HTTP, hops=BOTH[:1], final_url=THERE)
SAME = replace(
    observe(3, outcome=Outcome.NOT_MODIFIED, exchange=UNCHANGED, hops=BOTH, final_url=FINAL),
    status=304,
)
REFUSED = observe(
    4, outcome=Outcome.REFUSED, why="10.0.0.1 is private", hops=BOTH, final_url=PRIVATE
)
LOOP = observe(5, outcome=Outcome.REDIRECT, why="redirects in a loop", hops=(hop(URL, URL),))
LATE_END = observe(6, outcome=Outcome.TIMEOUT, hops=BOTH[:1], final_url=THERE)
ALL = [FOLLOWED, AGAIN, SAME, REFUSED, LOOP, LATE_END]


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    with make_collection(tmp_path / "c") as opened:
        yield opened


def archived(collection: Collection) -> list[tuple[str, dict[str, Any], bytes]]:
    """Return the records behind the opening ones, as another reader sees them."""
    record = []
    for path in sorted(collection.archive_folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for entry in ArchiveIterator(file, check_digests="raise"):
                content = entry.content_stream().read()
                record.append((entry.rec_type, dict(entry.rec_headers.headers), content))
    return [item for item in record if item[0] != "warcinfo"]


def test_every_answer_of_a_redirected_visit_is_archived(collection: Collection) -> None:
    record(collection, [FOLLOWED])
    records = archived(collection)
    assert [(kind, fields["WARC-Target-URI"]) for kind, fields, _ in records] == [
        ("response", FINAL), ("request", FINAL),
        ("response", URL), ("request", URL), ("metadata", URL),
        ("response", THERE), ("request", THERE), ("metadata", THERE),
    ]  # fmt: skip
    visit, hops = records[0], records[2:]
    assert visit[1]["WARC-Freshet-Page"] == URL
    assert {fields["WARC-Freshet-Visit"] for _, fields, _ in hops} == {visit[1]["WARC-Record-ID"]}
    assert [body for kind, _, body in hops if kind == "response"] == [b"first", b"second"]
    report = collection.check()
    assert (report.is_sound, report.records, report.rows) == (True, 1, 1)


def test_a_redirected_visit_is_one_of_its_page_seen_from_where_it_ended(
    collection: Collection,
) -> None:
    record(collection, [FOLLOWED])
    page = collection.page(URL)
    [row] = page.history()
    assert (row.visit.final_url, row.visit.status, row.visit.why) == (FINAL, 200, "")
    assert [other.url for other in collection.pages()] == [URL]
    assert page.snapshot(1).url == FINAL
    assert [link.url for link in page.view(1).links] == ["https://elsewhere.example/a"]


def test_another_final_address_is_a_fact_of_the_change(collection: Collection) -> None:
    record(collection, [FOLLOWED, AGAIN])
    last = collection.page(URL).history()[-1]
    assert (last.visit.final_url, last.change.moved, last.change.text) == (THERE, True, False)


def test_repeated_bytes_refer_to_the_address_they_first_came_from(
    collection: Collection,
) -> None:
    record(collection, [FOLLOWED], [AGAIN, SAME])
    first, *revisits = [fields for kind, fields, _ in archived(collection)
                        if kind in {"response", "revisit"} and "WARC-Freshet-Page" in fields
                        ]  # fmt: skip
    assert [fields["WARC-Target-URI"] for fields in revisits] == [THERE, FINAL]
    assert revisits[0]["WARC-Refers-To-Target-URI"] == FINAL
    assert revisits[0]["WARC-Refers-To"] == first["WARC-Record-ID"]
    assert revisits[1]["WARC-Refers-To-Target-URI"] == FINAL
    assert revisits[1]["WARC-Refers-To"] == first["WARC-Record-ID"]
    assert bodies(collection) == [html("one", "a")] * 2


@pytest.mark.parametrize("observation", [REFUSED, LOOP, LATE_END])
def test_a_visit_without_a_last_answer_keeps_its_redirects(
    collection: Collection, observation: Observation
) -> None:
    record(collection, [observation])
    [row] = collection.page(URL).history()
    visit = row.visit
    assert (visit.outcome, visit.status, visit.why) == (observation.outcome, 302, observation.why)
    assert visit.final_url == (observation.final_url or None)
    answers = [body for kind, _, body in archived(collection) if kind == "response"]
    assert sorted(answers) == sorted(step.body for step in observation.hops)
    assert collection.page(URL).versions == []
    assert collection.check().is_sound


def test_redirected_visits_whose_rows_a_crash_took_are_adopted_as_they_were(
    collection: Collection,
) -> None:
    record(collection, ALL)
    before = page_facts(collection)
    assert [outcome for outcome, _ in marks(collection)] == [
        Outcome.OK, Outcome.OK, Outcome.NOT_MODIFIED, Outcome.REFUSED, Outcome.REDIRECT,
        Outcome.TIMEOUT,
    ]  # fmt: skip
    delete_visit_rows(collection, [row.visit.id for row in collection.page(URL).history()])
    record(collection, [])
    assert page_facts(collection) == before
    assert [page.url for page in collection.pages()] == [URL]
    assert collection.check().is_sound


def test_an_absurdly_long_address_can_be_read_back(collection: Collection) -> None:
    far = "https://elsewhere.example/" + "%C3%A9" * 30_000
    record(
        collection,
        [
            observe(1, html("one"), exchange=HTTP, hops=(hop(URL, far),), final_url=far),
            observe(2, html("one"), exchange=HTTP, hops=(hop(URL, far),), final_url=far),
            observe(3, outcome=Outcome.REFUSED, hops=(hop(URL, far), hop(far, far)), final_url=far),
        ],
    )
    before = page_facts(collection)
    delete_visit_rows(collection, [row.visit.id for row in collection.page(URL).history()])
    record(collection, [])
    assert page_facts(collection) == before
    assert bodies(collection) == [html("one")] * 2
    assert collection.check().is_sound


def test_our_own_files_imported_elsewhere_tell_the_same(
    collection: Collection, tmp_path: Path
) -> None:
    record(collection, ALL)
    with make_collection(tmp_path / "other") as other:
        imported = other.import_history("warc", collection.archive_folder, source="")
        assert (imported.visits, imported.bad) == (len(ALL), 0)
        assert page_facts(other) == page_facts(collection)
        assert [page.url for page in other.pages()] == [URL]
        assert len(archived(other)) == len(archived(collection))
        assert other.check().is_sound


def test_hops_go_when_their_visit_goes(collection: Collection) -> None:
    record(collection, ALL)
    kept = observe(1, html("kept"), url="https://example.org/kept")
    record(collection, [kept])
    collection.remove([collection.page(URL)], purge=True)
    targets = [fields["WARC-Target-URI"] for _, fields, _ in archived(collection)]
    assert targets == ["https://example.org/kept"]
    assert collection.check().is_sound


def test_thinned_visits_take_their_hops_along(collection: Collection) -> None:
    later = [
        observe(day, html(f"day {day}"), exchange=HTTP, hops=BOTH, final_url=FINAL)
        for day in (1.5, 2)
    ]
    record(collection, [FOLLOWED, *later])
    collection.prune(timedelta(days=1), keep="year", apply=True)
    locations = [row.visit.location for row in collection.page(URL).history()]
    assert [location is None for location in locations] == [False, True, False]
    hops = [fields["WARC-Freshet-Visit"] for _, fields, _ in archived(collection)
            if "WARC-Freshet-Visit" in fields]  # fmt: skip
    assert len(set(hops)) == 2
    assert collection.check().is_sound


def test_a_kill_before_the_hops_were_written_leaves_the_visit(
    collection: Collection,
) -> None:
    record(collection, [FOLLOWED])
    before = page_facts(collection)
    [path] = collection.archive_folder.glob("*.warc.gz")
    location = collection.page(URL).history()[0].visit.location
    delete_visit_rows(collection, [1])
    content = path.read_bytes()[: location.offset + location.length + 9]
    path.unlink()
    path.with_name(path.name + ".open").write_bytes(content)
    collection.close()
    with Collection.open(collection.path, clock=CLOCK) as again:
        record(again, [])
        assert page_facts(again) == before
        assert again.check().is_sound
