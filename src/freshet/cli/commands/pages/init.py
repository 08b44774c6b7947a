"""Creates a folder with `freshet.toml` (settings), `catalog.db` (database), `archive/` (WARC files)
and `models/` (learned formulas).

The contact is sent in the User-Agent header of every request, so that site owners can reach you.
Without --contact the command asks for it.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import print_json, print_text
from freshet.core.errors import UsageError
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to create.")] = Path(),
    contact: Annotated[
        str,
        typer.Option(metavar="TEXT", help="Email address or URL to send in the User-Agent header."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Create a collection."""
    with CollectionStore.create(
        folder, contact=contact.strip() or _ask_for_contact()
    ) as collection:
        document = {"collection": folder.resolve(), "contact": collection.settings.contact}
    if as_json:
        print_json(document)
    else:
        print_text(f"Created a collection in {folder}. Add pages with: freshet add URL -C {folder}")


def _ask_for_contact() -> str:
    if not sys.stdin.isatty():
        raise UsageError("a contact is required: --contact you@example.org")
    return str(typer.prompt("Contact for the User-Agent (email address or URL)", err=True)).strip()
