"""The contract of exporters: all rows, the same each time, and a complete file or none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from freshet.collection.exports import EXPORT_WRITERS
from freshet.core.errors import BadInputError, FreshetError, UsageError
from tests.record.record_samples import html, make_collection, observe, record

every_exporter = pytest.mark.parametrize("kind", sorted(EXPORT_WRITERS))


class Broken(Collection):
    """A collection whose pages cannot all be read."""

    def pages(self, *, tag: str | None = None, source: str | None = None) -> Iterator:
        """Yield the first page, then fail."""
        yield next(super().pages(tag=tag, source=source))
        raise BadInputError("the rest is gone; look for it")


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with make_collection(tmp_path_factory.mktemp("export") / "c") as collection_to_export:
        for source in ("", "shop"):
            texts = ("one", "one", "two", "three")
            visits = [observe(day, html(text), source=source) for day, text in enumerate(texts)]
            record(collection_to_export, visits)
        yield collection_to_export


@every_exporter
def test_every_row_is_of_one_source(kind: str, collection: Collection, tmp_path: Path) -> None:
    parts = [collection.export(kind, tmp_path / "part", source=source) for source in ("", "shop")]
    assert collection.export(kind, tmp_path / "all") == sum(parts)
    assert all(parts)


@every_exporter
def test_the_same_collection_gives_the_same_file(
    kind: str, collection: Collection, tmp_path: Path
) -> None:
    for name in ("first", "again"):
        collection.export(kind, tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "again").read_bytes()


@every_exporter
def test_an_empty_collection_gives_a_file_without_rows(kind: str, tmp_path: Path) -> None:
    with make_collection(tmp_path / "c") as empty:
        assert empty.export(kind, tmp_path / "file") == 0
    assert (tmp_path / "file").is_file()


@every_exporter
def test_a_file_that_cannot_be_finished_leaves_what_was_there(
    kind: str, collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"before")
    with Broken.open(collection.path) as broken, pytest.raises(BadInputError):
        broken.export(kind, tmp_path / "file")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"before")]


@every_exporter
def test_a_place_that_cannot_be_written_is_a_clear_error(
    kind: str, collection: Collection, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        collection.export(kind, tmp_path)
    with pytest.raises(FreshetError, match="nowhere"):
        collection.export(kind, tmp_path / "nowhere" / "file")
