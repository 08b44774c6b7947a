"""Tables come in, once, with their bad rows named; and go out again."""

import csv
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from warcio.archiveiterator import ArchiveIterator

from freshet.collection.collection import Collection
from freshet.core.errors import BadInputError

CSV = "page,time,changed,new_links\nhttps://a.org/,2024-01-01,0,\nhttps://a.org/,2024-01-02,1,3\n"
WORDS = "<p>The river rose in spring and the fields were green again that year, {}.</p>"


def test_observations_of_a_csv_file_come_in_once(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text(CSV)
    first = collection.import_history("csv", tmp_path / "seen.csv")
    again = collection.import_history("csv", tmp_path / "seen.csv")
    assert (first.visits, again.visits, again.already_there) == (2, 0, 2)
    changes = [row.change for row in collection.page("https://a.org/").history()]
    assert [(change.changed, change.new_external) for change in changes] == [
        (False, None),
        (True, 3),
    ]


def test_a_bad_row_is_named_and_the_others_are_kept(collection: Collection, tmp_path: Path) -> None:
    lines = CSV + "https://a.org/,yesterday,1,\n,2024-01-03,1,\nhttps://a.org/,2024-01-04,1,\n"
    (tmp_path / "seen.csv").write_text(lines)
    done = collection.import_history("csv", tmp_path / "seen.csv")
    assert (done.visits, done.bad) == (3, 2)
    assert [row.place for row in done.bad_rows] == ["seen.csv, line 4", "seen.csv, line 5"]
    assert len(collection.catalog.bad_rows(1)) == 2
    assert collection.catalog.imports()[0].counts == {"visits": 3, "known": 0, "bad": 2}


def test_an_input_that_breaks_off_keeps_what_came_before(
    collection: Collection, tmp_path: Path
) -> None:
    rows = [f"https://a.org/,{second},1,\n" for second in range(50_000)]
    packed = gzip.compress(("page,time,changed,new_links\n" + "".join(rows)).encode())
    (tmp_path / "seen.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(BadInputError, match="everything before that was"):
        collection.import_history("csv", tmp_path / "seen.csv.gz")
    kept = collection.catalog.counts().visits
    assert kept % 2_000 != 0
    assert collection.catalog.imports()[0].finished is None
    (tmp_path / "seen.csv.gz").write_bytes(packed)
    done = collection.import_history("csv", tmp_path / "seen.csv.gz")
    assert (done.visits, done.already_there) == (50_000 - kept, kept)


def test_the_three_files_of_bing_come_in_once(collection: Collection, tmp_path: Path) -> None:
    (tmp_path / "urlid_offset_history.txt").write_text("5\t5.5\t[[1.5, 0], [1.0, 1]]\n")
    (tmp_path / "url_urlid_hostid.txt").write_text("http://a.org/\t5\t1\n")
    (tmp_path / "urlid_imp.txt").write_text("5\t0.5\n")
    first, again = (collection.import_history("bing", tmp_path) for _ in range(2))
    assert (first.visits, again.visits) == (3, 0)
    page = collection.page("http://a.org/")
    assert [row.change and row.change.changed for row in page.history()] == [None, False, True]
    assert collection.settings_for(page).importance == 0.5


def versions(path: Path, count: int) -> Path:
    pl.DataFrame({
        "source": ["shop"] * count,
        "page": [f"https://a.org/{number % 2}" for number in range(count)],
        "time": [datetime(2024, 1, 1 + number, tzinfo=UTC) for number in range(count)],
        "html": [WORDS.format(f"in {number // 4}").encode() for number in range(count)],
        "kind": ["html"] * count,
        "commit": [str(number) for number in range(count)],
    }).write_parquet(path)  # fmt: skip
    return path


def test_versions_of_a_parquet_file_come_in_once(collection: Collection, tmp_path: Path) -> None:
    path = versions(tmp_path / "versions_shop.parquet", 8)
    first, again = (collection.import_history("parquet", path) for _ in range(2))
    assert (first.visits, again.visits) == (8, 0)
    page = collection.page("https://a.org/1", source="shop")
    assert [v.row.change and v.row.change.changed for v in page.versions] == [
        None,
        False,
        True,
        False,
    ]
    assert page.snapshot(2).body == WORDS.format("in 0").encode()
    assert collection.check().is_sound


def test_what_is_exported_as_csv_comes_in_again(collection: Collection, tmp_path: Path) -> None:
    collection.import_history("parquet", versions(tmp_path / "versions_shop.parquet", 8))
    assert collection.export("csv", tmp_path / "out.csv", source="shop") == 6
    done = collection.import_history("csv", tmp_path / "out.csv", source="copy")
    assert (done.visits, done.bad) == (6, 0)
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["changed"] for row in rows] == ["0", "1", "0"] * 2
    for url in ("https://a.org/0", "https://a.org/1"):
        kept = collection.page(url, source="shop").history()[1:]
        copied = collection.page(url, source="copy").history()
        assert [(row.visit.time, row.change.changed) for row in copied] == [
            (row.visit.time, row.change.changed) for row in kept
        ]


def test_parquet_columns_are_those_of_common_crawl(collection: Collection, tmp_path: Path) -> None:
    collection.import_history("parquet", versions(tmp_path / "versions_shop.parquet", 8))
    collection.export("parquet", tmp_path / "out.parquet")
    collection.export("changes", tmp_path / "changes.parquet")
    visits, changes = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("out", "changes"))
    assert visits["url_host_name"].unique().to_list() == ["a.org"]
    assert visits["fetch_status"].unique().to_list() == [200]
    assert visits["revisit"].sum() == 4
    assert (len(visits), len(changes), changes["changed"].sum()) == (8, 6, 2)


def assert_that_offsets_lead_to_records(collection: Collection, index: Path) -> None:
    for line in index.read_text().splitlines():
        _, stamp, fields = line.split(" ", 2)
        entry = json.loads(fields)
        with (collection.archive_folder / entry["filename"]).open("rb") as file:
            file.seek(int(entry["offset"]))
            record = next(ArchiveIterator(file))
        date = record.rec_headers.get_header("WARC-Date")
        assert record.rec_headers.get_header("WARC-Target-URI") == entry["url"]
        assert "".join(letter for letter in date[:19] if letter.isdigit()) == stamp
        assert (record.rec_type == "revisit") == (entry["mime"] == "warc/revisit")


def test_offsets_of_the_cdxj_index_lead_to_the_records(
    collection: Collection, tmp_path: Path
) -> None:
    collection.import_history("parquet", versions(tmp_path / "versions_shop.parquet", 8))
    assert collection.export("cdxj", tmp_path / "out.cdxj") == 8
    assert_that_offsets_lead_to_records(collection, tmp_path / "out.cdxj")


def test_an_index_tells_revisits_also_where_visits_came_late(
    collection: Collection, tmp_path: Path
) -> None:
    path = versions(tmp_path / "versions_shop.parquet", 4)
    rows = pl.read_parquet(path)
    for number in reversed(range(4)):
        rows[number : number + 1].write_parquet(path)
        collection.import_history("parquet", path)
    assert collection.export("cdxj", tmp_path / "out.cdxj") == 4
    assert_that_offsets_lead_to_records(collection, tmp_path / "out.cdxj")
