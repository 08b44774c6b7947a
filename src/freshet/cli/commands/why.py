"""What keeps a page from being visited now (paused, closed by robots.txt, empty without scripts,
outside its hours, host closed) comes first; then when its next check is expected, how likely it has
changed, how often it changes, what a visit is worth against the multiplier that spends the budget,
and what all of this rests on. Rates come with the bounds of 90 % of their probability.
"""

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, PageUrl, Source, new_app
from freshet.cli.output import print_json, print_table
from freshet.flow.collection import Collection
from freshet.flow.why import why as explain

app = new_app()


@app.command()
def why(
    url: PageUrl,
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Explain a page's place in the plan."""
    with Collection.open(collection) as opened:
        page = opened.page(url, source=source, removed=source is None)
        found = explain(opened, page)
    if as_json:
        print_json(found)
    else:
        print_table(("", ""), found.lines())
