"""The probability that the page differs from what its last look showed: now, and in an hour, six
hours, a day, a week and a month from now. The time that has passed since the last look counts.
Before the first look it is the probability of a change from now on, by what is known of its host
and site.
"""

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, PageUrl, Source, new_app
from freshet.cli.output import print_json, print_table, say
from freshet.core.spans import every, span
from freshet.flow.collection import Collection
from freshet.flow.forecast import PageForecast

app = new_app()


@app.command()
def forecast(
    url: PageUrl,
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Show how likely a page is to have changed by when."""
    with Collection.open(collection) as opened:
        found = opened.page(url, source=source).forecast()
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: PageForecast) -> None:
    seen = (
        "never seen"
        if found.last_look is None
        else f"last seen {found.last_look:%Y-%m-%d %H:%M:%S}"
    )
    say(f"{found.page.url}   {seen}")
    if found.rate is not None:
        say(f"changes {every(found.rate)}; {found.changes:,} in {found.looks:,} compared looks")
    rows = [("now" if not each.days else f"in {span(each.days)}", each.by, f"{each.changed:.1%}")
            for each in found.horizons]  # fmt: skip
    print_table(("changed", "by", "probability"), rows)
