"""A page's settings override the settings of its tags, which override those of the collection.
Examples: `importance=2`, `counts_as=words:10`, `headers.Accept-Language=en`, `cookies.session=abc`,
`proxy=http://…`, `active_hours="08:00-20:00 Europe/Paris"`, `verify_tls=false`,
`insecure_secrets=true`. An empty value (`proxy=`) removes the setting. Without NAME=VALUE the
effective settings are shown; secrets are shown as `[blanked]`.
"""

from typing import Annotated, Any

import typer

from freshet.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    JsonOption,
    SourceOption,
    new_app,
)
from freshet.cli.output import print_json, print_table, print_text, print_warning
from freshet.cli.page_selection import parse_tag_name
from freshet.collection.settings import ResolvedSetting, resolved_settings
from freshet.core.errors import UsageError
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command("set")
def set_settings(
    assignments: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE", help="Settings to change, such as importance=2."),
    ] = None,
    url: Annotated[str, typer.Option("--page", metavar="URL", help="Apply to this page.")] = "",
    tag: Annotated[
        str, typer.Option("--tag", metavar="TAG", help="Apply to every page with this tag.")
    ] = "",
    source: SourceOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Change or show the settings of a page or a tag."""
    if bool(url) == bool(tag):
        raise UsageError("give either --page URL or --tag TAG")
    changes = [_parse_assignment(text) for text in assignments or ()]
    with CollectionStore.open(collection) as store:
        target = store.page(url, source=source) if url else parse_tag_name(tag)
        if changes:
            store.change_settings(target, changes)
        settings = resolved_settings(store, target)
        is_unused = bool(tag) and next(store.pages(tag=parse_tag_name(tag)), None) is None
    if is_unused:
        print_warning(f"no page has tag {parse_tag_name(tag)} yet")
    if as_json:
        print_json({"page": url or None, "tag": tag or None, "settings": settings})
    else:
        _print(settings, [name for name, _ in changes])


def _print(settings: list[ResolvedSetting], changed_names: list[str]) -> None:
    print_table(
        ("setting", "value", "from"), [(row.name, row.value, row.origin) for row in settings]
    )
    if "counts_as" in changed_names:
        print_text("Earlier visits keep their results; 'freshet measure --again' recomputes them.")


def _parse_assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"{text!r} is not an assignment; write NAME=VALUE, such as importance=2")
    return name.strip(), value.strip() or None
