"""What changes at every visit by itself (clocks, counters, adverts) is learnt and left out before
versions are compared; this shows what, and why. `--hide` leaves out more: a text in which `#`
stands for a number and `*` for anything, or the path of an element (`/html/body/aside`). `--show`
takes a rule out, by its number or text, for good. `--learn` looks at the stored versions now.
Visits so far keep what was measured, unless `--again` measures them anew.
"""

from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, PageUrl, Source, new_app
from freshet.cli.output import counted, print_json, print_table, say
from freshet.collection.masks import Hidden, hide, hides, show
from freshet.crawl.noise import keep_learnt, why_not_learnt
from freshet.measure.noise.mask import Mask
from freshet.record.change_criteria import mask_of_page
from freshet.record.remeasure_pages import measure_again
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def mask(
    url: PageUrl,
    hidden: Annotated[
        list[str] | None,
        typer.Option("--hide", metavar="WHAT", help="Leave out this text or element too."),
    ] = None,
    shown: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="RULE", help="Take out a rule, by number or text."),
    ] = None,
    learn: Annotated[bool, typer.Option("--learn", help="Learn from the stored versions.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Measure the visits so far under the mask.")
    ] = False,
    source: Source = None,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Show or edit what is left out of a page as noise."""
    with CollectionStore.open(collection) as opened:
        page = opened.page(url, source=source)
        if shown:
            show(opened, page, shown)
        if hidden:
            hide(opened, page, hidden)
        learnt = keep_learnt(opened, page) if learn else None
        measured = measure_again(opened, [page]) if again else None
        found = mask_of_page(opened, page)
        rows = hides(page, found)
        not_learnt = why_not_learnt(opened, page)
    if as_json:
        print_json({
            "page": url, "version": found.version, "rules": rows, "never": found.never,
            "measured": measured, "not_learnt": not_learnt,
        })  # fmt: skip
        return
    if learn and learnt is None:
        say("Nothing new was learnt from the stored versions.")
    _print(url, found, rows)
    if not_learnt:
        say(f"The noise of this page is not learnt, as it has {not_learnt}.")
    if measured is not None:
        say(f"Measured {counted(measured, 'visit')} again.")
    elif shown or hidden or learnt:
        say(f"Visits so far keep what was measured; 'freshet mask {url} --again' measures anew.")


def _print(url: str, found: Mask, rows: list[Hidden]) -> None:
    if not rows:
        say(f"Nothing of {url} is left out.")
    else:
        print_table(
            ("rule", "what is left out", "by", "hits", "now", "why"),
            [
                (str(number), row.rule.what, row.rule.by, str(row.hits), row.sample, row.rule.why)
                for number, row in enumerate(rows, 1)
            ],
        )
    for number, row in enumerate(rows, 1):
        for line in row.rule.but:
            say(f"Rule {number} hits what came to stay, which is shown: {line}")
    if found.never:
        say(f"Never left out: {', '.join(found.never)}")
