"""Shows the delay between two requests, when the host may be asked next, how long it is backed off
and after how many failures, and what came of its robots.txt. NAME is a host, with its port where it
has one, or a URL on it.

With --reopen the back-off and a robots.txt that failed are cleared; a running crawl takes this up
within about a second. The delay holds on, and pages that failed keep their own back-off:
'freshet check-now' asks for them.
"""

from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table, print_text
from freshet.collection.host_report import host_report, reopen_host
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def host(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The host, or a URL on it.")],
    reopen: Annotated[
        bool, typer.Option("--reopen", help="Clear its back-off and a robots.txt that failed.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show how a host is treated; --reopen clears its back-off."""
    with CollectionStore.open(collection) as opened:
        reopened = reopen_host(opened, name) if reopen else None
        report = reopened.host if reopened else host_report(opened, name)
    if as_json:
        print_json(reopened or report)
        return
    print_table(("", ""), report.lines())
    if reopened:
        then = f"{reopened.crawl} takes it up" if reopened.crawl else "the next crawl may ask it"
        print_text(f"Reopened {report.host}; {then}.")
