"""An import can be interrupted and repeated: visits that are already stored are skipped. Rows that
cannot be imported are counted and listed, and do not stop the import; the exit code is then 4.

Every import has a source: a name that separates its pages from live pages and from other imports. A
page is identified by its URL and source. A visit is stored once, in the source that first imported
it.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshet.cli.interrupts import interruptible
from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_text, print_warning, progress_bar
from freshet.core.errors import BadInputError
from freshet.core.humanize import count_text
from freshet.record.writer_lock import refuse_second_writer

if TYPE_CHECKING:
    from freshet.collection.imports import ImportSummary

app = new_app()


def _path(what: str) -> Any:
    """Return the argument PATH with its meaning in the help."""
    return typer.Argument(metavar="PATH", help=what)


def _source(default: str) -> Any:
    """Return the option --source with its default in the help."""
    return typer.Option(
        "--source",
        metavar="NAME",
        help="Source name for the imported pages; '' adds them to the live pages. "
        f"Default: {default}.",
    )


WarcPathArgument = Annotated[Path, _path("WARC or ARC file, or a folder of them.")]
WaczPathArgument = Annotated[Path, _path("WACZ file.")]
GitPathArgument = Annotated[Path, _path("Folder of the git repository.")]
CsvPathArgument = Annotated[Path, _path("CSV file, plain or gzip.")]
BingPathArgument = Annotated[Path, _path("Folder with the three TSV files.")]
ParquetPathArgument = Annotated[
    Path, _path("Parquet file, or a folder with versions_*.parquet files.")
]
WarcSourceOption = Annotated[str | None, _source("warc")]
GitSourceOption = Annotated[str | None, _source("the name of the folder")]
CsvSourceOption = Annotated[str | None, _source("the name of the file")]
BingSourceOption = Annotated[str | None, _source("bing")]
ParquetSourceOption = Annotated[str | None, _source("the part column of a row, else the file name")]


@app.command("warc")
def import_warc(
    path: WarcPathArgument,
    source: WarcSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Import a WARC or ARC file, or a folder of them, byte for byte."""
    _import("warc", path, collection, as_json, source=source)


@app.command("wacz")
def import_wacz(
    path: WaczPathArgument,
    source: WarcSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Import the WARC files in a WACZ file, after checking their digests."""
    _import("wacz", path, collection, as_json, source=source)


@app.command("git")
def import_git(
    path: GitPathArgument,
    source: GitSourceOption = None,
    ref: Annotated[str, typer.Option(metavar="REF", help="Branch or commit to read.")] = "HEAD",
    paths: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="Only import files that match this glob, such as '*.html'; can be repeated.",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Import a git repository: each file is a page, each commit a version."""
    _import("git", path, collection, as_json, source=source, ref=ref, paths=tuple(paths or ()))


@app.command("csv")
def import_csv(
    path: CsvPathArgument,
    source: CsvSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Import observations from CSV: page, time, changed[, new_links]."""
    _import("csv", path, collection, as_json, source=source)


@app.command("bing")
def import_bing(
    path: BingPathArgument,
    source: BingSourceOption = None,
    start: Annotated[
        datetime | None,
        typer.Option(metavar="TIME", help="First day of the data (UTC). Default: 2017-06-01."),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Import the public Bing crawl data, a folder with three TSV files."""
    options = {} if start is None else {"start": start.replace(tzinfo=UTC)}
    _import("bing", path, collection, as_json, source=source, **options)


@app.command("parquet")
def import_parquet(
    path: ParquetPathArgument,
    source: ParquetSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Import versions or observations from a Parquet file."""
    _import("parquet", path, collection, as_json, source=source)


def _import(kind: str, path: Path, folder: Path, as_json: bool, **options: Any) -> None:
    refuse_second_writer(folder)
    from freshet.collection.imports import import_history
    from freshet.record.collection_store import CollectionStore  # takes a second to load

    with (
        CollectionStore.open(folder) as store,
        progress_bar(f"{kind} {path.name}", quiet=as_json) as bar,
        interruptible(bar) as report_progress,
    ):
        summary = import_history(store, kind, path, progress=report_progress, **options)
    if as_json:
        print_json(summary)
    else:
        _print(summary)
    if summary.bad:
        raise typer.Exit(BadInputError.exit_code)


def _print(summary: "ImportSummary") -> None:
    imported = count_text(summary.visits, "visit")
    print_text(f"Imported {imported}; {summary.already_there:,} already existed.")
    for source, number in summary.other_sources.items():
        where = f"in source {source}" if source else "among the live pages"
        print_text(f"{number:,} of them are {where}: a visit is stored once, in its first source.")
    for note in summary.notes:
        print_text(note)
    if summary.bad:
        print_warning(f"{count_text(summary.bad, 'row')} could not be imported:")
        for row in summary.bad_rows:
            print_warning(f"  {row.place}: {row.why}")
        if summary.bad > len(summary.bad_rows):
            print_warning(f"  … 'freshet status --bad {summary.number}' lists all")
