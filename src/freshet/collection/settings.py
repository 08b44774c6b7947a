"""What holds for a page or a tag, and where it was set."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from freshet.core.redaction import redact_setting, redact_settings
from freshet.core.settings import PageSettings, Settings, describe_settings
from freshet.core.types import Page
from freshet.record.store import CollectionStore


@dataclass(frozen=True, slots=True)
class ResolvedSetting:
    """One setting with the value that holds, and what gave it."""

    name: str
    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting of a collection: the value that holds, the default, and what it does."""

    name: str
    value: Any
    default: Any
    meaning: str


def collection_settings(settings: Settings) -> list[SettingRow]:
    """Return every setting with its value; secrets among the values are blanked."""
    tables = asdict(settings)
    tables["page"] = redact_settings(tables["page"])
    return [
        SettingRow(name, _value(tables, name), default, meaning)
        for name, default, meaning in describe_settings()
    ]


def _value(tables: Mapping[str, Any], name: str) -> Any:
    """Return the value of a dotted name.

    >>> _value({"rounds": {"fast": 8}}, "rounds.fast")
    8
    """
    value: Any = tables
    for key in name.split("."):
        value = value[key]
    return value


def resolved_settings(collection: CollectionStore, target: Page | str) -> list[ResolvedSetting]:
    """Return every setting of a page, or of the pages with a tag, as it is resolved.

    The values of secrets are blanked.
    """
    layers = list(_layers(collection, target))
    resolved = asdict(collection.settings.for_page(*(table for _, table in layers)))
    common = asdict(collection.settings.for_page())
    return [
        ResolvedSetting(
            name,
            redact_setting(name, value),
            _origin(name, layers) or _common_origin(name, common[name]),
        )
        for name, value in resolved.items()
    ]


def redact_page_settings(settings: PageSettings) -> PageSettings:
    """Return page settings as they may be shown, with the values of secrets blanked."""
    return replace(settings, **redact_settings(asdict(settings)))


def _layers(
    collection: CollectionStore, target: Page | str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what overrides the collection's settings, the strongest last."""
    catalog = collection.catalog
    if not isinstance(target, Page):
        yield f"tag {target}", catalog.tag_settings(target)
        return
    for tag in sorted(target.tags):
        yield f"tag {tag}", catalog.tag_settings(tag)
    yield "page", catalog.page_settings(target.id)


def _origin(name: str, layers: list[tuple[str, Mapping[str, Any]]]) -> str:
    return next((where for where, table in reversed(layers) if name in table), "")


def _common_origin(name: str, value: Any) -> str:
    return "default" if value == getattr(Settings().for_page(), name) else "collection"
