"""Traces saved as folders: complete, memory-mapped, and rejected if damaged."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freshet.backtest.site_wide_days import SiteWideDay, SiteWideDays
from freshet.backtest.trace import ChangeTimes, Trace
from freshet.backtest.trace_formats.saved_trace import open_saved_trace, save_trace
from freshet.core.errors import BadInputError, NoSpaceError, UsageError
from tests.backtest.traces import by_chance, drawn, in_groups, lines_of


@pytest.fixture
def trace() -> Trace:
    """A trace of thirteen pages with links, change times of the first page and a site-wide day."""
    plain = in_groups(by_chance(13, 9, seed=1))
    starts = np.array([0] + [2] * 13, np.int64)
    return replace(
        plain,
        new_links=np.arange(9 * 13, dtype=np.uint16).reshape(9, 13),
        change_times=ChangeTimes(starts, np.array([3600.0, 90_000.0])),
        site_wide_days=SiteWideDays((SiteWideDay("example.org", 20_000, 21, 20),)),
    )


def relabel(folder: Path, **changes: object) -> None:
    """Change what a folder says of its trace."""
    file = folder / "trace.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def cut(path: Path) -> None:
    """Take away the last bytes of a file."""
    path.write_bytes(path.read_bytes()[:-3])


def alter(path: Path) -> None:
    """Change the last byte of a file."""
    body = bytearray(path.read_bytes())
    body[-1] ^= 1
    path.write_bytes(body)


def break_header(path: Path) -> None:
    """Change the bracket that closes the shape in a column's header."""
    path.write_bytes(path.read_bytes().replace(b",), }", b",z, }", 1))


def weigh(folder: Path, importance: float) -> None:
    """Let the first page have an importance."""
    column = np.load(folder / "importance.npy")
    column[0] = importance
    np.save(folder / "importance.npy", column)


def retime(folder: Path, name: str, number: float) -> None:
    """Let the last entry of a column of change times be another number."""
    column = np.load(folder / f"{name}.npy")
    column[-1] = number
    np.save(folder / f"{name}.npy", column)


def zip_up(path: Path) -> None:
    """Put a zipped column in the place of a plain one."""
    column = np.load(path)
    with path.open("wb") as file:
        np.savez(file, column)


def test_a_saved_trace_is_opened_unchanged(trace: Trace, tmp_path: Path) -> None:
    save_trace(trace, tmp_path / "saved")
    opened = open_saved_trace(tmp_path / "saved")
    assert (opened.name, opened.cycles, len(opened.pages)) == ("groups", 9, 13)
    assert lines_of(opened) == lines_of(trace)
    for column in ("ids", "hosts", "sites", "directories", "importance", "known_since"):
        assert np.array_equal(getattr(opened.pages, column), getattr(trace.pages, column))
    assert np.array_equal(opened.new_links, trace.new_links)
    assert opened.digest == trace.digest
    assert opened.change_times is not None
    assert opened.change_times.times.tolist() == [3600.0, 90_000.0]
    assert opened.site_wide_days == trace.site_wide_days
    assert list(tmp_path.iterdir()) == [tmp_path / "saved"]


def test_a_trace_without_links_has_none_when_opened(tmp_path: Path) -> None:
    save_trace(drawn("x.?", "..x"), tmp_path / "saved")
    assert open_saved_trace(tmp_path / "saved").new_links is None


def test_columns_are_mapped_and_cannot_be_written(trace: Trace, tmp_path: Path) -> None:
    save_trace(trace, tmp_path / "saved")
    bits = open_saved_trace(tmp_path / "saved").changed_bits
    assert isinstance(bits.base, np.memmap)
    assert not bits.flags.writeable


def test_a_folder_that_is_there_is_left_alone(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("dear")
    for existing_folder in (tmp_path, tmp_path / "mine"):
        with pytest.raises(UsageError, match="exists already"):
            save_trace(trace, existing_folder)
    assert (tmp_path / "mine").read_text() == "dear"


def test_a_folder_appears_only_when_it_is_whole(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(NoSpaceError, match="No space left"):
        save_trace(trace, tmp_path / "saved")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused(trace: Trace, tmp_path: Path) -> None:
    with pytest.raises(NoSpaceError, match="cannot be written"):
        save_trace(trace, tmp_path / "missing" / "saved")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: cut(folder / "changed.npy"), r"damaged: changed\.npy cannot be read"),
        (lambda folder: (folder / "hosts.npy").unlink(), r"damaged: hosts\.npy cannot be read"),
        (lambda folder: (folder / "sites.npy").write_bytes(b""), r"sites\.npy cannot be read"),
        (lambda folder: alter(folder / "unknown.npy"), "the digest of its columns differs"),
        (lambda folder: alter(folder / "new_links.npy"), "the digest of its columns differs"),
        (lambda folder: retime(folder, "change_times", 90_001.0), "the digest of its columns"),
        (lambda folder: retime(folder, "change_times", 9 * 86_400.0), "lies outside the trace"),
        (lambda folder: retime(folder, "change_times", float("nan")), "lies outside the trace"),
        (lambda folder: retime(folder, "change_starts", 3), "change times are inconsistent"),
        (lambda folder: relabel(folder, changes="two"), "has two changes"),
        (lambda folder: relabel(folder, changes=None), "the digest of its columns differs"),
        (lambda folder: relabel(folder, site_wide_days={"days": [1]}), "other site-wide days"),
        (lambda folder: relabel(folder, site_wide_days="none"), "other site-wide days"),
        (lambda folder: relabel(folder, pages=14), r"damaged: \w+\.npy contains uint64 \(13,\)"),
        (lambda folder: relabel(folder, pages="13"), "has 13 pages"),
        (lambda folder: relabel(folder, cycles=None), "has 13 pages and None cycles"),
        (lambda folder: relabel(folder, version=2), "has version 2; this Freshet reads version 1"),
        (lambda folder: relabel(folder, version=True), "has version True"),
        (lambda folder: relabel(folder, name=None), "has the name None"),
        (lambda folder: relabel(folder, name="\x1b[2J"), "has the name"),
        (lambda folder: weigh(folder, float("nan")), "an importance is negative or not a number"),
        (lambda folder: weigh(folder, -1.0), "an importance is negative or not a number"),
        (
            lambda folder: relabel(folder, colour="red"),
            r"trace\.json has missing or unknown fields",
        ),
        (lambda folder: relabel(folder, kind="recipe"), "does not describe a freshet trace"),
        (lambda folder: (folder / "trace.json").write_text("[]"), "does not describe"),
        (lambda folder: (folder / "trace.json").write_text("{"), r"trace\.json cannot be read"),
        (lambda folder: (folder / "trace.json").write_text("[" * 100_000), "cannot be read"),
        (lambda folder: break_header(folder / "hosts.npy"), r"hosts\.npy cannot be read"),
        (lambda folder: zip_up(folder / "changed.npy"), r"changed\.npy cannot be read"),
        (lambda folder: (folder / "trace.json").unlink(), r"contains no trace\.json"),
    ],
)
def test_a_damaged_or_foreign_folder_is_refused(
    trace: Trace, tmp_path: Path, damage: Callable[[Path], object], said: str
) -> None:
    save_trace(trace, tmp_path / "saved")
    damage(tmp_path / "saved")
    with pytest.raises(BadInputError, match=said) as refused:
        open_saved_trace(tmp_path / "saved")
    assert str(tmp_path / "saved") in str(refused.value)
