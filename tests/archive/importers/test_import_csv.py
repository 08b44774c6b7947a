"""Import of observations from CSV files."""

import gzip
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.importers import csv
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Change, Outcome

HEADER = "page,time,changed,new_links\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "prices.csv"


def items(file: Path, text: str | bytes) -> list[Observation | BadRow]:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(csv.read(file))


def observations(file: Path, text: str | bytes) -> list[Observation]:
    items_read = items(file, text)
    assert all(isinstance(item, Observation) for item in items_read), items_read
    return [item for item in items_read if isinstance(item, Observation)]


def test_a_row_is_a_reported_visit_with_its_change(file: Path) -> None:
    (observation,) = observations(file, HEADER + "https://a.org/,2024-05-01T10:00:00Z,1,3\n")
    assert observation.url == "https://a.org/"
    assert observation.source == "prices"
    assert observation.time == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert observation.outcome is Outcome.REPORTED
    assert observation.change == Change(True, links=True, new_external=3)
    assert observation.snapshot is None


def test_columns_may_be_in_any_order_and_unknown_ones_are_noted_once(file: Path) -> None:
    file.write_text("title,changed,page,time\nx,0,a,0\ny,1,a,86400\n")
    reader = csv.read(file)
    assert [item.change.changed for item in reader] == [False, True]
    assert reader.notes == ["prices.csv: ignored columns title"]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_header_shows_the_delimiter(file: Path, mark: str) -> None:
    text = mark.join(["page", "time", "changed"]) + "\n" + mark.join(["a", "0", "yes"]) + "\n"
    assert observations(file, text)[0].change == Change(True)


@pytest.mark.parametrize(
    "time",
    [
        "2024-01-01",
        "2024-01-01T00:00:00",
        "2024-01-01T01:00:00+01:00",
        "1704067200",
        "1704067200.0",
        "20240101",
        "20240101000000",
        "20240101T000000Z",
    ],
)
def test_times_are_iso_or_epoch_and_in_utc_by_default(file: Path, time: str) -> None:
    (observation,) = observations(file, f"{HEADER}a,{time},0,\n")
    assert observation.time == datetime(2024, 1, 1, tzinfo=UTC)
    assert observation.time.tzinfo is UTC


@pytest.mark.parametrize("seconds", [0, 86400, 20241301, 19700230, 99999999, 1704067200])
def test_digits_that_form_no_date_are_epoch_seconds(file: Path, seconds: int) -> None:
    (observation,) = observations(file, f"{HEADER}a,{seconds},0,\n")
    assert observation.time == datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (",0,0,", "page is empty"),
        ("a,noon,0,", "time 'noon' is neither ISO 8601 nor epoch seconds"),
        ("a,1e400,0,", "time '1e400' is neither ISO 8601 nor epoch seconds"),
        ("a,1700000000000,0,", "time '1700000000000' is neither ISO 8601 nor epoch seconds"),
        ("a,20240101250000,0,", "time '20240101250000' is neither ISO 8601 nor epoch seconds"),
        ("a,0,perhaps,", "changed 'perhaps' is none of 0, 1, true, false, yes, no"),
        ("a,0,1,many", "new_links 'many' is not a whole number"),
        ("a,0,1,-2", "new_links '-2' is not a whole number"),
        (
            "a,0,1,99999999999999999999",
            "new_links '99999999999999999999' is more than 1,000,000,000",
        ),
        ("a,0,1,1000000001", "new_links '1000000001' is more than 1,000,000,000"),
        ("a,0", "has 2 columns where the header has 4"),
    ],
)
def test_a_bad_row_is_named_and_reading_goes_on(file: Path, row: str, why: str) -> None:
    before, bad, after = items(file, f"{HEADER}a,0,0,\n{row}\nb,0,1,\n")
    assert isinstance(before, Observation)
    assert bad == BadRow("prices.csv, line 3", why)
    assert isinstance(after, Observation)


def test_a_row_that_is_not_utf_8_is_a_bad_row(file: Path) -> None:
    bad, good = items(file, HEADER.encode() + b"caf\xe9,0,0,\n" + "café,0,0,\n".encode())
    assert isinstance(bad, BadRow)
    assert isinstance(good, Observation)
    assert good.url == "café"


def test_a_quote_that_never_closes_is_a_bad_row(file: Path) -> None:
    good, bad = items(file, HEADER + 'a,0,0,\n"b,0,0,\n')
    assert isinstance(good, Observation)
    assert isinstance(bad, BadRow)


def test_a_field_over_the_limit_is_a_bad_row_and_reading_goes_on(file: Path) -> None:
    bad, good = items(file, f"{HEADER}{'a' * 200_000},0,0,\nb,0,0,\n")
    assert isinstance(bad, BadRow)
    assert isinstance(good, Observation)


def test_quoted_fields_may_hold_delimiters_and_line_ends(file: Path) -> None:
    text = 'page,time,changed,title\n"a,b",0,1,"two\nlines"\nc,0,0,\n'
    assert [observation.url for observation in observations(file, text)] == ["a,b", "c"]


def test_gzip_and_a_byte_order_mark_are_removed(file: Path) -> None:
    packed = gzip.compress(b"\xef\xbb\xbf" + (HEADER + "a,0,1,2\n").encode())
    assert [observation.url for observation in observations(file, packed)] == ["a"]


def test_a_cut_gzip_file_is_refused_after_its_good_rows(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv.gz"
    rows = "".join(f"page{n},{n},1,\n" for n in range(20_000))
    file.write_bytes(gzip.compress((HEADER + rows).encode())[:-20_000])
    reader = iter(csv.read(file))
    assert isinstance(next(reader), Observation)
    with pytest.raises(BadInputError, match="is damaged or incomplete"):
        list(reader)


def test_a_header_without_a_needed_column_is_refused(file: Path) -> None:
    with pytest.raises(
        BadInputError, match="names no column changed; it must name page, time, changed"
    ):
        items(file, "page,time\na,0\n")


def test_an_empty_file_and_a_missing_one_are_refused(file: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be opened"):
        csv.read(file)
    with pytest.raises(BadInputError, match="names no column page, time, changed"):
        items(file, "")


def test_reading_again_gives_the_same_uids_and_other_rows_give_others(file: Path) -> None:
    text = HEADER + "a,0,0,\na,1,0,\nb,0,0,\n"
    first = [observation.uid for observation in observations(file, text)]
    assert [observation.uid for observation in csv.read(file)] == first
    assert len(set(first)) == 3
    assert all(len(uid) == 16 for uid in first)
    assert not set(first) & {observation.uid for observation in csv.read(file, source="other")}


def test_progress_reaches_the_size_of_the_file(file: Path) -> None:
    file.write_text(HEADER + "a,0,0,\n" * 100)
    reader = csv.read(file)
    for _ in reader:
        assert 0 < reader.done <= reader.total
    assert reader.done == reader.total == file.stat().st_size


@given(st.binary(max_size=300))
def test_no_bytes_after_the_header_break_the_reader(tmp_path_factory, rest: bytes) -> None:
    file = tmp_path_factory.mktemp("any") / "any.csv"
    file.write_bytes(HEADER.encode() + rest)
    for item in csv.read(file):
        assert isinstance(item, Observation | BadRow)


def test_a_stray_quote_costs_only_its_own_line(file: Path) -> None:
    good = "".join(f"https://a.org/{number},2024-01-01,1,\n" for number in range(10_000))
    items_read = items(file, f'{HEADER}"https://a.org/,2024-01-01,1,\n{good}')
    bad, *good_items = items_read
    assert isinstance(bad, BadRow)
    assert bad.place == "prices.csv, line 2"
    assert len(good_items) == 10_000
    assert good_items[-1].place == "prices.csv, line 10002"


def test_a_field_may_hold_lines_where_its_quotes_are_closed(file: Path) -> None:
    text = 'page,time,changed,title\na,0,1,"two\nlines"\nb,0,1,x\n'
    assert [item.place for item in observations(file, text)] == [
        "prices.csv, line 2",
        "prices.csv, line 4",
    ]


@pytest.mark.parametrize("name", ["x" * 140_000, '"x"y', '"x'])
def test_a_header_with_odd_quotes_or_endless_names_is_read_or_refused(
    file: Path, name: str
) -> None:
    file.write_text(f"page,time,changed,{name}\na,0,1,x\n")
    with suppress(BadInputError):
        assert len(list(csv.read(file))) == 1


def test_a_field_beyond_the_limit_is_a_bad_row(file: Path) -> None:
    bad, good = items(file, f"{HEADER}{'x' * 140_000},0,1,\na,0,1,\n")
    assert isinstance(good, Observation)
    assert "field larger than field limit" in bad.why
