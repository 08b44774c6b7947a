"""Import of real histories; collected only if FRESHET_DATA names their folder."""

import os
from itertools import islice
from pathlib import Path

import polars as pl

from freshet.archive.importers import parquet, warc
from freshet.archive.observation import Observation
from freshet.core.types import BadRow

DATA = Path(os.environ["FRESHET_DATA"])


def test_every_version_of_a_part_is_imported_once() -> None:
    reader = parquet.read(DATA / "pages" / "versions_ota_france_snap.parquet")
    imported = list(reader)
    assert len({item.uid for item in imported}) == len(imported) == reader.total == 1597
    assert {item.source for item in imported} == {"ota_france_snap"}


def test_a_folder_counts_all_versions() -> None:
    reader = parquet.read(DATA / "pages")
    assert reader.total == 121_801
    assert all(isinstance(item, Observation) for item in islice(reader, 2_000))


def test_observations_report_as_many_changes_as_the_file() -> None:
    path = DATA / "pages" / "observations.parquet"
    expected = pl.scan_parquet(path).head(100_000).select(pl.col("changed").sum()).collect().item()
    imported = islice(parquet.read(path), 100_000)
    assert sum(item.change.changed for item in imported) == expected


def test_the_list_of_pages_is_skipped() -> None:
    assert list(parquet.read(DATA / "pages" / "pages.parquet")) == []


def test_captures_of_other_programs_have_their_companions() -> None:
    imported = list(warc.read(DATA / "conformance" / "warc" / "resiliparse" / "warcfile.warc.gz"))
    assert len(imported) == 16
    assert not any(isinstance(item, BadRow) for item in imported)
    assert sum(len(item.companion_records) for item in imported) == 32


def test_arc_files_are_imported_like_warc_files() -> None:
    (imported,) = warc.read(DATA / "conformance" / "warc" / "warcio" / "example.arc.gz")
    assert (imported.url, imported.status) == ("http://example.com/", 200)
