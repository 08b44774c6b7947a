"""Plays the crawl ahead from now, without fetching: the pages in the order of their visits, when
each is expected, what it is worth then, and why. Values go from 0 to 100, where 100 is the visit
worth most of those shown. Hosts are asked no more often than they may be.
What the visits would find is not known: every page comes once, at its next visit within a day.
"""

from typing import Annotated, Any

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table, print_text
from freshet.core.types import Plan, PlannedVisit
from freshet.crawl.plan import make_plan as make_plan
from freshet.record.store import CollectionStore

DEFAULT_LIMIT = 20

app = new_app()


@app.command()
def plan(
    budget: Annotated[
        str, typer.Option(metavar="N", help="Requests a day: 500, 20/hour or 5%; else what holds.")
    ] = "",
    objective: Annotated[
        str, typer.Option(metavar="NAME", help="freshness or changes; else the setting.")
    ] = "",
    limit: Annotated[
        int, typer.Option(min=0, metavar="N", help="At most so many visits; 0 for a day's budget.")
    ] = DEFAULT_LIMIT,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show what would be fetched next, and for what value."""
    with CollectionStore.open(collection) as opened:
        found = make_plan(opened, budget=budget, objective=objective, limit=limit or None)
        has_live_pages = next(opened.pages(source=""), None) is not None
    if as_json:
        print_json(found)
    else:
        _print(found, has_live_pages=has_live_pages)


def _print(found: Plan, *, has_live_pages: bool) -> None:
    print_text(
        f"objective {found.objective}   policy {found.policy}   {found.budget:,} requests a day"
    )
    if not has_live_pages:
        print_text("There are no live pages to visit; 'freshet add URL' adds one.")
        return
    if not found.choices:
        print_text(
            "Nothing can be fetched within a day; 'freshet why URL' says what a page waits for."
        )
        return
    print_table(("expected", "value", "page", "reason"), map(_cells, found.choices))


def _cells(visit: PlannedVisit) -> tuple[Any, ...]:
    return (visit.expected, visit.score, visit.page.url, visit.reason)
