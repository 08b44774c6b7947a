"""Shows the collection in a browser: what changed, what is expected to change, where the budget
goes and why. Everything is also answered as JSON under /api/v1. It works beside a running crawl.

The dashboard is served to this machine only. With another --host, everybody needs the --token.
Changes (adding pages, pausing, muting) always need it; without --token a new one is printed at
every start. Stored pages are served on the next port, without their scripts. Ctrl-C stops it.
"""

from typing import Annotated

import typer

from freshet.cli.dashboard import DEFAULT_HOST, DEFAULT_PORT, MAX_PORT, open_server
from freshet.cli.interrupts import wait_for_interrupt
from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, new_app
from freshet.cli.output import print_json, print_text

app = new_app()


@app.command()
def serve(
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=MAX_PORT,
            metavar="PORT",
            help="Port of the dashboard; stored pages use the next one. 0 selects free ports.",
        ),
    ] = DEFAULT_PORT,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on. Any other than that of this machine needs --token.",
        ),
    ] = DEFAULT_HOST,
    token: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="Token for changes, at least 8 letters. Default: a random one."
        ),
    ] = "",
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the addresses as one JSON document.")
    ] = False,
) -> None:
    """Show the collection in a browser, with a JSON API."""
    with open_server(collection, host, port, token) as address:
        if as_json:
            print_json(address)
        else:
            print_text(f"Dashboard: {address.url}")
            print_text(f"To change things, sign in: {address.sign_in_url}")
            print_text("Ctrl-C stops it.")
        wait_for_interrupt()
