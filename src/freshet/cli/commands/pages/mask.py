"""Some parts of a page differ at every visit without being a change: clocks, counters,
advertisements. Freshet learns rules that match them, the mask, and ignores the matching parts when
it compares versions. This command lists the rules with the reason for each. Visits that were
recorded before an edit keep their result, unless --again recomputes them.
"""

from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PageArgument,
    SourceOption,
    new_app,
)
from freshet.cli.output import format_count, print_json, print_table, print_text
from freshet.collection.masks import (
    MaskRuleEffect,
    add_mask_rules,
    mask_rule_effects,
    remove_mask_rules,
)
from freshet.crawl.noise import learn_and_keep_mask, why_too_large_to_learn
from freshet.measure.noise.mask import Mask
from freshet.record.change_criteria import page_mask
from freshet.record.remeasure_pages import remeasure_pages
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def mask(
    url: PageArgument,
    hidden: Annotated[
        list[str] | None,
        typer.Option(
            "--hide",
            metavar="WHAT",
            help="Add a rule: a text pattern (# matches a number, * any text) or the path of "
            "an element, such as /html/body/aside. Can be repeated.",
        ),
    ] = None,
    shown: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="RULE",
            help="Delete a rule, given by number or text, and never learn it again. Can be "
            "repeated.",
        ),
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Learn rules from the stored versions now.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Recompute the changes of earlier visits with the mask.")
    ] = False,
    source: SourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show or edit what is left out of a page as noise."""
    with CollectionStore.open(collection) as opened:
        page = opened.page(url, source=source)
        if shown:
            remove_mask_rules(opened, page, shown)
        if hidden:
            add_mask_rules(opened, page, hidden)
        learnt = learn_and_keep_mask(opened, page) if learn else None
        measured = remeasure_pages(opened, [page]) if again else None
        found = page_mask(opened, page)
        rows = mask_rule_effects(page, found)
        not_learnt = why_too_large_to_learn(opened, page)
    if as_json:
        print_json({
            "page": url, "version": found.version, "rules": rows, "never": found.never,
            "measured": measured, "not_learnt": not_learnt,
        })  # fmt: skip
        return
    if learn and learnt is None:
        print_text("Nothing new was learnt from the stored versions.")
    _print(url, found, rows)
    if not_learnt:
        print_text(f"The noise of this page is not learnt, as it has {not_learnt}.")
    if measured is not None:
        print_text(f"Measured {format_count(measured, 'visit')} again.")
    elif shown or hidden or learnt:
        print_text(
            f"Visits so far keep what was measured; 'freshet mask {url} --again' measures anew."
        )


def _print(url: str, found: Mask, rows: list[MaskRuleEffect]) -> None:
    if not rows:
        print_text(f"Nothing of {url} is left out.")
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
            print_text(f"Rule {number} hits what came to stay, which is shown: {line}")
    if found.never:
        print_text(f"Never left out: {', '.join(found.never)}")
