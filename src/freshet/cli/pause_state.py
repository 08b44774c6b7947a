"""Pause and resume are one thing said two ways."""

from collections.abc import Sequence
from pathlib import Path

from freshet.cli.output import format_count, print_json, print_text
from freshet.cli.page_selection import select_pages
from freshet.collection.collection import Collection


def set_paused(
    folder: Path, urls: Sequence[str] | None, tag: str, source: str | None,
    *, paused: bool, as_json: bool,
) -> None:  # fmt: skip
    """Pause or resume pages, and say how many there were."""
    with Collection.open(folder) as opened:
        pages = select_pages(opened, urls, tag, source)
        (opened.pause if paused else opened.resume)(pages)
    done = "paused" if paused else "resumed"
    if as_json:
        print_json({done: len(pages)})
    else:
        print_text(f"{done.capitalize()} {format_count(len(pages), 'page')}.")
