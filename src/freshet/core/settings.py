"""Settings of a collection, resolved in order: defaults, the collection, tags, the page.

A collection's ``freshet.toml`` and the environment (``FRESHET_ARCHIVE__FILE_BYTES=…``) give the
collection's settings; tags and pages override those in ``PageSettings``. An unknown key is an
error; the message names the nearest known one.
"""

import tomllib
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from freshet.core.budget import BUDGET_FORMS
from freshet.core.errors import SettingsError
from freshet.core.redaction import redact_setting
from freshet.core.setting_checks import (
    SettingCheck,
    check_active_hours,
    check_budget,
    check_cookies,
    check_counts_as,
    check_estimators,
    check_headers,
    check_not_negative,
    check_one_line,
    check_one_of,
    check_policy,
    check_positive,
    check_proxy,
    check_tag,
)

SettingTable = Mapping[str, Any]
T = TypeVar("T")

ENV_PREFIX = "FRESHET_"
ENV_RESERVED = frozenset({"FRESHET_DATA", "FRESHET_COLLECTION", "FRESHET_DEBUG"})
TIMELINESS = "timeliness"
OBJECTIVES = ("freshness", "changes", "links", TIMELINESS)
NO_OBJECTIVE = "none"
FOLLOW_SCOPES = ("site", "host", "feed", "all")
TERABYTE = 1_000_000_000_000
DAY_SECONDS = 86_400
YEAR_SECONDS = 365 * DAY_SECONDS
_KIND_NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
_BOOLEANS = {"true": True, "false": False}
# The key under which the catalog reports settings that are damaged.
UNREADABLE_KEY = "unreadable"


def _setting(default: Any, doc: str, check: SettingCheck | None = None) -> Any:
    metadata = {"doc": doc, "check": check}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """Settings for all pages, for the pages with a tag, or for one page."""

    importance: float = _setting(
        1.0, "how much a fresh copy is worth compared with other pages", check_positive(1_000_000)
    )
    counts_as: str = _setting(
        "text",
        "what counts as a change: text, words:N, significant, links, structure, or module:Class",
        check_counts_as,
    )
    headers: Mapping[str, str] = _setting({}, "request headers to send", check_headers)
    cookies: Mapping[str, str] = _setting({}, "cookies to send", check_cookies)
    proxy: str = _setting("", "proxy to fetch through (http:// or https://)", check_proxy)
    verify_tls: bool | None = _setting(
        None, "whether the server's certificate must be valid; unset: as network.verify_tls says"
    )
    insecure_secrets: bool = _setting(
        False, "whether secrets may be sent over a plain or unverified connection"
    )
    follow: str = _setting(
        "",
        "which new links are added as pages: site, host, feed or all; empty: none",
        check_one_of(("", *FOLLOW_SCOPES)),
    )
    follow_pattern: str = _setting(
        "",
        "URLs that are followed, * for any text, separated by spaces; empty: all",
        check_one_line,
    )
    follow_tag: str = _setting("followed", "tag of pages that were found as new links", check_tag)
    follow_per_day: int = _setting(
        50,
        "maximum number of pages with follow_tag found in a UTC day",
        check_not_negative(100_000),
    )
    follow_total: int = _setting(
        1_000,
        "maximum number of pages with follow_tag found in all",
        check_not_negative(10_000_000),
    )
    follow_depth: int = _setting(
        1, "how many links are followed one after the other", check_positive(10)
    )
    thread: str = _setting(
        "auto",
        "whether posts of a thread are looked for: yes, no, or auto (for the objective timeliness)",
        check_one_of(("auto", "yes", "no")),
    )
    active_hours: str = _setting(
        "",
        "hours in which the page may be visited: 08:00-20:00, with a zone if not UTC",
        check_active_hours,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSettings:
    """How the archive is written."""

    file_bytes: int = _setting(
        1_000_000_000, "size at which a WARC file is closed", check_positive(TERABYTE)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Limits on hostile or very large responses."""

    body_bytes: int = _setting(
        8_000_000, "how much of a body is parsed and compared", check_positive(TERABYTE)
    )
    decoded_bytes: int = _setting(
        64_000_000, "size of a decompressed body at which it is given up", check_positive(TERABYTE)
    )
    response_bytes: int = _setting(
        16_000_000, "size on the wire at which a response is given up", check_positive(TERABYTE)
    )
    header_bytes: int = _setting(
        65_536,
        "size of all response headers at which a response is given up",
        check_positive(TERABYTE),
    )
    seconds: float = _setting(
        60.0, "seconds of real time after which a request is given up", check_positive(DAY_SECONDS)
    )
    redirects: int = _setting(
        10, "how many redirects of a page are followed", check_not_negative(100)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings:
    """How the network is used."""

    allow: tuple[str, ...] = _setting(
        (), "special address ranges that may be fetched: CIDR, with :port or :port-port if not all"
    )
    verify_tls: bool = _setting(
        True, "whether servers' certificates must be valid by the system's trust store"
    )
    concurrency: int = _setting(128, "requests in flight at once", check_positive(10_000))
    audit_every: int = _setting(
        10,
        "conditional requests of a page before one asks for the whole page again",
        check_positive(1_000_000),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessSettings:
    """How hosts are treated; robots.txt is always obeyed."""

    delay: float = _setting(
        1.0, "seconds between two requests to a host", check_not_negative(DAY_SECONDS)
    )
    per_host: int = _setting(1, "requests in flight at once to one host", check_positive(10_000))
    page_interval: float = _setting(
        60.0, "minimum seconds between two visits of one page", check_not_negative(YEAR_SECONDS)
    )
    longest_delay: float = _setting(
        300.0, "maximum seconds of a Crawl-delay; a longer one is cut", check_positive(DAY_SECONDS)
    )
    longest_backoff: float = _setting(
        30.0,
        "maximum days of Retry-After and of the back-off of failing pages and hosts",
        check_positive(3_650),
    )
    robots_hours: float = _setting(
        24.0, "hours for which a robots.txt is cached", check_positive(8_760)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstSettings:
    """Bursts of looks minutes apart at pages that change at every visit."""

    share: float = _setting(
        0.1, "share of the day's budget that bursts may use; 0: no bursts", check_not_negative(1)
    )
    fast: int = _setting(
        8,
        "maximum number of fast bursts of a page before a pause of days; 0: no bursts",
        check_not_negative(1000),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a collection."""

    contact: str = _setting("", "address or URL named in the User-Agent", check_one_line)
    objective: str = _setting(
        "freshness",
        "what visits are planned for: freshness, changes, links or timeliness",
        check_one_of(OBJECTIVES),
    )
    policy: str = _setting(
        "",
        "how visits are planned: by name, formula, model or module:Class; empty: by the objective",
        check_policy,
    )
    estimators: tuple[str, ...] = _setting(
        ("trees",),
        "what 'freshet learn' tries: trees, or a class of your own (module:Class)",
        check_estimators,
    )
    budget: str = _setting("500/day", f"page requests a day: {BUDGET_FORMS}", check_budget)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    rounds: BurstSettings = field(default_factory=BurstSettings)
    page: PageSettings = field(default_factory=PageSettings)

    def for_page(self, *overrides: SettingTable) -> PageSettings:
        """Resolve the settings of a page: the collection's, then each override (tags, then page).

        Overrides were checked when they were set, perhaps by an earlier version. A value that is
        refused today is an error of its page's request, not of the crawl.

        >>> Settings().for_page({"verify_tls": False}).verify_tls, Settings().for_page().verify_tls
        (False, True)
        """
        resolved = self.page
        for table in overrides:
            if UNREADABLE_KEY in table:
                raise SettingsError(
                    "the settings of the page, or of one of its tags, cannot be read from the"
                    " catalog; set them again with 'freshet set'"
                )
            resolved = merge_settings(resolved, table, origin="page settings", is_stored=True)
        if resolved.verify_tls is None:
            return replace(resolved, verify_tls=self.network.verify_tls)
        return resolved


def planning_objective(settings: Settings) -> str:
    """Return what visits are planned for; a rule, formula or model has no objective.

    >>> planning_objective(Settings()), planning_objective(Settings(policy="t * X"))
    ('freshness', 'none')
    """
    if not settings.policy:
        return settings.objective
    objective = settings.policy.removeprefix("guarded-").removeprefix("bayes-")
    has_objective = objective != settings.policy and objective in OBJECTIVES
    return objective if has_objective else NO_OBJECTIVE


def load_settings(path: Path, environment: Mapping[str, str]) -> Settings:
    """Read a collection's settings from its TOML file and the environment."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except RecursionError as error:
        raise SettingsError(f"{path}: is nested too deeply; correct the file") from error
    except ValueError as error:
        raise SettingsError(f"{path}: {error}; correct the file") from error
    settings = merge_settings(Settings(), table, origin=str(path))
    return merge_settings(settings, environment_settings(environment), origin="environment")


def environment_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """Convert FRESHET_ variables to nested tables.

    >>> environment_settings({"FRESHET_ARCHIVE__FILE_BYTES": "5", "HOME": "/"})
    {'archive': {'file_bytes': '5'}}
    """
    table: dict[str, Any] = {}
    for name, text in environment.items():
        if not name.startswith(ENV_PREFIX) or name in ENV_RESERVED:
            continue
        *parents, key = name.removeprefix(ENV_PREFIX).lower().split("__")
        inner = table
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[key] = text
    return table


def merge_settings(
    base: T, table: SettingTable, *, origin: str, prefix: str = "", is_stored: bool = False
) -> T:
    """Return ``base`` with the values of a table; inner tables are merged.

    Values are checked, except those that are stored: of these only the type is.
    """
    known_fields = {item.name: item for item in fields(base)}  # type: ignore[arg-type]
    hints = typing.get_type_hints(type(base))
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = prefix + key
        if key not in known_fields:
            names = [prefix + known_name for known_name in known_fields]
            raise SettingsError(_unknown_setting(name, origin, names))
        current = getattr(base, key)
        if is_dataclass(current):
            if not isinstance(value, Mapping):
                raise SettingsError(f"{origin}: {name} is a table of settings, not {value!r}")
            values[key] = merge_settings(
                current, value, origin=origin, prefix=f"{name}.", is_stored=is_stored
            )
        else:
            converted = _convert(hints[key], value, f"{origin}: {name}")
            if not is_stored:
                _check_value(known_fields[key], converted, value, f"{origin}: {name}")
            values[key] = {**current, **converted} if isinstance(converted, dict) else converted
    return replace(base, **values)  # type: ignore[type-var]


def describe_settings(cls: type = Settings, prefix: str = "") -> Iterator[tuple[str, Any, str]]:
    """Yield every setting as (name, default, what it does)."""
    for item in fields(cls):
        kind = typing.get_type_hints(cls)[item.name]
        if is_dataclass(kind):
            yield from describe_settings(typing.cast("type", kind), f"{prefix}{item.name}.")
        else:
            default = {} if item.default is MISSING else item.default
            yield prefix + item.name, default, item.metadata["doc"]


def _unknown_setting(name: str, origin: str, known_names: list[str]) -> str:
    if name in (item.name for item in fields(Settings)):
        return f"{origin}: {name} is set for the whole collection; write it into its freshet.toml"
    near = get_close_matches(name, known_names, n=1, cutoff=0.5)
    hint = (
        f"did you mean {near[0]}?" if near else f"known settings: {', '.join(sorted(known_names))}"
    )
    return f"{origin}: unknown setting {name}; {hint}"


def _check_value(item: Field[Any], converted: Any, value: Any, where: str) -> None:
    check = item.metadata["check"]
    problem = check(converted) if check else ""
    if problem:
        # Values of a table may be secrets, and are not shown.
        is_table = isinstance(value, Mapping)
        shown = "" if is_table else f", not {redact_setting(item.name, value)!r}"
        raise SettingsError(f"{where} {problem}{shown}")


def _convert(kind: Any, value: Any, where: str) -> Any:
    if typing.get_origin(kind) is tuple:
        return _text_list(value, where)
    if kind == bool | None:
        kind = bool
    if typing.get_origin(kind) is not None:
        return _text_table(value, where)
    kind_name = _KIND_NAMES[kind]
    if isinstance(value, str) and kind is not str:
        value = _parse(kind, value, where, kind_name)
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or isinstance(value, bool) is not (kind is bool):
        raise SettingsError(f"{where} must be {kind_name}, not {value!r}")
    try:
        return kind(value)
    except OverflowError:
        raise SettingsError(f"{where} must be a smaller number") from None


def _parse(kind: Any, text: str, where: str, kind_name: str) -> Any:
    try:
        return _BOOLEANS[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        raise SettingsError(f"{where} must be {kind_name}, not {text!r}") from None


def _text_table(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        raise SettingsError(f"{where} must be a table of texts")
    return dict(value)


def _text_list(value: Any, where: str) -> tuple[str, ...]:
    """Take a list of texts; in the environment, texts separated by commas."""
    texts = [text.strip() for text in value.split(",")] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise SettingsError(f"{where} must be a list of texts, not {value!r}")
    return tuple(text for text in texts if text)
