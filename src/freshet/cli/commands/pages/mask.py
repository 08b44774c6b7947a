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
    PageSourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table, print_text
from freshet.collection.masks import (
    MaskRuleEffect,
    add_mask_rules,
    mask_rule_effects,
    remove_mask_rules,
)
from freshet.core.humanize import count_text
from freshet.crawl.noise import learn_and_keep_mask, why_too_large_to_learn
from freshet.measure.noise.mask import Mask
from freshet.record.change_criteria import page_mask
from freshet.record.collection_store import CollectionStore
from freshet.record.remeasure_pages import remeasure_pages

app = new_app()


@app.command()
def mask(
    url: PageArgument,
    patterns_to_hide: Annotated[
        list[str] | None,
        typer.Option(
            "--hide",
            metavar="WHAT",
            help="Add a rule: a text pattern (# matches a number, * any text) or the path of "
            "an element, such as /html/body/aside. Can be repeated.",
        ),
    ] = None,
    rules_to_delete: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="RULE",
            help="Stop hiding what a rule matches: delete the rule, given by number or text, and "
            "never learn it again. Can be repeated.",
        ),
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="Learn rules from the stored versions now.")
    ] = False,
    recompute: Annotated[
        bool, typer.Option("--again", help="Recompute the changes of earlier visits with the mask.")
    ] = False,
    source: PageSourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show or edit the noise mask of a page."""
    with CollectionStore.open(collection) as store:
        page = store.page(url, source=source)
        if rules_to_delete:
            remove_mask_rules(store, page, rules_to_delete)
        if patterns_to_hide:
            add_mask_rules(store, page, patterns_to_hide)
        learned_mask = learn_and_keep_mask(store, page) if learn else None
        recomputed = remeasure_pages(store, [page]) if recompute else None
        current_mask = page_mask(store, page)
        rows = mask_rule_effects(page, current_mask)
        reason_not_learned = why_too_large_to_learn(store, page)
    if as_json:
        print_json({
            "page": url,
            "version": current_mask.version,
            "rules": rows,
            "never": current_mask.never,
            "measured": recomputed,
            "not_learnt": reason_not_learned,
        })
        return
    if learn and learned_mask is None:
        print_text("No new rule was learned from the stored versions.")
    _print(url, current_mask, rows)
    if reason_not_learned:
        print_text(f"No mask is learned for this page, because it has {reason_not_learned}.")
    if recomputed is not None:
        print_text(f"Recomputed {count_text(recomputed, 'visit')}.")
    elif rules_to_delete or patterns_to_hide or learned_mask:
        print_text(
            f"Earlier visits keep their results; 'freshet mask {url} --again' recomputes them."
        )


def _print(url: str, current_mask: Mask, rows: list[MaskRuleEffect]) -> None:
    if not rows:
        print_text(f"The mask of {url} has no rules.")
    else:
        print_table(
            ("rule", "pattern", "by", "hits", "now", "why"),
            [
                (str(number), row.rule.what, row.rule.by, str(row.hits), row.sample, row.rule.why)
                for number, row in enumerate(rows, 1)
            ],
        )
    for number, row in enumerate(rows, 1):
        for line in row.rule.but:
            print_text(
                f"Rule {number} matches text that stays, which is therefore not masked: {line}"
            )
    if current_mask.never:
        print_text(f"Never masked: {', '.join(current_mask.never)}")
