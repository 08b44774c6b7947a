"""Shows first what prevents a visit now: paused, excluded by robots.txt, empty without JavaScript,
outside its active hours, or host in back-off. Then it shows the expected time of the next visit,
the probability of a change, the change rate with its 90 % interval, whether many pages of its site
have changed, and the value of a visit from 0 to 100, where 100 is enough to be visited now. A page
whose last visit showed no content has no forecast.
"""

from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    PageSourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table
from freshet.core.strict_json import to_json_value
from freshet.crawl.why import explain_page as explain
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command()
def why(
    url: PageArgument,
    source: PageSourceOption = None,
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Objective to explain the visits for: freshness, changes, links or timeliness. "
            "Default: that of the running or last crawl, else the setting.",
        ),
    ] = "",
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Explain when and why a page will be visited."""
    with CollectionStore.open(collection) as store:
        page = store.page(url, source=source, removed=source is None)
        report = explain(store, page, objective=objective)
    if as_json:
        explanation = report.explanation
        print_json({
            **to_json_value(report),
            "readiness": None if explanation is None else explanation.readiness,
        })
    else:
        print_table(("", ""), report.lines())
