"""Import of the Bing crawl histories."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.archive.importers import bing
from freshet.archive.observation import Observation
from freshet.core.errors import BadInputError
from freshet.core.types import BadRow, Outcome

URLS = {5: "http://a.org/", 6: "http://a.org/b", 9: "http://c.org/"}
HISTORY = "5\t5.5\t[[1.5, 0], [1.0, 1]]\n6\t0.0\t[]\n9\t1\t[[2, 1]]\n"


def write(folder: Path, history: str = HISTORY, order: list[int] | None = None) -> Path:
    ids = list(URLS) if order is None else order
    (folder / "urlid_offset_history.txt").write_text(history)
    (folder / "url_urlid_hostid.txt").write_text("".join(f"{URLS[n]}\t{n}\t1\n" for n in ids))
    (folder / "urlid_imp.txt").write_text("".join(f"{n}\t{n / 10}\n" for n in ids))
    return folder


def test_the_first_crawl_is_the_reference_and_later_ones_report_changes(tmp_path: Path) -> None:
    first, second, third, *_ = bing.read(write(tmp_path))
    assert first.url == "http://a.org/"
    assert first.change is None
    assert first.time == datetime(2017, 6, 6, 12, tzinfo=UTC)
    assert second.time == datetime(2017, 6, 8, tzinfo=UTC)
    assert [item.change.changed for item in (second, third)] == [False, True]
    assert {item.outcome for item in (first, second, third)} == {Outcome.REPORTED}
    assert {item.importance for item in (first, second, third)} == {0.5}


def test_the_common_start_and_the_source_can_be_given(tmp_path: Path) -> None:
    start = datetime(2020, 1, 1, tzinfo=UTC)
    first, *_ = bing.read(write(tmp_path), source="mine", start=start)
    assert (first.source, first.time) == ("mine", datetime(2020, 1, 6, 12, tzinfo=UTC))


@given(order=st.permutations(list(URLS)), lines=st.permutations(HISTORY.splitlines()))
def test_the_order_of_the_files_does_not_matter(tmp_path_factory, order, lines) -> None:
    sorted_folder, folder = tmp_path_factory.mktemp("sorted"), tmp_path_factory.mktemp("any")
    shuffled = bing.read(write(folder, "\n".join(lines) + "\n", order))
    expected = set(bing.read(write(sorted_folder)))
    assert set(shuffled) == expected
    assert len(expected) == 6


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("7\t0\t[[1, 1]]", "page 7 has no URL in url_urlid_hostid"),
        ("5\t0", "has 2 columns instead of 3"),
        ("x\t0\t[]", "id 'x' is not a whole number"),
        ("5\t0\t[[1, 1], [2", "history '[[1, 1], [2' is not a JSON list"),
        ("5\t0\t[[1, 2]]", "crawl [1, 2] is not"),
        ("5\t0\t[[-1, 1]]", "crawl [-1, 1] is not"),
        ("5\t0\t[[1e999, 1]]", "crawl [inf, 1] is not"),
        ("5\t1e300\t[]", "1e+300 days after the start is out of range"),
        ("5\t1e8\t[]", "1e+08 days after the start is out of range"),
        ("5\tnan\t[]", "days until the first crawl 'nan' is not a number"),
        (f"{10**30}\t0\t[]", "is beyond 9223372036854775807"),
        ("5\t0\t[3]", "crawl 3 is not"),
        ("5\t0\t[[1, []]]", "crawl [1, []] is not"),
        ("5\t0\t[[NaN, 1]]", "crawl [nan, 1] is not"),
        (f"5\t0\t[[{10**400}, 1]]", "000 is not [days since the previous, 0 or 1]"),
        ("5\tsoon\t[]", "days until the first crawl 'soon' is not a number"),
        ("5\t0\t{}", "history '{}' is not a JSON list"),
        ("5\t0\t" + "[" * 100_000, "is not a JSON list"),
    ],
)
def test_a_bad_history_is_named_and_reading_goes_on(tmp_path: Path, row: str, why: str) -> None:
    bad, good = bing.read(write(tmp_path, f"{row}\n6\t0.0\t[]\n"))
    assert isinstance(bad, BadRow)
    assert bad.place == "urlid_offset_history.txt, line 1"
    assert why in bad.why
    assert isinstance(good, Observation)


def test_a_bad_line_of_the_other_files_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "urlid_imp.txt").write_text("5\t0.5\nsix\t1\n9\t0.9\n")
    urls = tmp_path / "url_urlid_hostid.txt"
    urls.write_text("http://b.org/\n" + urls.read_text())
    bad = {item for item in bing.read(tmp_path) if isinstance(item, BadRow)}
    assert bad == {
        BadRow("urlid_imp.txt, line 2", "id 'six' is not a whole number"),
        BadRow("url_urlid_hostid.txt, line 1", "has 1 columns; at least 2 are needed"),
    }


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0", "1e999", "much"])
def test_a_bad_importance_is_named_and_its_page_has_none(tmp_path: Path, value: str) -> None:
    write(tmp_path)
    (tmp_path / "urlid_imp.txt").write_text(f"5\t0.5\n6\t{value}\n9\t0.9\n")
    items = list(bing.read(tmp_path))
    assert [item.place for item in items if isinstance(item, BadRow)] == ["urlid_imp.txt, line 2"]
    observations = [item for item in items if isinstance(item, Observation)]
    assert {item.importance for item in observations if item.url == URLS[6]} == {None}
    assert len(observations) == 6


def test_an_id_beyond_64_bits_is_named_when_the_files_are_indexed(tmp_path: Path) -> None:
    write(tmp_path, order=[9, 5, 6])
    with (tmp_path / "url_urlid_hostid.txt").open("a") as file:
        file.write(f"http://d.org/\t{10**30}\t1\n")
    assert len([item for item in bing.read(tmp_path) if isinstance(item, Observation)]) == 6


def test_gzip_and_tsv_names_are_found(tmp_path: Path) -> None:
    write(tmp_path)
    history = tmp_path / "urlid_offset_history.txt"
    (tmp_path / "urlid_offset_history.tsv.gz").write_bytes(gzip.compress(history.read_bytes()))
    history.unlink()
    reader = bing.read(tmp_path)
    assert len(list(reader)) == 6
    assert reader.done == reader.total


def test_a_folder_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"there is no urlid_offset_history\.txt"):
        bing.read(tmp_path)
