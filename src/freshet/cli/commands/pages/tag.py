"""Tags group pages: many commands accept --tag, and settings can be set for a tag. With --remove
and no URL, the tag is removed from every page that has it.
"""

from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    PagesArgument,
    SourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_text
from freshet.cli.page_selection import parse_tag_name, select_pages
from freshet.collection.collection import Collection
from freshet.core.humanize import count_text

app = new_app()


@app.command()
def tag(
    name: Annotated[str, typer.Argument(metavar="TAG", help="Name of the tag, one word.")],
    urls: PagesArgument = None,
    source: SourceOption = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the tag instead of adding it.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Add a tag to pages, or remove it."""
    name = parse_tag_name(name)
    with Collection.open(collection) as opened:
        pages = select_pages(opened, urls, name if remove else "", source)
        (opened.untag if remove else opened.tag)(name, pages)
    if as_json:
        print_json({"tag": name, "pages": len(pages), "removed": remove})
    else:
        page_count = count_text(len(pages), "page")
        print_text(
            f"Removed tag {name} from {page_count}."
            if remove
            else f"Tagged {page_count} with {name}."
        )
