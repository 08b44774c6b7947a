"""With a URL: how often and how much the page changes, how its similarity to old versions
decreases, which words stay and which disappear, how long the content of each block stays, and a
calendar. Without a URL: the pages in groups, with statistical tests of the differences between
groups, and the share of pages that change within an hour if the crawl measured bursts. An
interrupted analysis continues where it stopped.

Charts for which there is too little data are not written; the reason is printed. HTML charts load
no other files.
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freshet.analysis.collection_analysis import analyse_collection as analyse_collection
from freshet.analysis.page_groups import GROUPINGS
from freshet.analysis.page_study import lifespan_heatmap, study_page
from freshet.cli.group_report import group_report_document, print_group_report
from freshet.cli.interrupts import interruptible
from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    SourceOption,
    TagOption,
    new_app,
)
from freshet.cli.output import format_count, print_json, print_text, print_warning, progress_bar
from freshet.cli.page_report import page_report_document, print_page_report
from freshet.core.errors import UsageError
from freshet.core.files import atomic_output
from freshet.record.store import CollectionStore

if TYPE_CHECKING:
    from freshet.analysis.charts import ChartFiles

DEFAULT_GROUPING = "tld"

app = new_app()


class PictureFormat(StrEnum):
    """The kinds of files that pictures can be written as."""

    PNG = "png"
    SVG = "svg"
    HTML = "html"


@app.command()
def analyse(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="URL", help="URL of the page to analyse. Default: all pages, in groups."
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="GROUP", help=f"Group pages by {', '.join(GROUPINGS)}. Default: {DEFAULT_GROUPING}."
        ),
    ] = "",
    tag: TagOption = "",
    source: SourceOption = None,
    limit: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Maximum number of groups, blocks and words to list."
        ),
    ] = 20,
    pictures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all charts into this folder.")
    ] = None,
    picture_format: Annotated[
        PictureFormat, typer.Option("--format", help="File format of the charts.")
    ] = PictureFormat.PNG,
    render: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the page as HTML, with each block coloured by how long its content stays.",
        ),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show how pages change: one in full, or all in groups."""
    if pictures is not None:
        # Charts are an optional extra: without it, say so before the pages are measured.
        import freshet.analysis.charts  # noqa: F401
    if url is None:
        _check_groups(by, render)
        _analyse_all(collection, (by or DEFAULT_GROUPING, tag, source), limit, (pictures, picture_format),
                     as_json=as_json)  # fmt: skip
        return
    if by or tag:
        raise UsageError("a URL names one page; leave out --by and --tag, or the URL")
    _analyse_page(collection, (url, source), limit, (pictures, picture_format), render,
                  as_json=as_json)  # fmt: skip


def _check_groups(by: str, render: Path | None) -> None:
    if by and by not in GROUPINGS:
        raise UsageError(f"--by {by!r} is no way to group pages; choose {', '.join(GROUPINGS)}")
    if render is not None:
        raise UsageError("--render shows one page; give its URL")


def _analyse_page(
    folder: Path, which: tuple[str, str | None], limit: int, wanted: tuple[Path | None, PictureFormat],
    render: Path | None, *, as_json: bool,
) -> None:  # fmt: skip
    url, source = which
    with CollectionStore.open(folder) as opened:
        page = opened.page(url, source=source)
        with progress_bar("reading versions", quiet=as_json):
            found = study_page(opened, page)
            html = lifespan_heatmap(page, found) if render is not None else ""
    if not as_json:
        print_page_report(found, limit)
    drawn = None
    if wanted[0] is not None:
        from freshet.analysis.charts import draw_page_charts

        with progress_bar("drawing", quiet=as_json) as advance:
            drawn = draw_page_charts(found, wanted[0], wanted[1], advance)
    files = [_write(render, html)] if render is not None else []
    if as_json:
        print_json(page_report_document(found) | _files(drawn, files))
    else:
        _tell(drawn, files)


def _analyse_all(
    folder: Path, which: tuple[str, str, str | None], limit: int,
    wanted: tuple[Path | None, PictureFormat], *, as_json: bool,
) -> None:  # fmt: skip
    by, tag, source = which
    with (
        CollectionStore.open(folder) as opened,
        progress_bar("measuring pages", quiet=as_json) as shown,
        interruptible(shown) as go_on,
    ):
        found = analyse_collection(opened, by=by, source=source, tag=tag or None, progress=go_on)
    if not as_json:
        print_group_report(found, limit)
    drawn = None
    if wanted[0] is not None:
        from freshet.analysis.charts import draw_collection_charts

        with progress_bar("drawing", quiet=as_json) as advance:
            drawn = draw_collection_charts(found, wanted[0], wanted[1], advance)
    if as_json:
        print_json(group_report_document(found) | _files(drawn, []))
    else:
        _tell(drawn, [])


def _write(path: Path, html: str) -> Path:
    with atomic_output(path) as part:
        part.write_text(html, "utf-8")
    return path


def _files(drawn: "ChartFiles | None", files: Sequence[Path]) -> dict[str, Sequence[object]]:
    written = drawn.files if drawn else ()
    return {"files": [*written, *files], "not_drawn": drawn.missing_charts if drawn else ()}


def _tell(drawn: "ChartFiles | None", files: Sequence[Path]) -> None:
    """Say which files were written, and which pictures were not, and why."""
    if drawn is not None:
        print_text("")
        where = f" in {drawn.files[0].parent}" if drawn.files else ""
        names = ", ".join(path.name for path in drawn.files)
        print_text(
            f"Wrote {format_count(len(drawn.files), 'picture')}{where}: {names}".rstrip(": ")
        )
        for reason in drawn.missing_charts:
            print_warning(reason)
    for path in files:
        print_text(f"Wrote {path}")
