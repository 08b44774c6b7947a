"""Lists the settings of a collection, a page or a tag, and where each was set."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from freshet.core.redaction import redact_setting, redact_settings
from freshet.core.settings import PageSettings, Settings, describe_settings
from freshet.core.types import Page
from freshet.record.collection_store import CollectionStore


@dataclass(frozen=True, slots=True)
class ResolvedSetting:
    """A setting with its value, and where the value was set."""

    name: str
    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting of a collection with its value, its default and its meaning."""

    name: str
    value: Any
    default: Any
    meaning: str


def collection_settings(settings: Settings) -> list[SettingRow]:
    """Return every setting with its value; secrets are redacted."""
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
    """Return every setting of a page, or of the pages with a tag; secrets are redacted."""
    overrides = list(_overrides(collection, target))
    values = asdict(collection.settings.for_page(*(table for _, table in overrides)))
    collection_values = asdict(collection.settings.for_page())
    defaults = asdict(Settings().for_page())
    settings = []
    for name, value in values.items():
        is_default = collection_values[name] == defaults[name]
        origin = "default" if is_default else "collection"
        for override_origin, table in overrides:
            if name in table:
                origin = override_origin
        settings.append(ResolvedSetting(name, redact_setting(name, value), origin))
    return settings


def redact_page_settings(settings: PageSettings) -> PageSettings:
    """Return page settings with secrets redacted."""
    return replace(settings, **redact_settings(asdict(settings)))


def _overrides(
    collection: CollectionStore, target: Page | str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the settings of tags and the page with their origin; a later one overrides."""
    catalog = collection.catalog
    if not isinstance(target, Page):
        yield f"tag {target}", catalog.tag_settings(target)
        return
    for tag in sorted(target.tags):
        yield f"tag {tag}", catalog.tag_settings(tag)
    yield "page", catalog.page_settings(target.id)
