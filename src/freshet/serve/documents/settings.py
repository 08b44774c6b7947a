"""The settings of the collection with their values, defaults and meanings."""

from dataclasses import dataclass

from freshet.collection.settings import SettingRow
from freshet.record.collection_store import SETTINGS_FILE
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import ParameterValues, QueryParameter

SETTINGS_PARAMETERS = (QueryParameter("q", "Part of the name or the meaning of settings."),)


@dataclass(frozen=True, slots=True)
class SettingsDocument:
    """The settings of the collection; secrets are blanked. ``file`` is where they are written."""

    file: str
    rows: list[SettingRow]


@dataclass(frozen=True, slots=True)
class AddDocument:
    """The form that adds pages: how many pages there are."""

    pages: int


def read_settings_page(dashboard: Dashboard, values: ParameterValues) -> SettingsDocument:
    """Return the settings of the collection."""
    text = values["q"].lower()
    rows = [
        row
        for row in dashboard.collection.setting_rows()
        if text in row.name.lower() or text in row.meaning.lower()
    ]
    return SettingsDocument(SETTINGS_FILE, rows)


def read_add_page(dashboard: Dashboard, values: ParameterValues) -> AddDocument:
    """Return what the form that adds pages shows."""
    return AddDocument(dashboard.status().counts.pages)
