"""The folder gets `freshet.toml`, `catalog.db`, `archive/` and `models/`.

The contact is named in the User-Agent, so that the people whose pages are visited can reach you.
Without `--contact` you are asked for it.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.options import JsonOption, new_app
from freshet.cli.output import print_json, print_text
from freshet.core.errors import UsageError
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to make it.")] = Path(),
    contact: Annotated[
        str, typer.Option(metavar="TEXT", help="Mail address or URL named in the User-Agent.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a collection."""
    with CollectionStore.create(folder, contact=contact.strip() or _ask()) as collection:
        made = {"collection": folder.resolve(), "contact": collection.settings.contact}
    if as_json:
        print_json(made)
    else:
        print_text(f"Made a collection in {folder}. Add pages with: freshet add URL -C {folder}")


def _ask() -> str:
    if not sys.stdin.isatty():
        raise UsageError("a contact is needed; give one with --contact you@example.org")
    return str(typer.prompt("Contact for the User-Agent (mail address or URL)", err=True)).strip()
