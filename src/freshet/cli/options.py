"""Options shared by several commands."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

DEFAULT_COLLECTION = Path(os.environ.get("FRESHET_COLLECTION") or ".")

CollectionOption = Annotated[
    Path,
    typer.Option(
        "--collection",
        "-C",
        metavar="DIR",
        help="Folder of the collection. Environment variable: FRESHET_COLLECTION.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]
TagOption = Annotated[
    str, typer.Option("--tag", metavar="TAG", help="Select the pages with this tag.")
]
SourceOption = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Select pages of this import source; '' selects live pages.",
    ),
]
SourceFilterOption = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Select pages of this import source; '' selects live pages. Default: all.",
    ),
]
PageSourceOption = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Import source of the page; '' is the live page. Default: the live page, else the "
        "only imported one.",
    ),
]
PageArgument = Annotated[str, typer.Argument(metavar="URL", help="URL of the page.")]
PagesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="URL", help="URLs of the pages.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def new_app(**options: Any) -> typer.Typer:
    """Return the Typer app of one command."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, **options)
