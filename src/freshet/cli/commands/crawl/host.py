"""Shows the delay between requests, when the next request is allowed, the back-off with its number
of failures, and the state of robots.txt. NAME is a host, with its port if it has one, or a URL on
it.

--reopen ends the back-off and discards a robots.txt that could not be fetched; a running crawl
notices this within about a second. The delay still applies, and failed pages keep their own
back-off; `freshet check-now` requests them.
"""

from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table, print_text
from freshet.collection.host_report import host_report, reopen_host
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command()
def host(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Host name, host:port, or a URL on the host.")
    ],
    reopen: Annotated[
        bool,
        typer.Option(
            "--reopen", help="End the back-off and discard a robots.txt that could not be fetched."
        ),
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Show the state of a host; --reopen ends its back-off."""
    with CollectionStore.open(collection) as store:
        reopened = reopen_host(store, name) if reopen else None
        report = reopened.host if reopened else host_report(store, name)
    if as_json:
        print_json(reopened or report)
        return
    print_table(("", ""), report.lines())
    if reopened:
        next_step = (
            f"{reopened.crawl} can request it"
            if reopened.crawl
            else "the next crawl can request it"
        )
        print_text(f"Reopened {report.host}; {next_step}.")
