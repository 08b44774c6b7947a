"""The probability that the page differs from what its last look showed: now, and in an hour, six
hours, a day, a week and a month from now. The time that has passed since the last look counts.
Before the first look it is the probability of a change from now on, by what is known of its host
and site. There is no forecast for a page whose last visit showed no content; what stands in the
way is said instead.
"""

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, PageUrl, Source, new_app
from freshet.cli.output import print_json, print_table, say
from freshet.collection.page import CollectionPage
from freshet.core.humanize import span
from freshet.core.local_time import to_second
from freshet.crawl.forecast import PageForecast
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def forecast(
    url: PageUrl,
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
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
    seen = "never seen" if found.last_look is None else f"last seen {to_second(found.last_look)}"
    say(f"{found.page.url}   {seen}")
    if found.obstacle:
        say(f"no forecast: {found.obstacle}")
        return
    if not found.looks:
        say("not known yet; the probabilities are those of pages like it")
    elif found.how_often:
        say(f"{found.how_often}; {found.changes:,} changes in {found.looks:,} compared looks")
    rows = [("now" if not each.days else f"in {span(each.days)}", each.by, f"{each.changed:.1%}")
            for each in found.horizons]  # fmt: skip
    print_table(("changed", "by", "probability"), rows)
