"""The options that commands share, and the app that each command is."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

DEFAULT_COLLECTION = Path(os.environ.get("FRESHET_COLLECTION") or ".")

CollectionDir = Annotated[
    Path,
    typer.Option(
        "--collection", "-C", metavar="DIR", help="The collection; also FRESHET_COLLECTION."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Tag = Annotated[str, typer.Option("--tag", metavar="TAG", help="Every page with this tag.")]
Source = Annotated[
    str | None,
    typer.Option("--source", metavar="NAME", help="Pages of this import; '' for live pages."),
]
PageUrl = Annotated[str, typer.Argument(metavar="URL", help="The page.")]
PageUrls = Annotated[list[str] | None, typer.Argument(metavar="URL", help="The pages.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def new_app(**options: Any) -> typer.Typer:
    """Return the Typer app of one command."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, **options)
