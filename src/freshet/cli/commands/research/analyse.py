"""With a URL: how often and how much that page changes, how it drifts from what it was, which words
stay and which pass, which blocks live how long, and a calendar. Without: the pages in groups, with
tests of whether the groups differ and, where the crawl took rounds, the share of pages that change
within the hour. An analysis that was stopped goes on where it was.

`--pictures` writes all pictures of it into a folder; those of which too little is known are not
written, and it is said why. HTML pictures hold all they need and load nothing.
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from freshet.analysis.charts import Drawn, draw_collection, draw_page
from freshet.analysis.collection_analysis import analyse as analyse_collection
from freshet.analysis.page_groups import BY
from freshet.analysis.page_study import study, tinted
from freshet.cli.group_report import analysis_document, print_analysis
from freshet.cli.interrupts import stoppable
from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, Source, Tag, new_app
from freshet.cli.output import counted, print_json, progress, say, warn
from freshet.cli.page_report import print_study, study_document
from freshet.core.errors import UsageError
from freshet.core.partial_files import replacing
from freshet.record.store import CollectionStore

USUAL = "tld"

app = new_app()


class Format(StrEnum):
    """The kinds of files that pictures can be written as."""

    PNG = "png"
    SVG = "svg"
    HTML = "html"


@app.command()
def analyse(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="One page; else all, in groups.")
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="GROUP", help=f"By {', '.join(BY)}; {USUAL} if not said.")
    ] = "",
    tag: Tag = "",
    source: Source = None,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="List at most so many groups, blocks, words.")
    ] = 20,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all pictures into this folder.")
    ] = None,
    picture_format: Annotated[
        Format, typer.Option("--format", help="What pictures are written as.")
    ] = Format.PNG,
    render: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the page with its blocks tinted, as HTML."),
    ] = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Show how pages change: one in full, or all in groups."""
    if url is None:
        _check_groups(by, render)
        _analyse_all(collection, (by or USUAL, tag, source), limit, (pictures, picture_format),
                     as_json=as_json)  # fmt: skip
        return
    if by or tag:
        raise UsageError("a URL names one page; leave out --by and --tag, or the URL")
    _analyse_page(collection, (url, source), limit, (pictures, picture_format), render,
                  as_json=as_json)  # fmt: skip


def _check_groups(by: str, render: Path | None) -> None:
    if by and by not in BY:
        raise UsageError(f"--by {by!r} is no way to group pages; choose {', '.join(BY)}")
    if render is not None:
        raise UsageError("--render shows one page; give its URL")


def _analyse_page(
    folder: Path, which: tuple[str, str | None], limit: int, wanted: tuple[Path | None, Format],
    render: Path | None, *, as_json: bool,
) -> None:  # fmt: skip
    url, source = which
    with CollectionStore.open(folder) as opened:
        page = opened.page(url, source=source)
        with progress("reading versions", quiet=as_json):
            found = study(opened, page)
            html = tinted(page, found) if render is not None else ""
    if not as_json:
        print_study(found, limit)
    drawn = None
    if wanted[0] is not None:
        with progress("drawing", quiet=as_json) as advance:
            drawn = draw_page(found, wanted[0], wanted[1], advance)
    files = [_write(render, html)] if render is not None else []
    if as_json:
        print_json(study_document(found) | _files(drawn, files))
    else:
        _tell(drawn, files)


def _analyse_all(
    folder: Path, which: tuple[str, str, str | None], limit: int,
    wanted: tuple[Path | None, Format], *, as_json: bool,
) -> None:  # fmt: skip
    by, tag, source = which
    with (
        CollectionStore.open(folder) as opened,
        progress("measuring pages", quiet=as_json) as shown,
        stoppable(shown) as go_on,
    ):
        found = analyse_collection(opened, by=by, source=source, tag=tag or None, progress=go_on)
    if not as_json:
        print_analysis(found, limit)
    drawn = None
    if wanted[0] is not None:
        with progress("drawing", quiet=as_json) as advance:
            drawn = draw_collection(found, wanted[0], wanted[1], advance)
    if as_json:
        print_json(analysis_document(found) | _files(drawn, []))
    else:
        _tell(drawn, [])


def _write(path: Path, html: str) -> Path:
    with replacing(path) as part:
        part.write_text(html, "utf-8")
    return path


def _files(drawn: Drawn | None, files: Sequence[Path]) -> dict[str, Sequence[object]]:
    written = drawn.files if drawn else ()
    return {"files": [*written, *files], "not_drawn": drawn.missing if drawn else ()}


def _tell(drawn: Drawn | None, files: Sequence[Path]) -> None:
    """Say which files were written, and which pictures were not, and why."""
    if drawn is not None:
        say("")
        where = f" in {drawn.files[0].parent}" if drawn.files else ""
        names = ", ".join(path.name for path in drawn.files)
        say(f"Wrote {counted(len(drawn.files), 'picture')}{where}: {names}".rstrip(": "))
        for reason in drawn.missing:
            warn(reason)
    for path in files:
        say(f"Wrote {path}")
