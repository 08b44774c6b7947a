"""Simulates the crawl from now on without fetching, and lists the visits in order: when each is
expected, its value and the reason. Values are scaled from 0 to 100, where 100 is the most valuable
visit in the list. They and the probabilities are those at the expected time. Host delays and active
hours are respected. Results of the visits are not known in advance, so each page appears once, with
its next visit within a day. The last line gives the share of exploratory visits, which are made for
what they teach about other pages.
"""

from typing import Annotated, Any

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table, print_text
from freshet.core.types import Plan, PlannedVisit
from freshet.crawl.plan import make_plan, objective_origin
from freshet.record.collection_store import CollectionStore

DEFAULT_LIMIT = 20

app = new_app()


@app.command()
def plan(
    budget: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Page requests per day: 500, 20/hour, or 5% of the pages. Default: the "
            "budget of the running crawl, else the setting.",
        ),
    ] = "",
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Objective to plan for: freshness, changes, links or timeliness. Default: that "
            "of the running or last crawl, else the setting.",
        ),
    ] = "",
    limit: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Maximum number of visits to list; 0 lists a day's budget."
        ),
    ] = DEFAULT_LIMIT,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show the next visits with their time, value and reason."""
    with CollectionStore.open(collection) as store:
        visit_plan = make_plan(store, budget=budget, objective=objective, limit=limit or None)
        origin = "" if objective else objective_origin(store)
        has_live_pages = next(store.pages(source=""), None) is not None
    if as_json:
        print_json(visit_plan)
    else:
        _print(visit_plan, origin, has_live_pages=has_live_pages)


def _print(visit_plan: Plan, origin: str, *, has_live_pages: bool) -> None:
    objective = f"{visit_plan.objective} ({origin})" if origin else visit_plan.objective
    policy = f"objective {objective}   policy {visit_plan.policy}"
    print_text(f"{policy}   {visit_plan.budget:,} requests per day")
    if not has_live_pages:
        print_text("There are no live pages; 'freshet add URL' adds one.")
        return
    if not visit_plan.choices:
        print_text("No page can be visited within a day; 'freshet why URL' explains why.")
        return
    title = "values and probabilities at the expected times; 100 is the greatest value"
    print_table(
        ("expected", "value", "page", "reason"), map(_cells, visit_plan.choices), title=title
    )
    if visit_plan.exploratory_share is not None:
        count = sum(visit.exploratory for visit in visit_plan.choices)
        print_text(
            f"exploration: {visit_plan.exploratory_share:.1%} of these visits "
            f"({count:,} of {len(visit_plan.choices):,})"
        )


def _cells(visit: PlannedVisit) -> tuple[Any, ...]:
    return (visit.expected, visit.score, visit.page.url, visit.reason)
