"""The output file appears only when it is complete. `parquet` uses the column names of Common Crawl
where they exist. `csv` has the columns that `freshet import csv` reads. `links` counts the new
links of every page in intervals of equal length. `cdxj` is an index that
pywb reads. `wacz` is the archive with its index and page list in one file. `trace` is a folder that
`freshet simulate` and `freshet evolve` open without reading it into memory.
"""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from freshet.backtest.trace_formats.saved_trace import require_new_folder, save_trace
from freshet.cli import trace_options
from freshet.cli.commands.crawl.run import parse_duration
from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_text
from freshet.collection.exports import export_table as export_table
from freshet.collection.link_table import export_new_links
from freshet.core.errors import UsageError
from freshet.core.humanize import count_text
from freshet.record.collection_store import CollectionStore

app = new_app()


class ExportTable(StrEnum):
    """The table to write."""

    VISITS = "visits"
    CHANGES = "changes"


OutputFileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")]
ImportSourceOption = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Only export pages of this import source; '' exports live pages. Default: all pages.",
    ),
]


@app.command("parquet")
def export_parquet(
    path: OutputFileArgument,
    table: Annotated[
        ExportTable, typer.Option(metavar="TABLE", help="Table to write: visits or changes.")
    ] = ExportTable.VISITS,
    source: ImportSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Write visits or changes as Parquet."""
    kind = "parquet" if table is ExportTable.VISITS else "changes"
    _export(kind, path, source, collection, as_json)


@app.command("csv")
def export_csv(
    path: OutputFileArgument,
    source: ImportSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Write changes as CSV: page, time, changed, new_links."""
    _export("csv", path, source, collection, as_json)


@app.command("links")
def export_links(
    path: OutputFileArgument,
    every: Annotated[
        str,
        typer.Option(metavar="TIME", help="Length of the intervals: 90s, 10m, 2h or 7d."),
    ] = "7d",
    source: ImportSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Write the numbers of new links per page and interval, as .csv, .parquet or .json."""
    length = timedelta(seconds=parse_duration(every, "--every"))
    with CollectionStore.open(collection) as store:
        rows = export_new_links(store, path, length, source=source)
    if as_json:
        print_json({"file": path, "rows": rows})
        return
    print_text(f"Wrote {count_text(rows, 'row')} to {path}.")
    if not rows:
        print_text(
            f"No page was looked at in two intervals of {every}; a shorter --every may have rows."
        )


@app.command("cdxj")
def export_cdxj(
    path: OutputFileArgument,
    source: ImportSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Write an index of the archive's records as CDXJ."""
    _export("cdxj", path, source, collection, as_json)


@app.command("wacz")
def export_wacz(
    path: OutputFileArgument,
    source: ImportSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Write the archive, its index and its pages as one WACZ file."""
    _export("wacz", path, source, collection, as_json)


@app.command("trace")
def export_trace(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to create.")],
    trace_path: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="TRACE",
            help="File or folder with recorded pages. Default: the collection.",
        ),
    ] = None,
    trace_format: trace_options.TraceFormatOption = "",
    trace: trace_options.TracePartOption = "",
    impute: trace_options.ImputeOption = None,
    min_known_share: trace_options.MinKnownOption = None,
    drop_site_wide_days: trace_options.SiteWideDaysOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Write a trace: which page changed on which day, for back-tests."""
    require_new_folder(folder)
    if trace_format and trace_path is None:
        raise UsageError(f"--format {trace_format} needs --from with the path of the trace")
    loaded_trace = trace_options.open_trace_with_progress(
        trace_path or collection,
        form=trace_format if trace_path else "catalog",
        name=trace,
        impute=impute,
        quiet=as_json,
        least_known=min_known_share,
        drop_site_wide_days=drop_site_wide_days,
    )
    save_trace(loaded_trace, folder)
    pages, cycles = len(loaded_trace.pages), loaded_trace.cycles
    if as_json:
        print_json({"folder": folder, "trace": loaded_trace.name, "pages": pages, "cycles": cycles})
    else:
        size = f"{count_text(pages, 'page')} and {count_text(cycles, 'cycle')}"
        print_text(f"Wrote the trace {loaded_trace.name} of {size} to {folder}.")


def _export(kind: str, path: Path, source: str | None, folder: Path, as_json: bool) -> None:
    if path == Path("-"):
        raise UsageError("- is not a file; give the name of the file to write")
    with CollectionStore.open(folder) as store:
        rows = export_table(store, kind, path, source=source)
    if as_json:
        print_json({"file": path, "rows": rows})
    else:
        print_text(f"Wrote {count_text(rows, 'row')} to {path}.")
