"""Shows the probability that the page differs from its last look: now, and in an hour, six hours, a
day, a week and a month. A look is a visit that showed the page's content, or that it was unchanged.
Before the first look it is the probability of a change from now on, estimated from pages of the
same host and site. If `freshet learn` has learned a model that is better than the default forecast,
the probabilities are those of the model, and the model is named. A page whose last visit showed no
content has no forecast; the reason is shown instead. Nor have imported pages, before
`freshet add URL` makes them live.

The last column is the number of new links that a look at that time is expected to find: links that
the page never had before. It counts from the last look, or from now before the first one. If
`freshet learn` has learned a model of new links that is better than the default forecast and no
worse than rules that repeat the past, it is that of the model, and the model is named.

If posts are looked for on the page (setting `page.thread`), it is shown how many were found, and
when the next one is expected: the time by which it is as likely as not, and the interval in which
it comes with 80 % probability. A page without posts says why it was not taken for a thread.
If `freshet learn` has learned a model of posts that is better than the one that Freshet comes with,
it is used and named.
"""

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    PageSourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table, print_text
from freshet.collection.page import CollectionPage
from freshet.core.humanize import count_text, duration_text, quantity_text
from freshet.core.local_time import format_to_second
from freshet.crawl.forecast import PageForecast
from freshet.record.collection_store import CollectionStore

MIN_SHOWN_LINKS = 0.005

app = new_app()


@app.command()
def forecast(
    url: PageArgument,
    source: PageSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show how likely a page is to have changed at given times."""
    with CollectionStore.open(collection) as store:
        page = CollectionPage(store.find_page(url, source=source), store)
        page_forecast = page.forecast()
    if as_json:
        print_json(page_forecast)
    else:
        _print(page_forecast)
        if page_forecast.link_model and not page_forecast.obstacle:
            print_text(f"new links by {page_forecast.link_model}")
        elif page_forecast.link_problem and not page_forecast.obstacle:
            print_text(f"new links not by the learned model: {page_forecast.link_problem}")
        if page_forecast.post_model:
            print_text(f"posts by {page_forecast.post_model}")
        elif page_forecast.post_problem:
            print_text(f"posts not by the learned model: {page_forecast.post_problem}")
        if page_forecast.thread_text and page_forecast.next_post is None:
            print_text(page_forecast.thread_text)


def _print(page_forecast: PageForecast) -> None:
    last_look = (
        "no look yet"
        if page_forecast.last_look is None
        else f"last look {format_to_second(page_forecast.last_look)}"
    )
    print_text(f"{page_forecast.page.url}   {last_look}")
    if page_forecast.obstacle:
        print_text(f"no forecast: {page_forecast.obstacle}")
        return
    if how_often := _how_often(page_forecast):
        print_text(how_often)
    if page_forecast.site_changes:
        print_text(page_forecast.site_changes)
    if page_forecast.model:
        print_text(f"by {page_forecast.model}")
    elif page_forecast.problem:
        print_text(f"not by the learned model: {page_forecast.problem}")
    rows = [
        (
            f"in {duration_text(horizon.days)}" if horizon.days else "now",
            horizon.by,
            f"{horizon.changed:.1%}",
            quantity_text(horizon.new_links) if horizon.new_links >= MIN_SHOWN_LINKS else "0",
        )
        for horizon in page_forecast.horizons
    ]
    print_table(("changed", "by", "probability", "new links"), rows)


def _how_often(page_forecast: PageForecast) -> str:
    """Return how often the page changes and what that rests on; of a thread, its posts."""
    if page_forecast.next_post is not None:
        return page_forecast.thread_text
    if not page_forecast.looks:
        return "not known yet; these are the probabilities of similar pages"
    if not page_forecast.how_often:
        return ""
    if not page_forecast.changes:
        return f"{page_forecast.how_often}; the chance of one comes mostly from other pages"
    changes = count_text(page_forecast.changes, "change")
    looks = count_text(page_forecast.looks, "compared look")
    return f"{page_forecast.how_often}; {changes} in {looks}"
