"""Shared implementation of `pause` and `resume`."""

from collections.abc import Sequence
from pathlib import Path

from freshet.cli.output import print_json, print_text
from freshet.cli.page_selection import select_pages
from freshet.collection.collection import Collection
from freshet.core.humanize import count_text


def set_paused(
    folder: Path,
    urls: Sequence[str] | None,
    tag: str,
    source: str | None,
    *,
    paused: bool,
    as_json: bool,
) -> None:
    """Pause or resume pages and print their number."""
    with Collection.open(folder) as opened:
        pages = select_pages(opened, urls, tag, source)
        (opened.pause if paused else opened.resume)(pages)
    state = "paused" if paused else "resumed"
    if as_json:
        print_json({state: len(pages)})
    else:
        print_text(f"{state.capitalize()} {count_text(len(pages), 'page')}.")
