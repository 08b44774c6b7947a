"""Options that select a trace, shared by simulate, evolve and export trace."""

from pathlib import Path
from typing import Annotated, Unpack

import typer

from freshet.backtest.day_grid import MIN_KNOWN_SHARE
from freshet.backtest.trace import Trace
from freshet.backtest.trace_formats.open_trace import (
    DEFAULT_CYCLES,
    DEFAULT_PAGES,
    TraceExtent,
    open_trace,
)
from freshet.backtest.trace_formats.readers import ReadListener
from freshet.cli.output import print_warning, progress_bar
from freshet.record.collection_store import SETTINGS_FILE

TraceArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="TRACE", help="File or folder with recorded pages. Default: generated pages."
    ),
]
TraceFormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORM",
        help="Format of TRACE: parquet, csv, bing, git, catalog or trace. Default: detected.",
    ),
]
_PART_HELP = (
    "Part of TRACE: snap, mixed or raw for Parquet (default mixed), a source for a collection "
    "(default all)."
)
TraceNameOption = Annotated[
    str,
    typer.Option(
        "--trace",
        metavar="NAME",
        help=f"{_PART_HELP} Without TRACE: brdc (default), outlinks or web-changes; living only "
        "with simulate --continuous.",
    ),
]
TracePartOption = Annotated[
    str,
    typer.Option(
        "--trace", metavar="NAME", help=f"{_PART_HELP} Without TRACE: a source of the collection."
    ),
]
ImputeOption = Annotated[
    bool | None,
    typer.Option(
        "--impute/--no-impute",
        help="Fill unknown days from the page's earlier changes. Default: yes for csv "
        "and bing, otherwise no.",
    ),
]
MinKnownOption = Annotated[
    float | None,
    typer.Option(
        "--known",
        min=0.0,
        max=1.0,
        metavar="SHARE",
        help="Skip pages with data for less than this share of the days. Default: "
        f"{MIN_KNOWN_SHARE:g}. Not for parquet.",
    ),
]
SiteWideDaysOption = Annotated[
    bool | None,
    typer.Option(
        "--drop-site-wide-days/--keep-site-wide-days",
        help="Drop or keep the days on which more than 40% of more than 20 pages of a site changed."
        " Default: keep, but drop for snap and mixed.",
    ),
]
LinkKindOption = Annotated[
    str,
    typer.Option(
        "--links",
        metavar="KIND",
        help="Which new links of Parquet observations count: all, internal, external or never-seen "
        "(links that the page never had before). Default: all.",
    ),
]
PageCountOption = Annotated[
    int | None,
    typer.Option(
        "--pages",
        min=2,
        metavar="N",
        help=f"Number of pages to generate. Default: {DEFAULT_PAGES:,}.",
    ),
]
CycleCountOption = Annotated[
    int | None,
    typer.Option(
        "--cycles",
        min=3,
        metavar="N",
        help=f"Number of cycles to generate. Default: {DEFAULT_CYCLES}.",
    ),
]


def open_trace_with_progress(
    where: Path | None,
    *,
    form: str = "",
    name: str = "",
    impute: bool | None = None,
    quiet: bool = False,
    **extent: Unpack[TraceExtent],
) -> Trace:
    """Read the trace selected by the options, with a progress bar."""
    if where is None and Path(SETTINGS_FILE).is_file():
        print_warning(
            "using generated pages; give '.' as TRACE to use the pages of this collection"
        )
    with progress_bar("reading the trace", quiet=quiet) as advance:
        listener = ReadListener(advance, print_warning)
        return open_trace(where, form=form, name=name, impute=impute, listener=listener, **extent)
