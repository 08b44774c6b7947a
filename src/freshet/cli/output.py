"""Output of commands: text and tables for people, one JSON document for programs."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from time import sleep
from typing import Any, Protocol

from rich import progress as rich_progress
from rich.console import Console
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from freshet.cli.terminal import safe_text
from freshet.core.errors import UsageError
from freshet.core.local_time import format_to_second
from freshet.core.redaction import redact_user_info
from freshet.core.strict_json import to_json_value

MAX_ALIGNED_WIDTH = 60
MAX_UNBROKEN_WIDTH = 25
REFRESH_SECONDS = 1.0
MIN_COLUMNS = 20


def new_console(**options: Any) -> Console:
    """Return a console that ignores a COLUMNS variable too small for text, such as COLUMNS=0."""
    columns = os.environ.get("COLUMNS", "")
    if not columns.isdecimal() or int(columns) >= MIN_COLUMNS:
        return Console(**options)
    others = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return Console(_environ=others, **options)


console = new_console(highlight=False)
error_console = new_console(stderr=True, highlight=False, soft_wrap=True)


def print_json(document: Any) -> None:
    """Print one JSON document in ASCII, which cannot control a terminal."""
    sys.stdout.write(
        json.dumps(to_json_value(document), indent=1).replace("\x7f", "\\u007f") + "\n"
    )


def print_text(text: str, style: str = "") -> None:
    """Print lines without characters that could control a terminal."""
    lines = "\n".join(safe_text(line) for line in text.split("\n"))
    console.print(Text(lines), style=style or None, soft_wrap=True)


def print_warning(text: str) -> None:
    """Print a warning on standard error."""
    error_console.print(Text(safe_text(redact_user_info(text))), style="yellow")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> None:
    """Print rows as a table, with numbers right-aligned and without empty columns."""
    values = [tuple(row) for row in rows]
    filled_columns = [
        index for index in range(len(columns)) if any(format_cell(row[index]) for row in values)
    ]
    headers = [columns[index] for index in filled_columns]
    filled_rows = [[row[index] for index in filled_columns] for row in values]
    if title:
        print_text(title, "bold")
    if console.is_terminal:
        console.print(_table(headers, filled_rows))
    else:
        _print_aligned(headers, filled_rows)


def _table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=any(headers))
    for index, name in enumerate(headers):
        column = [row[index] for row in rows]
        table.add_column(
            name,
            justify="right" if _are_numbers(column) else "left",
            no_wrap=max(len(format_cell(value)) for value in column) <= MAX_UNBROKEN_WIDTH,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(format_cell(value)) for value in row))
    return table


def _print_aligned(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print each row as one line, for a file or pipe."""
    lines = [list(headers)] if any(headers) else []
    lines += [[format_cell(value) for value in row] for row in rows]
    for line in _align(
        lines, [_are_numbers([row[i] for row in rows]) for i in range(len(headers))]
    ):
        sys.stdout.write(line + "\n")


def _align(lines: Sequence[Sequence[str]], right_aligned: Sequence[bool]) -> Iterator[str]:
    """Yield lines with aligned columns.

    >>> list(_align([["page", "n"], ["a", "10"]], [False, True]))
    ['page   n', 'a     10']
    """
    widths = [min(max(map(len, column)), MAX_ALIGNED_WIDTH) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, widths, right_aligned, strict=True)
        yield "  ".join(
            text.rjust(width) if is_right else text.ljust(width) for text, width, is_right in cells
        ).rstrip()


def _are_numbers(column: Iterable[Any]) -> bool:
    """Return whether a column contains only numbers and empty cells."""
    kinds = {type(value) for value in column if value is not None}
    return bool(kinds) and kinds <= {int, float}


def format_cell(value: Any) -> str:
    """Return a value as the text of a table cell.

    >>> format_cell(1234567), format_cell(None), format_cell(True), format_cell(0.5)
    ('1,234,567', '', 'yes', '0.500')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, datetime):
        return format_to_second(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{format_cell(key)}: {format_cell(item)}" for key, item in value.items())
    return safe_text(str(value))


def refresh_until_interrupted(show: Callable[[], None]) -> None:
    """Repeat a function every second and show its output until Ctrl-C."""
    if not console.is_terminal:
        raise UsageError("--live needs a terminal; without it the status is printed once")
    screen = Live(console=new_console(), auto_refresh=False)  # not the console that is captured
    with screen as view, suppress(KeyboardInterrupt):
        while True:
            with console.capture() as captured:
                show()
            view.update(Text.from_ansi(captured.get()), refresh=True)
            sleep(REFRESH_SECONDS)


class ProgressBar(Protocol):
    """Callback of a progress bar, with an optional label."""

    def __call__(self, done: int, total: int, label: str | None = None) -> None:
        """Show that ``done`` of ``total`` steps are completed."""
        ...


@contextmanager
def progress_bar(label: str, *, quiet: bool) -> Iterator[ProgressBar]:
    """Show a progress bar on standard error, unless quiet."""
    bar = rich_progress.Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=error_console,
        transient=True,
        disable=quiet or not error_console.is_terminal,
    )
    with bar:
        task = bar.add_task(label, total=None)

        def advance(done: int, total: int, label: str | None = None) -> None:
            bar.update(task, completed=done, total=total or None, description=label)

        yield advance
