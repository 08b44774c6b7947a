"""The importers on real histories; collected only where FRESHET_DATA names their folder."""

import os
from itertools import islice
from pathlib import Path

import polars as pl

from freshet.archive.importers import parquet, warc
from freshet.archive.observation import Observation
from freshet.core.types import BadRow

DATA = Path(os.environ["FRESHET_DATA"])


def test_every_version_of_a_part_arrives_once() -> None:
    reader = parquet.read(DATA / "pages" / "versions_ota_france_snap.parquet")
    found = list(reader)
    assert len({item.uid for item in found}) == len(found) == reader.total == 1597
    assert {item.source for item in found} == {"ota_france_snap"}


def test_a_folder_counts_all_versions() -> None:
    reader = parquet.read(DATA / "pages")
    assert reader.total == 121_801
    assert all(isinstance(item, Observation) for item in islice(reader, 2_000))


def test_observations_tell_as_many_changes_as_the_file() -> None:
    path = DATA / "pages" / "observations.parquet"
    expected = pl.scan_parquet(path).head(100_000).select(pl.col("changed").sum()).collect().item()
    found = islice(parquet.read(path), 100_000)
    assert sum(item.change.changed for item in found) == expected


def test_the_list_of_pages_is_skipped() -> None:
    assert list(parquet.read(DATA / "pages" / "pages.parquet")) == []


def test_captures_of_other_programs_arrive_with_their_companions() -> None:
    found = list(warc.read(DATA / "conformance" / "warc" / "resiliparse" / "warcfile.warc.gz"))
    assert len(found) == 16
    assert not any(isinstance(item, BadRow) for item in found)
    assert sum(len(item.companion_records) for item in found) == 32


def test_arc_files_arrive_like_warc_files() -> None:
    (found,) = warc.read(DATA / "conformance" / "warc" / "warcio" / "example.arc.gz")
    assert (found.url, found.status) == ("http://example.com/", 200)
