"""A trace kept as a folder: written whole or not at all, and opened without being unpacked.

``trace.json`` names the trace and says how large it is; beside it lies a file for each column. The
columns are mapped into memory: opening looks at their bytes once, to tell whether they are those
that were saved, and a crawl takes from them one cycle after the other.
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

from freshet.backtest.trace import PageGroupKeys, Trace, trace_page_table
from freshet.core.errors import BadInputError, NoSpaceError, UsageError
from freshet.core.partial_files import lock_partial, partial_path, remove_abandoned_partials

MANIFEST_FILE = "trace.json"
KIND, VERSION = "freshet trace", 1
KEYS = ("hosts", "sites", "directories")

Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class TraceManifest:
    """What ``trace.json`` says of the columns beside it."""

    name: str
    pages: int
    cycles: int
    new_links: bool
    digest: str
    kind: str = KIND
    version: int = VERSION


def require_new_folder(folder: Path) -> None:
    """Refuse a folder that is there already."""
    if folder.exists():
        raise UsageError(f"{folder} is there already; give a folder that is not there yet")


def save_trace(trace: Trace, folder: Path) -> None:
    """Write a trace into a new folder, which appears when it is whole."""
    label = TraceManifest(
        trace.name, len(trace.pages), trace.cycles, trace.new_links is not None, trace.digest
    )
    with _appearing(folder) as part:
        for name, column in _columns(trace).items():
            _write(part / f"{name}.npy", column)
        with (part / MANIFEST_FILE).open("w", encoding="utf-8") as file:
            json.dump(asdict(label), file, indent=1)
            file.flush()
            os.fsync(file.fileno())


def open_saved_trace(folder: Path) -> Trace:
    """Return the trace of a folder, its columns mapped into memory."""
    label = _label(folder)
    wide, high = label.pages, label.cycles
    if not (isinstance(wide, int) and isinstance(high, int)):
        raise _damaged(folder, f"{MANIFEST_FILE} says {wide} pages and {high} cycles")
    if not (isinstance(label.name, str) and label.name.isprintable()):
        raise _damaged(folder, f"{MANIFEST_FILE} says the name {label.name!r}")
    packed = high, -(-wide // 8)
    keys = PageGroupKeys(*(_mapped(folder, name, np.uint64, (wide,)) for name in KEYS))
    importance = _mapped(folder, "importance", np.float64, (wide,))
    if not np.all(np.isfinite(importance) & (importance >= 0)):
        raise _damaged(folder, "an importance is below 0 or no number")
    trace = Trace(
        label.name,
        trace_page_table(keys, importance),
        high,
        _mapped(folder, "changed", np.uint8, packed),
        _mapped(folder, "unknown", np.uint8, packed),
        _mapped(folder, "new_links", np.uint16, (high, wide)) if label.new_links else None,
    )
    if trace.digest != label.digest:
        raise _damaged(folder, "its columns are not those that were saved")
    return trace


def _columns(trace: Trace) -> dict[str, Column]:
    """Return what is saved of a trace, by the name of its file."""
    table = trace.pages
    columns: dict[str, Column] = {name: getattr(table, name) for name in (*KEYS, "importance")}
    columns |= {"changed": trace.changed_bits, "unknown": trace.unknown_bits}
    return columns if trace.new_links is None else columns | {"new_links": trace.new_links}


def _label(folder: Path) -> TraceManifest:
    """Read what a folder says of its trace."""
    file = folder / MANIFEST_FILE
    if not file.is_file():
        raise BadInputError(
            f"{folder}: holds no {MANIFEST_FILE}, so it is no saved trace; save one first"
        )
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(folder, f"{MANIFEST_FILE} cannot be read ({error})") from error
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise BadInputError(f"{file}: does not tell of a {KIND}; give another folder")
    if found.get("version") is True or found.get("version") != VERSION:
        raise BadInputError(
            f"{file}: is of version {found.get('version')}, and this Freshet reads {VERSION};"
            " save the trace with this one"
        )
    try:
        return TraceManifest(**found)
    except TypeError as error:
        raise _damaged(folder, f"{MANIFEST_FILE} lacks or has too much ({error})") from error


def _mapped(folder: Path, name: str, kind: Any, shape: tuple[int, ...]) -> Column:
    """Return a column of a folder, mapped into memory."""
    file = folder / f"{name}.npy"
    try:
        column = open_memmap(file, mode="r")
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
        raise _damaged(folder, f"{file.name} cannot be read ({error})") from error
    if column.dtype != kind or column.shape != shape:
        raise _damaged(folder, f"{file.name} holds {column.dtype} {column.shape}")
    return np.asarray(column)


def _damaged(folder: Path, why: str) -> BadInputError:
    return BadInputError(f"{folder}: the saved trace is damaged: {why}; save it again")


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """Give a folder to write that takes its name once all went well, and only then."""
    require_new_folder(folder)
    remove_abandoned_partials(folder)
    part = partial_path(folder)
    try:
        part.mkdir()
        with lock_partial(part):
            yield part
        part.rename(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise NoSpaceError(
            f"{folder}: cannot be written ({reason}); free space or choose another place"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _write(path: Path, column: Column) -> None:
    with path.open("wb") as file:
        np.save(file, column, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
