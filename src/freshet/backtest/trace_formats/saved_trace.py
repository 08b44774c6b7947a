"""A trace saved as a folder: written completely or not at all, and opened by memory mapping.

``trace.json`` names the trace and states its size; each column is a file beside it. Opening reads
the columns once to verify their digest. A crawl then reads one cycle at a time.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from freshet.backtest.site_wide_days import SiteWideDay, SiteWideDays
from freshet.backtest.trace import ChangeTimes, PageGroupKeys, Trace, trace_page_table
from freshet.core.clock import CYCLE_SECONDS
from freshet.core.errors import BadInputError, NoSpaceError, UsageError
from freshet.core.files import lock_partial, partial_path, remove_abandoned_partials

MANIFEST_FILE = "trace.json"
KIND, VERSION = "freshet trace", 1
KEYS = ("hosts", "sites", "directories")
DAY_COUNTS = ("day", "observed", "changed")

Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class TraceManifest:
    """Contents of ``trace.json``; ``changes`` counts the changes whose times were recorded."""

    name: str
    pages: int
    cycles: int
    new_links: bool
    digest: str
    site_wide_days: dict[str, Any] | None = None
    changes: int | None = None
    most_links: bool = False
    kind: str = KIND
    version: int = VERSION


def require_new_folder(folder: Path) -> None:
    """Reject a folder that exists already."""
    if folder.exists():
        raise UsageError(f"{folder} exists already; give a folder that does not exist yet")


def save_trace(trace: Trace, folder: Path) -> None:
    """Write a trace into a new folder, which appears when it is complete."""
    manifest = TraceManifest(
        trace.name,
        len(trace.pages),
        trace.cycles,
        trace.new_links is not None,
        trace.digest,
        None if trace.site_wide_days is None else asdict(trace.site_wide_days),
        None if trace.change_times is None else len(trace.change_times.times),
        trace.most_links is not None,
    )
    with _appearing(folder) as temporary_folder:
        for name, column in _columns(trace).items():
            _write(temporary_folder / f"{name}.npy", column)
        with (temporary_folder / MANIFEST_FILE).open("w", encoding="utf-8") as file:
            json.dump(asdict(manifest), file, indent=1)
            file.flush()
            os.fsync(file.fileno())


def open_saved_trace(folder: Path) -> Trace:
    """Return the trace of a folder, its columns mapped into memory."""
    manifest = _label(folder)
    pages, cycles = manifest.pages, manifest.cycles
    if not (isinstance(pages, int) and isinstance(cycles, int)):
        raise _damaged(folder, f"{MANIFEST_FILE} has {pages} pages and {cycles} cycles")
    if not (isinstance(manifest.name, str) and manifest.name.isprintable()):
        raise _damaged(folder, f"{MANIFEST_FILE} has the name {manifest.name!r}")
    bits_shape = cycles, -(-pages // 8)
    keys = PageGroupKeys(*(_mapped(folder, name, np.uint64, (pages,)) for name in KEYS))
    importance = _mapped(folder, "importance", np.float64, (pages,))
    if not np.all(np.isfinite(importance) & (importance >= 0)):
        raise _damaged(folder, "an importance is negative or not a number")
    trace = Trace(
        manifest.name,
        trace_page_table(keys, importance),
        cycles,
        _mapped(folder, "changed", np.uint8, bits_shape),
        _mapped(folder, "unknown", np.uint8, bits_shape),
        _mapped(folder, "new_links", np.uint16, (cycles, pages)) if manifest.new_links else None,
        change_times=_change_times(folder, manifest),
        site_wide_days=_site_wide_days(folder, manifest.site_wide_days),
        most_links=_mapped(folder, "most_links", np.uint16, (pages,))
        if manifest.most_links
        else None,
    )
    if trace.digest != manifest.digest:
        raise _damaged(folder, "the digest of its columns differs")
    return trace


def _change_times(folder: Path, manifest: TraceManifest) -> ChangeTimes | None:
    """Return the change times of a folder, mapped into memory."""
    if manifest.changes is None:
        return None
    if not isinstance(manifest.changes, int):
        raise _damaged(folder, f"{MANIFEST_FILE} has {manifest.changes} changes")
    starts = _mapped(folder, "change_starts", np.int64, (manifest.pages + 1,))
    times = _mapped(folder, "change_times", np.float64, (manifest.changes,))
    is_in_range = np.isfinite(times) & (times >= 0) & (times < manifest.cycles * CYCLE_SECONDS)
    if starts[0] != 0 or starts[-1] != len(times) or np.any(np.diff(starts) < 0):
        raise _damaged(folder, "the numbers of its change times are inconsistent")
    if not np.all(is_in_range):
        raise _damaged(folder, "a change time lies outside the trace")
    return ChangeTimes(starts, times)


def _site_wide_days(folder: Path, content: dict[str, Any] | None) -> SiteWideDays | None:
    """Return the site-wide days of a manifest."""
    if content is None:
        return None
    try:
        days = tuple(
            SiteWideDay(str(day["site"]), *(int(day[name]) for name in DAY_COUNTS))
            for day in content["days"]
        )
        return SiteWideDays(days, bool(content["are_dropped"]))
    except (TypeError, ValueError, KeyError) as error:
        raise _damaged(folder, f"{MANIFEST_FILE} has other site-wide days ({error})") from error


def _columns(trace: Trace) -> dict[str, Column]:
    """Return the saved columns of a trace by file name."""
    table = trace.pages
    columns: dict[str, Column] = {name: getattr(table, name) for name in (*KEYS, "importance")}
    columns |= {"changed": trace.changed_bits, "unknown": trace.unknown_bits}
    if trace.new_links is not None:
        columns["new_links"] = trace.new_links
    if trace.most_links is not None:
        columns["most_links"] = trace.most_links
    if trace.change_times is not None:
        columns["change_starts"] = trace.change_times.starts
        columns["change_times"] = trace.change_times.times
    return columns


def _label(folder: Path) -> TraceManifest:
    """Read and check the manifest of a folder."""
    file = folder / MANIFEST_FILE
    if not file.is_file():
        raise BadInputError(
            f"{folder}: contains no {MANIFEST_FILE}, so it is not a saved trace; save one first"
        )
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(folder, f"{MANIFEST_FILE} cannot be read ({error})") from error
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise BadInputError(f"{file}: does not describe a {KIND}; give another folder")
    if content.get("version") is True or content.get("version") != VERSION:
        raise BadInputError(
            f"{file}: has version {content.get('version')}; this Freshet reads version {VERSION};"
            " save the trace with this one"
        )
    try:
        return TraceManifest(**content)
    except TypeError as error:
        raise _damaged(
            folder, f"{MANIFEST_FILE} has missing or unknown fields ({error})"
        ) from error


def _mapped(folder: Path, name: str, kind: Any, shape: tuple[int, ...]) -> Column:
    """Return a column of a folder, mapped into memory."""
    file = folder / f"{name}.npy"
    try:
        column = open_memmap(file, mode="r")
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
        raise _damaged(folder, f"{file.name} cannot be read ({error})") from error
    if column.dtype != kind or column.shape != shape:
        raise _damaged(folder, f"{file.name} contains {column.dtype} {column.shape}")
    return np.asarray(column)


def _damaged(folder: Path, reason: str) -> BadInputError:
    return BadInputError(f"{folder}: the saved trace is damaged: {reason}; save it again")


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that gets its final name if no error occurs."""
    require_new_folder(folder)
    remove_abandoned_partials(folder)
    temporary_folder = partial_path(folder)
    try:
        temporary_folder.mkdir()
        with lock_partial(temporary_folder):
            yield temporary_folder
        temporary_folder.rename(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoSpaceError(
            f"{folder}: cannot be written ({reason}); free some space or choose another folder"
        ) from error
    finally:
        shutil.rmtree(temporary_folder, ignore_errors=True)


def _write(path: Path, column: Column) -> None:
    with path.open("wb") as file:
        np.save(file, column, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
