"""Shows the settings of the collection; outside a collection, the defaults. Set them in
`freshet.toml`, where `politeness.delay` is written as `delay` under `[politeness]`, or in the
environment, as FRESHET_POLITENESS__DELAY. Settings that begin with `page.` can also be set for one
page or tag with `freshet set`.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table
from freshet.collection.settings import SettingRow, collection_settings
from freshet.core.errors import NotFoundError
from freshet.core.settings import Settings, environment_settings, merge_settings
from freshet.record.collection_store import SETTINGS_FILE, read_settings

app = new_app()


@app.command("settings")
def list_settings(
    word: Annotated[
        str,
        typer.Argument(
            metavar="WORD", help="Only list settings with this text in their name or meaning."
        ),
    ] = "",
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """List every setting with its value, default and meaning."""
    rows = [
        row
        for row in collection_settings(_read_settings(collection))
        if word in row.name + row.meaning
    ]
    if not rows:
        raise NotFoundError(f"no setting contains {word!r}; 'freshet settings' lists all settings")
    if as_json:
        print_json(rows)
    else:
        _print(rows)


def _read_settings(collection: Path) -> Settings:
    """Return the settings of the collection, or the defaults with the environment outside one."""
    if collection == DEFAULT_COLLECTION and not (collection / SETTINGS_FILE).is_file():
        return merge_settings(Settings(), environment_settings(os.environ), origin="environment")
    return read_settings(collection)


def _print(rows: Sequence[SettingRow]) -> None:
    columns = ("setting", "value", "default", "meaning")
    print_table(
        columns,
        [(row.name, *map(_format_toml, (row.value, row.default)), row.meaning) for row in rows],
    )


def _format_toml(value: Any) -> str:
    """Return a value as it is written in freshet.toml.

    >>> _format_toml(True), _format_toml("500/day"), _format_toml(None)
    ('true', '"500/day"', 'unset')
    >>> _format_toml(()), _format_toml(("10.0.0.0/8",))
    ('[]', '["10.0.0.0/8"]')
    """
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_format_toml, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_format_toml(item)}" for key, item in value.items()) + "}"
    return str(value)
