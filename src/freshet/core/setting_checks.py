"""Checks of setting values; each returns an error message or an empty string."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from freshet.core.active_hours import ActiveHours
from freshet.core.budget import BUDGET_FORMS, MAX_REQUESTS_PER_DAY, Budget
from freshet.core.counts_as import COUNTS_AS_FORMS, parse_counts_as
from freshet.core.errors import SettingsError
from freshet.core.own_classes import is_own_class

SettingCheck = Callable[[Any], str]

LIVE_POLICY_NAMES = (
    "guarded-freshness", "guarded-changes", "bayes-freshness", "bayes-changes", "rand", "age", "cg",
    "nad", "sad", "aad", "gad", "smoothed-rate", "nutch", "stormcrawler", "bayes-links", "nnl-pr",
    "nnl-av", "lcr", "ccr", "bayes-timeliness",
)  # fmt: skip
FORMULA_WORDS = (
    "n", "X", "t", "CG", "NAD", "SAD", "AAD", "GAD", "rate", "chance", "around", "quiet", "weekday",
    "importance", "log", "exp", "pow",
)  # fmt: skip
MODEL_SUFFIX = ".json"
TREES = "trees"
"""The name of the estimator that Freshet has: boosted trees."""
POLICY_FORMS = (
    f"one of {', '.join(LIVE_POLICY_NAMES)}, a formula such as t * X,"
    f" a model file (*{MODEL_SUFFIX}), or a policy of your own (module:Class)"
)
# RFC 9110, section 5.6.2.
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def check_one_of(allowed: tuple[str, ...]) -> SettingCheck:
    """Return a check that accepts only the given values.

    >>> check_one_of(("", "site", "host"))("page")
    'must be empty or one of site, host'
    """
    empty = "empty or " if "" in allowed else ""
    names = ", ".join(filter(None, allowed))
    return lambda value: "" if value in allowed else f"must be {empty}one of {names}"


def check_positive(maximum: int) -> SettingCheck:
    """Return a check that accepts numbers above 0 up to a maximum."""
    return lambda value: "" if 0 < value <= maximum else f"must be above 0 and at most {maximum:,}"


def check_not_negative(maximum: int) -> SettingCheck:
    """Return a check that accepts numbers from 0 to a maximum."""
    return lambda value: (
        "" if 0 <= value <= maximum else f"must be 0 or more and at most {maximum:,}"
    )


def check_one_line(value: str) -> str:
    r"""Refuse a text that does not fit on one line.

    >>> check_one_line("me@example.org"), check_one_line("a\nb")
    ('', 'must be printable, on one line')
    """
    return "" if value.isprintable() else "must be printable, on one line"


def check_tag(value: str) -> str:
    """Refuse a tag that is empty or has white space.

    >>> check_tag("found"), check_tag("a b")
    ('', 'must be one word')
    """
    return "" if value.isprintable() and len(value.split()) == 1 else "must be one word"


def check_headers(value: Mapping[str, str]) -> str:
    """Refuse headers that cannot be sent.

    >>> check_headers({"X-Key": "k"})
    ''
    >>> check_headers({"X Key": "k"})
    "'X Key' is not a valid name; use letters, digits and !#$%&'*+-.^_`|~"
    """
    for name, text in value.items():
        if not _TOKEN.fullmatch(name):
            return f"{name!r} is not a valid name; use letters, digits and !#$%&'*+-.^_`|~"
        if problem := check_one_line(text):
            return f"{name!r} {problem}"
    return ""


def check_cookies(value: Mapping[str, str]) -> str:
    """Refuse cookies that cannot be sent, or that would be read as several.

    >>> check_cookies({"session": "a; path=/"})
    "'session' must not contain a semicolon"
    """
    split_name = next((name for name, text in value.items() if ";" in text), None)
    if split_name is not None:
        return f"{split_name!r} must not contain a semicolon"
    return check_headers(value)


def check_proxy(value: str) -> str:
    """Refuse a proxy that is not an http or https URL."""
    if not value or value.startswith(("http://", "https://")):
        return ""
    return "must be an http(s) URL"


def check_active_hours(value: str) -> str:
    """Refuse active hours that cannot be parsed."""
    try:
        ActiveHours.parse(value)
    except ValueError as error:
        return str(error)
    return ""


def check_budget(value: str) -> str:
    """Refuse a budget that cannot be parsed."""
    try:
        Budget.parse(value)
    except SettingsError:
        return f"must be {BUDGET_FORMS}, and at most {MAX_REQUESTS_PER_DAY:,} a day"
    return ""


def check_counts_as(value: str) -> str:
    """Refuse a ``counts_as`` that cannot be parsed."""
    try:
        parse_counts_as(value)
    except SettingsError:
        return f"must be {COUNTS_AS_FORMS}"
    return ""


def check_policy(value: str) -> str:
    """Refuse a misspelt policy name; the planner parses what looks like a formula."""
    if problem := check_one_line(value):
        return problem
    is_policy = not value or value in LIVE_POLICY_NAMES or looks_like_formula(value)
    if is_policy or is_own_class(value, "freshet.policies"):
        return ""
    return f"must be {POLICY_FORMS}"


def check_estimators(values: tuple[str, ...]) -> str:
    """Refuse an empty list and names that are neither ``trees`` nor a class.

    >>> check_estimators(("trees", "mymodels:Forest")), check_estimators(("tree",))
    ('', "'tree' is not an estimator; use trees, or a class of your own (module:Class)")
    """
    advice = "use trees, or a class of your own (module:Class)"
    for name in values:
        if name != TREES and not is_own_class(name, "freshet.estimators"):
            return f"{name!r} is not an estimator; {advice}"
    return "" if values else f"must not be empty; {advice}"


def looks_like_formula(text: str) -> bool:
    """Whether a policy looks like a formula rather than a name, valid or not.

    >>> looks_like_formula("t * Y"), looks_like_formula("X"), looks_like_formula("bayes-change")
    (True, True, False)
    """
    is_word = not text or re.fullmatch(r"[A-Za-z]\w*(-\w+)*", text) is not None
    return not is_word or not set(FORMULA_WORDS).isdisjoint(re.split(r"\W+", text))
