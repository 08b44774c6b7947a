"""The writes of the dashboard: add, pause, resume, check now, mute, settings, reopen."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshet.collection.add import AddSummary
from freshet.collection.check_now import CheckNowSummary
from freshet.collection.host_report import ReopenedHost
from freshet.collection.settings import ResolvedSetting
from freshet.core.errors import UsageError
from freshet.core.types import Page
from freshet.measure.noise.mask import MaskRule
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import ParameterValues
from freshet.serve.resources import ActionField, DashboardAction

MAX_URLS = 10_000


@dataclass(frozen=True, slots=True)
class MaskDocument:
    """The mask of a page after a change; earlier visits keep their results."""

    page: Page
    version: int
    rules: tuple[MaskRule, ...]


@dataclass(frozen=True, slots=True)
class PageStateDocument:
    """A page after a change of its state or settings."""

    page: Page
    settings: list[ResolvedSetting]


def _add(dashboard: Dashboard, values: ParameterValues) -> AddSummary:
    urls = [line.strip() for text in values["urls"] for line in text.splitlines()]
    urls = [url for url in urls if url]
    if not urls:
        raise UsageError("no URL is given; write one a line")
    if len(urls) > MAX_URLS:
        raise UsageError(f"more than {MAX_URLS:,} URLs; use 'freshet add --file'")
    tags = tuple(tag for text in values["tags"] for tag in text.split())
    return dashboard.collection.add_many(urls, tags=tags)


def _pause(dashboard: Dashboard, values: ParameterValues) -> PageStateDocument:
    dashboard.collection.pause([dashboard.page(values["page_id"])])
    return _page_state(dashboard, values)


def _resume(dashboard: Dashboard, values: ParameterValues) -> PageStateDocument:
    dashboard.collection.resume([dashboard.page(values["page_id"])])
    return _page_state(dashboard, values)


def _check(dashboard: Dashboard, values: ParameterValues) -> CheckNowSummary:
    return dashboard.collection.check_now([dashboard.page(values["page_id"])])


def _mute(dashboard: Dashboard, values: ParameterValues) -> MaskDocument:
    page = dashboard.page(values["page_id"])
    mask = dashboard.collection.hide(page, _texts(values["rules"]))
    return MaskDocument(page, mask.version, mask.rules)


def _unmute(dashboard: Dashboard, values: ParameterValues) -> MaskDocument:
    page = dashboard.page(values["page_id"])
    mask = dashboard.collection.unhide(page, _texts(values["rules"]))
    return MaskDocument(page, mask.version, mask.rules)


def _set(dashboard: Dashboard, values: ParameterValues) -> PageStateDocument:
    page = dashboard.page(values["page_id"])
    dashboard.collection.change_settings(page, [(values["name"], values["value"] or None)])
    return _page_state(dashboard, values)


def _reopen(dashboard: Dashboard, values: ParameterValues) -> ReopenedHost:
    return dashboard.collection.reopen_host(values["host"])


def _page_state(dashboard: Dashboard, values: ParameterValues) -> PageStateDocument:
    page = dashboard.page(values["page_id"])
    return PageStateDocument(page, dashboard.collection.resolved_settings(page))


def _texts(texts: Sequence[str]) -> list[str]:
    rules = [text.strip() for text in texts if text.strip()]
    if not rules:
        raise UsageError("no rule is given; write a text pattern or the path of an element")
    return rules


RULES_FIELD = ActionField(
    "rules", "Text patterns, or paths of elements such as /html/body/aside.", is_list=True
)
ACTIONS = (
    DashboardAction(
        "add_pages", "/pages", "Add pages to the collection.", AddSummary, _add,
        (
            ActionField("urls", "The URLs; a text may have one a line.", is_list=True),
            ActionField("tags", "Tags for the pages.", is_list=True, is_required=False),
        ),
    ),
    DashboardAction(
        "pause", "/pages/{page_id:int}/pause", "Stop visiting a page.", PageStateDocument, _pause
    ),
    DashboardAction(
        "resume", "/pages/{page_id:int}/resume", "Visit a paused page again.", PageStateDocument,
        _resume,
    ),
    DashboardAction(
        "check", "/pages/{page_id:int}/check", "Request a visit that comes before all others.",
        CheckNowSummary, _check,
    ),
    DashboardAction(
        "mute", "/pages/{page_id:int}/mute", "Hide parts of a page from comparisons.",
        MaskDocument, _mute, (RULES_FIELD,),
    ),
    DashboardAction(
        "unmute", "/pages/{page_id:int}/unmute", "Remove rules from the mask of a page.",
        MaskDocument, _unmute, (RULES_FIELD,),
    ),
    DashboardAction(
        "set", "/pages/{page_id:int}/settings", "Change a setting of a page.", PageStateDocument,
        _set,
        (
            ActionField("name", "The name of the setting, such as importance."),
            ActionField("value", "Its value; empty removes it from the page.", is_required=False),
        ),
    ),
    DashboardAction(
        "reopen", "/hosts/{host}/reopen", "End the back-off of a host.", ReopenedHost, _reopen
    ),
)  # fmt: skip
