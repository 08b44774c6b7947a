"""The objective of the running or last crawl, for commands beside it and after it.

``freshet run --objective NAME`` plans for another objective than the settings. Commands that show
plans use that objective while the crawl runs, and after it until the file of settings or the
environment names another one. ``--objective`` of such a command is used at all times.
"""

import json
from dataclasses import dataclass, replace

from freshet.archive.catalog.catalog import Catalog
from freshet.core.settings import OBJECTIVES, Settings, merge_settings

CRAWL_OBJECTIVE_NOTE = "objective of the crawl"


@dataclass(frozen=True, slots=True)
class ObjectiveNote:
    """The objective and policy of a crawl, and those that the file of settings had then."""

    objective: str
    policy: str
    file_objective: str
    file_policy: str


def save_crawl_objective(catalog: Catalog, settings: Settings, file_settings: Settings) -> None:
    """Save the objective of a crawl that begins."""
    values = [settings.objective, settings.policy, file_settings.objective, file_settings.policy]
    catalog.write_note(CRAWL_OBJECTIVE_NOTE, json.dumps(values))


def crawl_settings(
    catalog: Catalog, settings: Settings, file_settings: Settings, *, is_running: bool
) -> Settings:
    """Return settings with the objective and policy of the running or last crawl.

    Those of the last crawl are not used if the file of settings, or the environment, has others
    since. Those of a running crawl are used in any case.
    """
    crawl = _read(catalog)
    if crawl is None:
        return settings
    file_choice = file_settings.objective, file_settings.policy
    file_is_newer = file_choice != (crawl.file_objective, crawl.file_policy)
    environment_differs = (settings.objective, settings.policy) != file_choice
    if not is_running and (file_is_newer or environment_differs):
        return settings
    return replace(settings, objective=crawl.objective, policy=crawl.policy)


def settings_for_objective(settings: Settings, objective: str) -> Settings:
    """Return the settings for another objective, if one is given."""
    if not objective:
        return settings
    return merge_settings(settings, {"objective": objective, "policy": ""}, origin="plan")


def _read(catalog: Catalog) -> ObjectiveNote | None:
    """Return the saved objective; None if there is none that can be read."""
    try:
        crawl = ObjectiveNote(*json.loads(catalog.read_note(CRAWL_OBJECTIVE_NOTE) or "[]"))
    except (ValueError, TypeError):
        return None
    return crawl if crawl.objective in OBJECTIVES and isinstance(crawl.policy, str) else None
