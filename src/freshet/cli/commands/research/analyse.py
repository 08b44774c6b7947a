"""With a URL: how often and how much the page changes, how its similarity to old versions
decreases, which words stay and which disappear, how long the content of each block stays, and a
calendar. Without a URL: the pages in groups, with statistical tests of the differences between
groups, and the share of pages that change within an hour if the crawl measured bursts. An
interrupted analysis continues where it stopped.

Charts for which there is too little data are not written; the reason is printed. HTML charts load
no other files.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freshet.analysis.analysis_scope import AnalysisPeriod, AnalysisScope
from freshet.analysis.collection_analysis import analyse_collection
from freshet.analysis.page_groups import GROUPINGS
from freshet.analysis.page_study import PageStudy, lifespan_heatmap, study_page
from freshet.cli.group_report import group_report_document, print_group_report
from freshet.cli.interrupts import interruptible
from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    SourceFilterOption,
    TagOption,
    new_app,
)
from freshet.cli.output import print_json, print_text, print_warning, progress_bar
from freshet.cli.page_report import page_report_document, print_page_report
from freshet.core.errors import UsageError
from freshet.core.files import atomic_output
from freshet.core.humanize import count_text
from freshet.core.local_time import assume_local_zone
from freshet.record.collection_store import CollectionStore

if TYPE_CHECKING:
    from freshet.analysis.charts import ChartFiles

DEFAULT_GROUPING = "tld"

app = new_app()


class PictureFormat(StrEnum):
    """File formats of charts."""

    PNG = "png"
    SVG = "svg"
    HTML = "html"


class PageLanguage(StrEnum):
    """Pages with which the words of a page are compared."""

    COLLECTION = "collection"
    SOURCE = "source"


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
            metavar="GROUP",
            help=f"Group pages by {', '.join(GROUPINGS)}. Default: {DEFAULT_GROUPING}.",
        ),
    ] = "",
    tag: TagOption = "",
    source: SourceFilterOption = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="Analyse looks from this time on, such as 2026-03-01. Default: all; change curves "
            "then cover the first five weeks of a page.",
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="T", help="Analyse looks up to this time. Default: all.")
    ] = None,
    language: Annotated[
        PageLanguage | None,
        typer.Option(
            help="Compare words with all pages of the collection, or of the source; needs a URL. "
            "Default: collection."
        ),
    ] = None,
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
    """Show how one page, or groups of pages, change."""
    if pictures is not None:
        # Charts are an optional extra: without it, fail before the pages are measured.
        import freshet.analysis.charts  # noqa: F401
    period = AnalysisPeriod(_parse_time("--since", since), _parse_time("--until", until))
    if url is None:
        _check_groups(by, language, render)
        _analyse_all(
            collection,
            by or DEFAULT_GROUPING,
            tag,
            source,
            period,
            limit,
            pictures,
            picture_format,
            as_json,
        )
        return
    if by or tag:
        raise UsageError("a URL cannot be combined with --by or --tag")
    with CollectionStore.open(collection) as store:
        page = store.page(url, source=source)
        with progress_bar("reading versions", quiet=as_json):
            study = study_page(
                store, page, period=period, language_source=language is PageLanguage.SOURCE
            )
            html = lifespan_heatmap(page, study) if render is not None else ""
    _report_page(study, html, limit, pictures, picture_format, render, as_json)


def _parse_time(option: str, text: str | None) -> datetime | None:
    """Return a time given as text, by default in the local time zone."""
    if text is None:
        return None
    try:
        return assume_local_zone(datetime.fromisoformat(text))
    except ValueError:
        raise UsageError(f"{option} {text!r} is not a time; write it as 2026-03-01T12:00") from None


def _check_groups(by: str, language: PageLanguage | None, render: Path | None) -> None:
    if by and by not in GROUPINGS:
        raise UsageError(f"--by {by!r} is not a grouping; choose one of {', '.join(GROUPINGS)}")
    if language is not None:
        raise UsageError("--language needs the URL of a page")
    if render is not None:
        raise UsageError("--render needs the URL of a page")


def _report_page(
    study: PageStudy,
    html: str,
    limit: int,
    pictures: Path | None,
    picture_format: PictureFormat,
    render: Path | None,
    as_json: bool,
) -> None:
    """Print the report of a page, and write its charts and the coloured page."""
    if not as_json:
        print_page_report(study, limit)
    charts = None
    if pictures is not None:
        from freshet.analysis.charts import draw_page_charts

        with progress_bar("drawing", quiet=as_json) as advance:
            charts = draw_page_charts(study, pictures, picture_format, advance)
    if render is not None:
        with atomic_output(render) as temporary_file:
            temporary_file.write_text(html, "utf-8")
    if as_json:
        print_json(page_report_document(study) | _file_lists(charts, render))
    else:
        _print_files(charts, render)


def _analyse_all(
    folder: Path,
    by: str,
    tag: str,
    source: str | None,
    period: AnalysisPeriod,
    limit: int,
    pictures: Path | None,
    picture_format: PictureFormat,
    as_json: bool,
) -> None:
    with (
        CollectionStore.open(folder) as store,
        progress_bar("measuring pages", quiet=as_json) as bar,
        interruptible(bar) as report_progress,
    ):
        analysis = analyse_collection(
            store,
            by=by,
            scope=AnalysisScope(tag or None, source, period),
            progress=report_progress,
        )
    if not as_json:
        print_group_report(analysis, limit)
    charts = None
    if pictures is not None:
        from freshet.analysis.charts import draw_collection_charts

        with progress_bar("drawing", quiet=as_json) as advance:
            charts = draw_collection_charts(analysis, pictures, picture_format, advance)
    if as_json:
        print_json(group_report_document(analysis) | _file_lists(charts, None))
    else:
        _print_files(charts, None)


def _file_lists(charts: "ChartFiles | None", rendered: Path | None) -> dict[str, Sequence[object]]:
    files = [*(charts.files if charts else ()), *([rendered] if rendered else ())]
    return {"files": files, "not_drawn": charts.missing_charts if charts else ()}


def _print_files(charts: "ChartFiles | None", rendered: Path | None) -> None:
    """Print the files that were written, and why some charts were not."""
    if charts is not None:
        print_text("")
        folder = f" in {charts.files[0].parent}" if charts.files else ""
        names = ", ".join(path.name for path in charts.files)
        count = count_text(len(charts.files), "chart")
        print_text(f"Wrote {count}{folder}: {names}".rstrip(": "))
        for reason in charts.missing_charts:
            print_warning(reason)
    if rendered is not None:
        print_text(f"Wrote {rendered}")
