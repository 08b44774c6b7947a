"""The file appears when it is whole. `parquet` uses Common Crawl's column names where they exist;
`csv` has the columns that `freshet import csv` reads; `cdxj` is an index that pywb reads; `wacz` is
the archive with its index and its pages in one file; `trace` is a folder that `freshet simulate`
and `freshet evolve` open at once, however large it is.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from freshet.backtest.trace_formats.saved_trace import require_new, save
from freshet.cli import trace_options
from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, new_app
from freshet.cli.output import counted, print_json, say
from freshet.collection.exports import export as export_table
from freshet.core.errors import UsageError
from freshet.record.store import CollectionStore

app = new_app()


class Table(StrEnum):
    """Which table to write."""

    VISITS = "visits"
    CHANGES = "changes"


To = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")]
Part = Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only this import.")]


@app.command("parquet")
def export_parquet(
    path: To,
    table: Annotated[
        Table, typer.Option(metavar="TABLE", help="Which: visits or changes.")
    ] = Table.VISITS,
    source: Part = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Write visits or changes as Parquet."""
    kind = "parquet" if table is Table.VISITS else "changes"
    _export(kind, path, source, collection, as_json)


@app.command("csv")
def export_csv(
    path: To, source: Part = None,
    collection: CollectionDir = DEFAULT_COLLECTION, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write changes as CSV: page, time, changed, new_links."""
    _export("csv", path, source, collection, as_json)


@app.command("cdxj")
def export_cdxj(
    path: To, source: Part = None,
    collection: CollectionDir = DEFAULT_COLLECTION, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write an index of the archive's records as CDXJ."""
    _export("cdxj", path, source, collection, as_json)


@app.command("wacz")
def export_wacz(
    path: To, source: Part = None,
    collection: CollectionDir = DEFAULT_COLLECTION, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write the archive, its index and its pages as one WACZ file."""
    _export("wacz", path, source, collection, as_json)


@app.command("trace")
def export_trace(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder to write; it must be a new one.")
    ],
    where: Annotated[
        Path | None,
        typer.Option("--from", metavar="TRACE", help="Recorded pages; else the collection's."),
    ] = None,
    form: trace_options.Form = "",
    trace: trace_options.TraceName = "",
    impute: trace_options.Impute = None,
    known: trace_options.LeastKnown = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Write which page changed on which day, as a trace to back-test policies on."""
    require_new(folder)
    if form and where is None:
        raise UsageError(f"--format {form}: say with --from what has that form")
    found = trace_options.opened(
        where or collection, form=form if where else "catalog", name=trace, impute=impute,
        quiet=as_json, least_known=known,
    )  # fmt: skip
    save(found, folder)
    pages, cycles = len(found.pages), found.cycles
    if as_json:
        print_json({"folder": folder, "trace": found.name, "pages": pages, "cycles": cycles})
    else:
        size = f"{counted(pages, 'page')} and {counted(cycles, 'cycle')}"
        say(f"Wrote the trace {found.name} of {size} to {folder}.")


def _export(kind: str, path: Path, source: str | None, folder: Path, as_json: bool) -> None:
    if path == Path("-"):
        raise UsageError("- is no file; name the file to write")
    with CollectionStore.open(folder) as opened:
        rows = export_table(opened, kind, path, source=source)
    if as_json:
        print_json({"file": path, "rows": rows})
    else:
        say(f"Wrote {counted(rows, 'row')} to {path}.")
