"""The reference of the commands, by section."""

import re
from collections.abc import Iterable
from pathlib import Path

REFERENCE = (Path(__file__).parents[1] / "docs/reference/commands.md").read_text("utf-8")


def section(name: str) -> str:
    """Return what the reference says of a command, up to the next heading."""
    match = re.search(rf"^##+ freshet {re.escape(name)}$(.*?)(?=^##|\Z)", REFERENCE, re.M | re.S)
    return match[1] if match else ""


def missing_keys(command: str, keys: Iterable[str]) -> list[str]:
    """Return the keys of a command's JSON document that its section does not name."""
    text = section(command)
    return [key for key in keys if f"`{key}`" not in text]
