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
    SourceOption,
    YesOption,
    new_app,
)
from freshet.cli.output import format_count, format_size, print_json, print_text
from freshet.cli.page_selection import confirm
from freshet.collection.prune import PruneSummary
from freshet.collection.prune import prune as prune_versions
from freshet.core.errors import UsageError
from freshet.record.store import CollectionStore

DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
LONGEST_DAYS = 365_000

app = new_app()


@app.command()
def prune(
    older_than: Annotated[
        str, typer.Option(metavar="AGE", help="Only versions older than this: 90d, 8w, 3m or 1y.")
    ],
    keep: Annotated[
        str,
        typer.Option(
            metavar="PERIOD", help="Keep the last version of each period: day, week, month or year."
        ),
    ] = "month",
    source: SourceOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be deleted.")
    ] = False,
    yes: YesOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Thin old versions, never silently."""
    age = _age(older_than)
    with CollectionStore.open(collection) as opened:
        done = prune_versions(opened, older_than=age, keep=keep, source=source, apply=False)
        if done.versions and not dry_run:
            confirm(f"{_sentence(done)} Drop them for good?", yes)
            done = prune_versions(opened, older_than=age, keep=keep, source=source, apply=True)
    if as_json:
        print_json(done)
    else:
        print_text(
            _sentence(done) + ("" if dry_run else f" Freed {format_size(done.freed_bytes)}.")
        )


def _sentence(plan: PruneSummary) -> str:
    """Say what goes."""
    versions, pages = format_count(plan.versions, "version"), format_count(plan.pages, "page")
    return f"The bytes of {versions} of {pages} go ({format_size(plan.stored_bytes)})."


def _age(text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,6})([dwmy])", text)
    days = int(found[1]) * DAYS[found[2]] if found else LONGEST_DAYS + 1
    if days > LONGEST_DAYS:
        raise UsageError(f"--older-than {text!r} is no age; write 90d, 8w, 3m or 1y")
    return timedelta(days=days)
