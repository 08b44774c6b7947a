"""Rows and measured changes are kept; only the bytes of old versions are deleted. The first and
last version of every page are always kept. The command shows what it would delete and asks before
it does.
"""

import re
from datetime import timedelta
from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    SourceFilterOption,
    YesOption,
    new_app,
)
from freshet.cli.output import print_json, print_text
from freshet.cli.page_selection import confirm
from freshet.collection.prune import PruneSummary
from freshet.collection.prune import prune as prune_versions
from freshet.core.errors import UsageError
from freshet.core.humanize import count_text, format_size
from freshet.record.collection_store import CollectionStore

DAYS_BY_UNIT = {"d": 1, "w": 7, "m": 30, "y": 365}
MAX_DAYS = 365_000

app = new_app()


@app.command()
def prune(
    older_than: Annotated[
        str,
        typer.Option(
            metavar="AGE",
            help="Only versions older than this: 90d, 8w, 3m (months of 30 days) or 1y.",
        ),
    ],
    keep: Annotated[
        str,
        typer.Option(
            metavar="PERIOD", help="Keep the last version of each period: day, week, month or year."
        ),
    ] = "month",
    source: SourceFilterOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be deleted.")
    ] = False,
    yes: YesOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Delete the bytes of most old versions."""
    age = _parse_age(older_than)
    with CollectionStore.open(collection) as store:
        summary = prune_versions(store, older_than=age, keep=keep, source=source, apply=False)
        if summary.versions and not dry_run:
            confirm(f"{_describe(summary)} Delete them permanently?", yes)
            summary = prune_versions(store, older_than=age, keep=keep, source=source, apply=True)
    if as_json:
        print_json(summary)
    else:
        print_text(
            _describe(summary) + ("" if dry_run else f" Freed {format_size(summary.freed_bytes)}.")
        )


def _describe(summary: PruneSummary) -> str:
    """Return what is deleted."""
    versions, pages = count_text(summary.versions, "version"), count_text(summary.pages, "page")
    return f"Bytes of {versions} of {pages} to delete: {format_size(summary.stored_bytes)}."


def _parse_age(text: str) -> timedelta:
    match = re.fullmatch(r"(\d{1,6})([dwmy])", text)
    days = int(match[1]) * DAYS_BY_UNIT[match[2]] if match else MAX_DAYS + 1
    if days > MAX_DAYS:
        raise UsageError(f"--older-than {text!r} is not an age; write 90d, 8w, 3m or 1y")
    return timedelta(days=days)
