"""An import can be repeated or taken up again after an interruption: what is already there is left
as it is. Bad rows are counted, listed and kept; good rows before and after them are taken in.

Each import has a source, a name that keeps its pages apart from the live pages and from those of
other imports: a page is its URL and its source. A visit is kept once, in its first source.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshet.cli.interrupts import stoppable
from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, new_app
from freshet.cli.output import counted, print_json, progress, say, warn
from freshet.core.errors import BadInput
from freshet.record.archive_writer import refuse_a_second

if TYPE_CHECKING:
    from freshet.collection.imports import Imported

app = new_app()

From = Annotated[Path, typer.Argument(metavar="PATH", help="What to import.")]


def _source(default: str) -> Any:
    """Return the option that names the source of an import."""
    return typer.Option(
        "--source",
        metavar="NAME",
        help="Source of the pages: a name that keeps them apart from live pages and other"
        f" imports; '' joins the live pages. Default: {default}.",
    )


InWarc = Annotated[str | None, _source("warc")]
InNamed = Annotated[str | None, _source("the name of the file or folder")]
InBing = Annotated[str | None, _source("bing")]
InParquet = Annotated[str | None, _source("the part that a row names, else the file's name")]


@app.command("warc")
def import_warc(
    path: From, source: InWarc = None,
    collection: CollectionDir = DEFAULT_COLLECTION, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Import WARC or ARC files, a file or a folder, byte for byte."""
    _bring("warc", path, collection, as_json, source=source)


@app.command("wacz")
def import_wacz(
    path: From, source: InWarc = None,
    collection: CollectionDir = DEFAULT_COLLECTION, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Import a WACZ file: the WARC files in it, after their digests are checked."""
    _bring("wacz", path, collection, as_json, source=source)


@app.command("git")
def import_git(
    path: From,
    source: InNamed = None,
    ref: Annotated[str, typer.Option(metavar="REF", help="The branch or commit to read.")] = "HEAD",
    paths: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Only files like this; repeats.")
    ] = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Import a repository: each file a page, each commit a version."""
    _bring("git", path, collection, as_json, source=source, ref=ref, paths=tuple(paths or ()))


@app.command("csv")
def import_csv(
    path: From, source: InNamed = None,
    collection: CollectionDir = DEFAULT_COLLECTION, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Import observations: columns page, time, changed[, new_links]."""
    _bring("csv", path, collection, as_json, source=source)


@app.command("bing")
def import_bing(
    path: From,
    source: InBing = None,
    start: Annotated[
        datetime | None,
        typer.Option(metavar="TIME", help="When the data collection began (UTC): 2017-06-01."),
    ] = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Import the public Bing crawl data: a folder with three TSV files."""
    options = {} if start is None else {"start": start.replace(tzinfo=UTC)}
    _bring("bing", path, collection, as_json, source=source, **options)


@app.command("parquet")
def import_parquet(
    path: From, source: InParquet = None,
    collection: CollectionDir = DEFAULT_COLLECTION, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Import versions or observations from a Parquet file."""
    _bring("parquet", path, collection, as_json, source=source)


def _bring(kind: str, path: Path, folder: Path, as_json: bool, **options: Any) -> None:
    refuse_a_second(folder)
    from freshet.collection.imports import bring
    from freshet.record.store import CollectionStore  # takes a second to load

    with (
        CollectionStore.open(folder) as opened,
        progress(f"{kind} {path.name}", quiet=as_json) as shown,
        stoppable(shown) as go_on,
    ):
        found = bring(opened, kind, path, progress=go_on, **options)
    if as_json:
        print_json(found)
    else:
        _print(found)
    if found.bad:
        raise typer.Exit(BadInput.exit_code)


def _print(found: "Imported") -> None:
    say(f"Imported {counted(found.visits, 'visit')}; {found.already_there:,} were there already.")
    for source, number in found.other_sources.items():
        where = f"in source {source}" if source else "among the live pages"
        say(f"{number:,} of them are {where}: a visit is kept once, in its first source.")
    for note in found.notes:
        say(note)
    if found.bad:
        warn(f"{counted(found.bad, 'row')} could not be taken:")
        for row in found.bad_rows:
            warn(f"  {row.place}: {row.why}")
        if found.bad > len(found.bad_rows):
            warn(f"  … 'freshet status --bad {found.number}' lists all of them")
