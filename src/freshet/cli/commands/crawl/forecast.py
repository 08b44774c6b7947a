"""Shows the probability that the page differs from its last look: now, and in an hour, six hours, a
day, a week and a month. A look is a visit that showed the page's content, or that it was unchanged.
Before the first look it is the probability of a change from now on, estimated from pages of the
same host and site. A page whose last visit showed no content has no forecast; the reason is shown
instead.
"""

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    SourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table, print_text
from freshet.collection.page import CollectionPage
from freshet.core.humanize import duration_text
from freshet.core.local_time import format_to_second
from freshet.crawl.forecast import PageForecast
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def forecast(
    url: PageArgument,
    source: SourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show how likely a page is to have changed by when."""
    with CollectionStore.open(collection) as opened:
        page = CollectionPage(opened.find_page(url, source=source), opened)
        found = page.forecast()
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: PageForecast) -> None:
    seen = (
        "never seen"
        if found.last_look is None
        else f"last seen {format_to_second(found.last_look)}"
    )
    print_text(f"{found.page.url}   {seen}")
    if found.obstacle:
        print_text(f"no forecast: {found.obstacle}")
        return
    if not found.looks:
        print_text("not known yet; the probabilities are those of pages like it")
    elif found.how_often:
        print_text(
            f"{found.how_often}; {found.changes:,} changes in {found.looks:,} compared looks"
        )
    rows = [("now" if not each.days else f"in {duration_text(each.days)}", each.by, f"{each.changed:.1%}")
            for each in found.horizons]  # fmt: skip
    print_table(("changed", "by", "probability"), rows)
