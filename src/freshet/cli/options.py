"""The options that commands share, and the app that each command is."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

DEFAULT_COLLECTION = Path(os.environ.get("FRESHET_COLLECTION") or ".")

CollectionOption = Annotated[
    Path,
    typer.Option(
        "--collection", "-C", metavar="DIR", help="The collection; also FRESHET_COLLECTION."
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of text.")
]
TagOption = Annotated[str, typer.Option("--tag", metavar="TAG", help="Every page with this tag.")]
SourceOption = Annotated[
    str | None,
    typer.Option("--source", metavar="NAME", help="Pages of this import; '' for live pages."),
]
PageArgument = Annotated[str, typer.Argument(metavar="URL", help="The page.")]
PagesArgument = Annotated[list[str] | None, typer.Argument(metavar="URL", help="The pages.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def new_app(**options: Any) -> typer.Typer:
    """Return the Typer app of one command."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, **options)
