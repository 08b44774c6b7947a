"""Tags group pages: commands take `--tag`, and settings can be set for a tag. With `--remove` and
no URL the tag is taken off every page that has it.
"""

from typing import Annotated

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    AsJson,
    CollectionDir,
    PageUrls,
    Source,
    new_app,
)
from freshet.cli.output import counted, print_json, say
from freshet.cli.page_selection import chosen_pages, tag_name
from freshet.collection.collection import Collection

app = new_app()


@app.command()
def tag(
    name: Annotated[str, typer.Argument(metavar="TAG", help="The tag: one word.")],
    urls: PageUrls = None,
    source: Source = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the tag away.")] = False,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Give pages a tag, or take it away."""
    name = tag_name(name)
    with Collection.open(collection) as opened:
        pages = chosen_pages(opened, urls, name if remove else "", source)
        (opened.untag if remove else opened.tag)(name, pages)
    if as_json:
        print_json({"tag": name, "pages": len(pages), "removed": remove})
    else:
        what = counted(len(pages), "page")
        say(f"Took tag {name} off {what}." if remove else f"Tagged {what} with {name}.")
