"""The words by which commands are given a trace, and how it is opened while progress is shown."""

from pathlib import Path
from typing import Annotated, Unpack

import typer

from freshet.backtest import trace_formats
from freshet.backtest.trace import MIN_KNOWN_SHARE, Trace
from freshet.backtest.trace_formats.readers import ReadListener
from freshet.cli.output import print_warning, progress_bar
from freshet.record.store import SETTINGS_FILE

TraceArgument = Annotated[
    Path | None,
    typer.Argument(metavar="TRACE", help="Recorded pages; without it they are generated."),
]
TraceFormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORM",
        help="What TRACE is: parquet, csv, bing, git, catalog, trace; else guessed.",
    ),
]
TraceNameOption = Annotated[
    str,
    typer.Option("--trace", metavar="NAME", help="Which pages; mixed, or brdc without TRACE."),
]
ImputeOption = Annotated[
    bool | None,
    typer.Option(
        "--impute/--no-impute", help="Guess unknown days from earlier ones; csv and bing do."
    ),
]
MinKnownOption = Annotated[
    float | None,
    typer.Option(
        "--known",
        min=0.0,
        max=1.0,
        metavar="SHARE",
        help=f"Leave out pages known on fewer of the days; {MIN_KNOWN_SHARE:g}; not for parquet.",
    ),
]
PageCountOption = Annotated[
    int | None,
    typer.Option(
        "--pages",
        min=2,
        metavar="N",
        help=f"How many pages to generate; {trace_formats.DEFAULT_PAGES:,}.",
    ),
]
CycleCountOption = Annotated[
    int | None,
    typer.Option(
        "--cycles",
        min=3,
        metavar="N",
        help=f"For how many cycles to generate them; {trace_formats.DEFAULT_CYCLES}.",
    ),
]


def open_trace_with_progress(
    where: Path | None,
    *,
    form: str = "",
    name: str = "",
    impute: bool | None = None,
    quiet: bool = False,
    **extent: Unpack[trace_formats.TraceExtent],
) -> Trace:
    """Return the trace that a command was given, showing how far the reading is."""
    if where is None and Path(SETTINGS_FILE).is_file():
        print_warning("the pages are generated; give '.' as TRACE for those of this collection")
    with progress_bar("reading the trace", quiet=quiet) as advance:
        told = ReadListener(advance, print_warning)
        return trace_formats.open_trace(
            where, form=form, name=name, impute=impute, listener=told, **extent
        )
