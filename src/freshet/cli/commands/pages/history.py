"""A look is a visit that showed the page's content, or that it was unchanged. For looks the table
also shows the change since the previous look.

Columns: `v` is the version number that `freshet diff` and `freshet show` accept; `time`, `outcome`
and `bytes` are those of the visit; `changed` says whether it found a change; `dice` is the
similarity of the words of both looks, from 0 (no common words) to 1 (the same words); `words`
counts changed words; `links` counts new and removed links; `kept` says whether the bytes of the
version are still stored; `found at` is the URL after redirects; `burst` marks the looks of a burst.

A burst is a series of looks within minutes. The crawl makes bursts at pages that change at every
visit, to measure how fast they change.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from freshet.archive.catalog.rows import HistoryRow
from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    PageSourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table, print_text
from freshet.core.bursts import BurstKind, BurstSample
from freshet.core.humanize import duration_text
from freshet.core.strict_json import to_json_value
from freshet.core.tables import DAY_SECONDS
from freshet.core.types import Change
from freshet.record.collection_store import CollectionStore

COLUMNS = ("v", "time", "outcome", "changed", "dice", "words", "links", "bytes", "kept", "found at")

Samples = Mapping[int | None, BurstSample]

app = new_app()


@app.command()
def history(
    url: PageArgument,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only visits that found a change.")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="Show only the latest N visits; 0 shows all.")
    ] = 0,
    source: PageSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """List the visits of a page in time order."""
    with CollectionStore.open(collection) as store:
        page = store.page(url, source=source)
        rows = page.history(limit=limit or None, changed=changed)
        numbers = {version.row.visit.uid: version.number for version in page.versions}
        same_url = store.catalog.pages_with_url(page.url)
        samples: Samples = {sample.visit: sample for sample in store.catalog.burst_samples(page.id)}
    if as_json:
        print_json([_document(numbers.get(row.visit.uid), row, samples) for row in rows])
    elif rows:
        columns = (*COLUMNS, "burst") if samples else COLUMNS
        cells = [_cells(numbers.get(row.visit.uid), row) for row in rows]
        marks = [_describe_sample(samples.get(row.visit.id)) for row in rows]
        marked_cells = [
            (*row, mark) if samples else row for row, mark in zip(cells, marks, strict=True)
        ]
        print_table(columns, marked_cells)
    elif changed:
        print_text(
            f"No visit to {page.url} found a change yet; 'freshet history' lists all visits."
        )
    else:
        sources = ", ".join(item.source for item in same_url if item.source != page.source)
        hint = f" It also exists in source {sources}: use --source." if sources else ""
        print_text(f"{page.url} has not been visited yet.{hint}")


def _document(number: int | None, row: HistoryRow, samples: Samples) -> dict[str, Any]:
    """Return a row for JSON, without lists of links if no links were compared."""
    sample = samples.get(row.visit.id)
    document = {"version": number, "kept": _is_kept(number, row), **to_json_value(row)}
    document["sample"] = None if sample is None else to_json_value(sample)
    if row.change is not None and row.change.links is None:
        for name in ("new_links", "removed_links"):
            del document["change"][name]
    return document


def _cells(number: int | None, row: HistoryRow) -> tuple[Any, ...]:
    visit, change = row.visit, row.change
    stored = (visit.size, _is_kept(number, row), visit.final_url)
    if change is None:
        return (number, visit.time, visit.outcome_text, *[None] * 4, *stored)
    measures = (change.changed, change.dice, change.words, _format_links(row, change))
    return (number, visit.time, visit.outcome_text, *measures, *stored)


def _describe_sample(sample: BurstSample | None) -> str:
    """Return which look of a burst a visit was.

    >>> _describe_sample(BurstSample(5, 1, 4, BurstKind.FAST, 120.0)), _describe_sample(None)
    ('fast, 2 minutes', '')
    """
    if sample is None:
        return ""
    if sample.visit == sample.first:
        return f"{sample.kind}, first"
    if sample.kind is BurstKind.INSTANT:
        return f"{sample.kind}, {'one delay apart' if sample.apart else 'at once'}"
    return f"{sample.kind}, {duration_text(sample.offset / DAY_SECONDS)}"


def _is_kept(number: int | None, row: HistoryRow) -> bool | None:
    """Return whether the bytes of a version are still stored, or None for other visits."""
    return None if number is None else row.visit.location is not None


def _format_links(row: HistoryRow, change: Change) -> str:
    """Return the numbers of new and removed links, as far as they are known.

    The number that the page never had before is added if it differs from that of new ones.
    """
    new, never_seen = change.new_link_count, change.never_seen
    if new is None:
        return ""
    removed = "" if row.removed_links is None else f" -{row.removed_links}"
    unseen = "" if never_seen is None or never_seen == new else f", {never_seen} never seen"
    return f"+{new}{removed}{unseen}"
