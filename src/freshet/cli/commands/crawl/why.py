"""What keeps a page from being visited now (paused, closed by robots.txt, empty without scripts,
outside its hours, host closed) comes first; then when its next check is expected, how likely it has
changed, how often it changes, what a visit is worth (0 to 100, where 100 is worth its place in the
budget now), and what all of this rests on. Rates come with the bounds of 90 % of their probability.
Nothing is forecast of a page whose last visit showed no content.
"""

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    SourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table, to_json_value
from freshet.crawl.why import explain_page as explain
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def why(
    url: PageArgument,
    source: SourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Explain a page's place in the plan."""
    with CollectionStore.open(collection) as opened:
        page = opened.page(url, source=source, removed=source is None)
        found = explain(opened, page)
    if as_json:
        known = found.explanation
        print_json({
            **to_json_value(found),
            "readiness": None if known is None else known.readiness,
        })
    else:
        print_table(("", ""), found.lines())
