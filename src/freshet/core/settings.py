"""Settings: one place where defaults, the collection, tags and the page are resolved.

A collection's ``freshet.toml`` and the environment (``FRESHET_ARCHIVE__FILE_BYTES=…``) give the
collection's settings; tags and pages override the part that ``PageSettings`` holds. A key that
nobody knows is refused, with the nearest known name.
"""

import re
import tomllib
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from freshet.core.active_hours import ActiveHours
from freshet.core.budget import BUDGET_FORMS as BUDGETS
from freshet.core.budget import MAX_REQUESTS_PER_DAY, Budget
from freshet.core.counts_as import COUNTS_AS_FORMS, parse_counts_as
from freshet.core.errors import SettingsError
from freshet.core.redaction import redact_setting
from freshet.core.setting_checks import check_cookies, check_headers, check_one_line

SettingTable = Mapping[str, Any]
SettingCheck = Callable[[Any], str]
T = TypeVar("T")

ENV_PREFIX = "FRESHET_"
ENV_RESERVED = frozenset({"FRESHET_DATA", "FRESHET_COLLECTION", "FRESHET_DEBUG"})
LIVE_POLICY_NAMES = (
    "bayes-freshness", "bayes-changes", "rand", "age", "cg", "nad", "sad", "aad", "gad", "nutch",
    "stormcrawler",
)  # fmt: skip
FORMULA_WORDS = (
    "n", "X", "t", "CG", "NAD", "SAD", "AAD", "GAD", "rate", "chance", "around", "quiet", "weekday",
    "log", "exp", "pow",
)  # fmt: skip
MODEL_SUFFIX = ".json"
POLICY_FORMS = f"one of {', '.join(LIVE_POLICY_NAMES)}, a formula such as t * X, or a model file (*{MODEL_SUFFIX})"
OBJECTIVES = ("freshness", "changes", "links", "timeliness")
NO_OBJECTIVE = "none"
TERABYTE = 1_000_000_000_000
DAY_SECONDS = 86_400
YEAR_SECONDS = 365 * DAY_SECONDS
_KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
_BOOLS = {"true": True, "false": False}
# The name under which a catalog gives settings that are damaged.
UNREADABLE_KEY = "unreadable"


def _one_of(allowed: tuple[str, ...]) -> SettingCheck:
    return lambda value: "" if value in allowed else f"must be one of {', '.join(allowed)}"


def _policy(value: str) -> str:
    """Refuse a misspelt name; what looks like a formula is read by the planner."""
    if check_one_line(value):
        return "must be printable, on one line"
    fits = not value or value in LIVE_POLICY_NAMES or looks_like_formula(value)
    return "" if fits else f"must be {POLICY_FORMS}"


def _positive(most: int) -> SettingCheck:
    return lambda value: "" if 0 < value <= most else f"must be above 0 and at most {most:,}"


def _not_negative(most: int) -> SettingCheck:
    return lambda value: "" if 0 <= value <= most else f"must be 0 or more and at most {most:,}"


def _budget(value: str) -> str:
    try:
        Budget.parse(value)
    except SettingsError:
        return f"must be {BUDGETS}, and at most {MAX_REQUESTS_PER_DAY:,} a day"
    return ""


def _counts_as(value: str) -> str:
    try:
        parse_counts_as(value)
    except SettingsError:
        return f"must be {COUNTS_AS_FORMS}"
    return ""


def _proxy(value: str) -> str:
    return (
        "" if not value or value.startswith(("http://", "https://")) else "must be an http(s) URL"
    )


def _hours(value: str) -> str:
    try:
        ActiveHours.parse(value)
    except ValueError as error:
        return str(error)
    return ""


def _setting(default: Any, doc: str, check: SettingCheck | None = None) -> Any:
    metadata = {"doc": doc, "check": check}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """What can be set for every page, for a tag, or for one page."""

    importance: float = _setting(
        1.0, "how much a fresh copy is worth against other pages", _positive(1_000_000)
    )
    counts_as: str = _setting(
        "text", "what counts as a change: text, words:N, significant, links, structure", _counts_as
    )
    headers: Mapping[str, str] = _setting({}, "request headers to send", check_headers)
    cookies: Mapping[str, str] = _setting({}, "cookies to send", check_cookies)
    proxy: str = _setting("", "proxy to fetch through (http:// or https://)", _proxy)
    verify_tls: bool | None = _setting(
        None, "whether the server's certificate must be valid; unset: as network.verify_tls says"
    )
    insecure_secrets: bool = _setting(
        False, "whether secrets may be sent over a plain or unverified connection"
    )
    active_hours: str = _setting(
        "", "when visits are welcome: 08:00-20:00, with a zone if not UTC", _hours
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSettings:
    """How the archive is written."""

    file_bytes: int = _setting(
        1_000_000_000, "size at which a WARC file is closed", _positive(TERABYTE)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Bounds against hostile or absurd input."""

    body_bytes: int = _setting(8_000_000, "how much of a body is looked at", _positive(TERABYTE))
    decoded_bytes: int = _setting(
        64_000_000, "size at which a body that unpacks too far is given up", _positive(TERABYTE)
    )
    response_bytes: int = _setting(
        16_000_000, "size on the wire at which a response is given up", _positive(TERABYTE)
    )
    header_bytes: int = _setting(
        65_536, "size of all response headers at which a response is given up", _positive(TERABYTE)
    )
    seconds: float = _setting(
        60.0, "real time after which a request is given up", _positive(DAY_SECONDS)
    )
    redirects: int = _setting(10, "how many redirects of a page are followed", _not_negative(100))


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings:
    """How the network is used."""

    allow: tuple[str, ...] = _setting(
        (), "special address ranges that may be fetched: CIDR, with :port or :port-port if not all"
    )
    verify_tls: bool = _setting(
        True, "whether servers' certificates must be valid by the system's trust store"
    )
    concurrency: int = _setting(128, "requests in flight at once", _positive(10_000))
    audit_every: int = _setting(
        10,
        "conditional requests of a page before one asks for the whole page again",
        _positive(1_000_000),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessSettings:
    """How hosts are treated; robots.txt is always obeyed."""

    delay: float = _setting(
        1.0, "seconds between two requests to a host", _not_negative(DAY_SECONDS)
    )
    per_host: int = _setting(1, "requests in flight at once to one host", _positive(10_000))
    page_interval: float = _setting(
        60.0, "seconds between two visits of one page, at least", _not_negative(YEAR_SECONDS)
    )
    longest_delay: float = _setting(
        300.0, "seconds at which a Crawl-delay is cut", _positive(DAY_SECONDS)
    )
    longest_backoff: float = _setting(
        30.0,
        "days at which Retry-After and the back-off of failing pages and hosts are cut",
        _positive(3_650),
    )
    robots_hours: float = _setting(
        24.0, "hours for which a robots.txt is remembered", _positive(8_760)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstSettings:
    """Looks minutes apart at pages that change at every visit, to see how fast they do."""

    share: float = _setting(
        0.1, "share of the day's budget that rounds may use; 0: there are none", _not_negative(1)
    )
    fast: int = _setting(
        8, "fast rounds of a page before it rests from them; 0: there are none", _not_negative(1000)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set for a collection."""

    contact: str = _setting("", "address or URL named in the User-Agent", check_one_line)
    objective: str = _setting("freshness", "what visits are planned for", _one_of(OBJECTIVES))
    policy: str = _setting(
        "", "how visits are planned: by name, formula or model; empty: by the objective", _policy
    )
    budget: str = _setting("500/day", f"page requests a day: {BUDGETS}", _budget)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    rounds: BurstSettings = field(default_factory=BurstSettings)
    page: PageSettings = field(default_factory=PageSettings)

    def for_page(self, *overrides: SettingTable) -> PageSettings:
        """Resolve the page's settings: the collection's, then each override (tags, then page).

        Overrides were checked when they were set, perhaps by an earlier version: a value that is
        refused by now is an error of its page's request, and not of the crawl.

        >>> Settings().for_page({"verify_tls": False}).verify_tls, Settings().for_page().verify_tls
        (False, True)
        """
        resolved = self.page
        for table in overrides:
            if UNREADABLE_KEY in table:
                raise SettingsError(
                    "the settings of the page, or of one of its tags, cannot be read from the"
                    " catalog; 'freshet set' makes them anew"
                )
            resolved = merge_settings(resolved, table, origin="page settings", is_stored=True)
        if resolved.verify_tls is None:
            return replace(resolved, verify_tls=self.network.verify_tls)
        return resolved


def looks_like_formula(text: str) -> bool:
    """Say whether a policy is rather a formula than a word, whether or not it can be read.

    >>> looks_like_formula("t * Y"), looks_like_formula("X"), looks_like_formula("bayes-change")
    (True, True, False)
    """
    is_word = not text or re.fullmatch(r"[A-Za-z]\w*(-\w+)*", text) is not None
    return not is_word or not set(FORMULA_WORDS).isdisjoint(re.split(r"\W+", text))


def planning_objective(settings: Settings) -> str:
    """Return what visits are planned for; a rule, formula or model ranks pages for no objective.

    >>> planning_objective(Settings()), planning_objective(Settings(policy="t * X"))
    ('freshness', 'none')
    """
    if not settings.policy:
        return settings.objective
    own = settings.policy.removeprefix("bayes-")
    return own if own != settings.policy and own in OBJECTIVES else NO_OBJECTIVE


def load_settings(path: Path, environment: Mapping[str, str]) -> Settings:
    """Read a collection's settings from its TOML file and the environment."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except RecursionError as error:
        raise SettingsError(f"{path}: is nested too deeply; mend the file") from error
    except ValueError as error:
        raise SettingsError(f"{path}: {error}; mend the file") from error
    settings = merge_settings(Settings(), table, origin=str(path))
    return merge_settings(settings, environment_settings(environment), origin="environment")


def environment_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """Turn FRESHET_ variables into nested tables.

    >>> environment_settings({"FRESHET_ARCHIVE__FILE_BYTES": "5", "HOME": "/"})
    {'archive': {'file_bytes': '5'}}
    """
    table: dict[str, Any] = {}
    for name, text in environment.items():
        if not name.startswith(ENV_PREFIX) or name in ENV_RESERVED:
            continue
        *parents, key = name.removeprefix(ENV_PREFIX).lower().split("__")
        place = table
        for parent in parents:
            place = place.setdefault(parent, {})
        place[key] = text
    return table


def merge_settings(
    base: T, table: SettingTable, *, origin: str, prefix: str = "", is_stored: bool = False
) -> T:
    """Return ``base`` with the table's values in place; inner tables are joined.

    Each value is checked, but for those that were kept: of these only the kind is.
    """
    known = {item.name: item for item in fields(base)}  # type: ignore[arg-type]
    hints = typing.get_type_hints(type(base))
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = prefix + key
        if key not in known:
            raise SettingsError(_unknown(name, origin, [prefix + k for k in known]))
        current = getattr(base, key)
        if is_dataclass(current):
            if not isinstance(value, Mapping):
                raise SettingsError(f"{origin}: {name} is a table of settings, not {value!r}")
            values[key] = merge_settings(
                current, value, origin=origin, prefix=f"{name}.", is_stored=is_stored
            )
        else:
            checked = _converted(hints[key], value, f"{origin}: {name}")
            if not is_stored:
                _check(known[key], checked, value, f"{origin}: {name}")
            values[key] = {**current, **checked} if isinstance(checked, dict) else checked
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


def _unknown(name: str, where: str, known: list[str]) -> str:
    if name in (item.name for item in fields(Settings)):
        return f"{where}: {name} is set for the whole collection; write it into its freshet.toml"
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
    return f"{where}: unknown setting {name}; {hint}"


def _check(item: Field[Any], converted: Any, value: Any, where: str) -> None:
    check = item.metadata["check"]
    problem = check(converted) if check else ""
    if problem:
        # Values of a table may be secrets, and are not shown.
        told = "" if isinstance(value, Mapping) else f", not {redact_setting(item.name, value)!r}"
        raise SettingsError(f"{where} {problem}{told}")


def _converted(kind: Any, value: Any, where: str) -> Any:
    if typing.get_origin(kind) is tuple:
        return _text_list(value, where)
    if kind == bool | None:
        kind = bool
    if typing.get_origin(kind) is not None:
        return _text_table(value, where)
    words = _KINDS[kind]
    if isinstance(value, str) and kind is not str:
        value = _parsed(kind, value, where, words)
    fits = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not fits or isinstance(value, bool) is not (kind is bool):
        raise SettingsError(f"{where} must be {words}, not {value!r}")
    try:
        return kind(value)
    except OverflowError:
        raise SettingsError(f"{where} must be a smaller number") from None


def _parsed(kind: Any, text: str, where: str, words: str) -> Any:
    try:
        return _BOOLS[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError):
        raise SettingsError(f"{where} must be {words}, not {text!r}") from None


def _text_table(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        raise SettingsError(f"{where} must be a table of texts")
    return dict(value)


def _text_list(value: Any, where: str) -> tuple[str, ...]:
    """Take a list of texts; in the environment, texts with commas between them."""
    texts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(v, str) for v in texts):
        raise SettingsError(f"{where} must be a list of texts, not {value!r}")
    return tuple(text for text in texts if text)
