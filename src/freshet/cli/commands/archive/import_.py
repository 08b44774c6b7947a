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
from freshet.cli.output import format_count, print_json, print_text, print_warning, progress_bar
from freshet.core.errors import BadInputError
from freshet.record.archive_writer import refuse_second_writer

if TYPE_CHECKING:
    from freshet.collection.imports import ImportSummary

app = new_app()

InputPathArgument = Annotated[
    Path, typer.Argument(metavar="PATH", help="File or folder to import.")
]


def _source(default: str) -> Any:
    """Return the option that names the source of an import."""
    return typer.Option(
        "--source",
        metavar="NAME",
        help="Source name for the imported pages; '' adds them to the live pages. "
        f"Default: {default}.",
    )


WarcSourceOption = Annotated[str | None, _source("warc")]
NamedSourceOption = Annotated[str | None, _source("the name of the file or folder")]
BingSourceOption = Annotated[str | None, _source("bing")]
ParquetSourceOption = Annotated[
    str | None, _source("the part that a row names, else the file's name")
]


@app.command("warc")
def import_warc(
    path: InputPathArgument, source: WarcSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Import WARC or ARC files, a file or a folder, byte for byte."""
    _bring("warc", path, collection, as_json, source=source)


@app.command("wacz")
def import_wacz(
    path: InputPathArgument, source: WarcSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Import a WACZ file: the WARC files in it, after their digests are checked."""
    _bring("wacz", path, collection, as_json, source=source)


@app.command("git")
def import_git(
    path: InputPathArgument,
    source: NamedSourceOption = None,
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
    """Import a repository: each file a page, each commit a version."""
    _bring("git", path, collection, as_json, source=source, ref=ref, paths=tuple(paths or ()))


@app.command("csv")
def import_csv(
    path: InputPathArgument, source: NamedSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Import observations: columns page, time, changed[, new_links]."""
    _bring("csv", path, collection, as_json, source=source)


@app.command("bing")
def import_bing(
    path: InputPathArgument,
    source: BingSourceOption = None,
    start: Annotated[
        datetime | None,
        typer.Option(metavar="TIME", help="First day of the data (UTC). Default: 2017-06-01."),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Import the public Bing crawl data: a folder with three TSV files."""
    options = {} if start is None else {"start": start.replace(tzinfo=UTC)}
    _bring("bing", path, collection, as_json, source=source, **options)


@app.command("parquet")
def import_parquet(
    path: InputPathArgument, source: ParquetSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION, as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Import versions or observations from a Parquet file."""
    _bring("parquet", path, collection, as_json, source=source)


def _bring(kind: str, path: Path, folder: Path, as_json: bool, **options: Any) -> None:
    refuse_second_writer(folder)
    from freshet.collection.imports import import_history
    from freshet.record.store import CollectionStore  # takes a second to load

    with (
        CollectionStore.open(folder) as opened,
        progress_bar(f"{kind} {path.name}", quiet=as_json) as shown,
        interruptible(shown) as go_on,
    ):
        found = import_history(opened, kind, path, progress=go_on, **options)
    if as_json:
        print_json(found)
    else:
        _print(found)
    if found.bad:
        raise typer.Exit(BadInputError.exit_code)


def _print(found: "ImportSummary") -> None:
    print_text(
        f"Imported {format_count(found.visits, 'visit')}; {found.already_there:,} were there already."
    )
    for source, number in found.other_sources.items():
        where = f"in source {source}" if source else "among the live pages"
        print_text(f"{number:,} of them are {where}: a visit is kept once, in its first source.")
    for note in found.notes:
        print_text(note)
    if found.bad:
        print_warning(f"{format_count(found.bad, 'row')} could not be taken:")
        for row in found.bad_rows:
            print_warning(f"  {row.place}: {row.why}")
        if found.bad > len(found.bad_rows):
            print_warning(f"  … 'freshet status --bad {found.number}' lists all of them")
