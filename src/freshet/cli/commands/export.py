"""The file appears when it is whole. `parquet` uses Common Crawl's column names where they exist;
`csv` has the columns that `freshet import csv` reads; `cdxj` is an index that pywb reads.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, new_app
from freshet.cli.output import counted, print_json, say
from freshet.core.errors import UsageError
from freshet.flow.collection import Collection
from freshet.flow.exports import export as export_table

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


def _export(kind: str, path: Path, source: str | None, folder: Path, as_json: bool) -> None:
    if path == Path("-"):
        raise UsageError("- is no file; name the file to write")
    with Collection.open(folder) as opened:
        rows = export_table(opened, kind, path, source=source)
    if as_json:
        print_json({"file": path, "rows": rows})
    else:
        say(f"Wrote {counted(rows, 'row')} to {path}.")
