"""Checks of a user's policy: what its methods raise, and what they return, becomes one clear error.

The checks are made in a subclass, so that a policy that extends one of Freshet's keeps its type.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from typing import Any

import numpy as np

from freshet.core.errors import FreshetError, OwnClassError
from freshet.core.tables import ChoiceTable, HostCaps, PageIdArray, PageTable, PolicyExplanation
from freshet.core.types import FloatArray

POLICY_METHODS = (
    "add", "forget", "learn", "choose", "release", "next_time", "explain", "state", "restore",
)  # fmt: skip
# Further methods of ranking rules that a user's class defines.
RULE_METHODS = ("score", "update_columns", "change_chances")
CHOICE_COLUMNS = ("pages", "values", "chances", "ages")


def with_checks(policy_class: type[Any], name: str) -> type[Any]:
    """Return a subclass that reports faults as those of the class of that name."""
    checked = {
        method: _report_faults(getattr(policy_class, method), f"{name}.{method}")
        for method in (*POLICY_METHODS, *RULE_METHODS)
        if hasattr(policy_class, method)
    }
    checked["add"] = _remember_pages(checked["add"])
    checked["forget"] = _remember_removal(checked["forget"])
    checked["explain"] = _refuse_unknown_page(checked["explain"])
    checked["choose"] = _check_choices(checked["choose"], f"{name}.choose")
    if "score" in checked:
        checked["score"] = _check_scores(checked["score"], f"{name}.score")
    metaclass: Any = type(policy_class)
    checked_class: type[Any] = metaclass(policy_class.__name__, (policy_class,), checked)
    return checked_class


def _report_faults(method: Callable[..., Any], title: str) -> Callable[..., Any]:
    """Return a method whose exceptions are errors that name it."""

    @wraps(method)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return method(*arguments, **options)
        except FreshetError:
            raise
        except (Exception, SystemExit) as error:
            raise OwnClassError(_fault_text(title, f"{type(error).__name__}: {error}")) from error

    return call


def _remember_pages(add: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(add)
    def call(policy: Any, pages: PageTable) -> None:
        add(policy, pages)
        policy.checked_pages = np.union1d(_known_pages(policy), pages.ids)

    return call


def _remember_removal(forget: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(forget)
    def call(policy: Any, pages: PageIdArray) -> None:
        forget(policy, pages)
        policy.checked_pages = np.setdiff1d(_known_pages(policy), pages)

    return call


def _refuse_unknown_page(explain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(explain)
    def call(policy: Any, page: int, now: datetime) -> PolicyExplanation:
        if page not in _known_pages(policy):
            raise KeyError(page)
        explanation: PolicyExplanation = explain(policy, page, now)
        return explanation

    return call


def _known_pages(policy: Any) -> PageIdArray:
    """Return the pages that were added to a policy."""
    pages: PageIdArray = getattr(policy, "checked_pages", np.empty(0, np.int64))
    return pages


def _check_choices(choose: Callable[..., Any], title: str) -> Callable[..., Any]:
    @wraps(choose)
    def call(policy: Any, now: datetime, k: int, caps: HostCaps) -> ChoiceTable:
        choices: ChoiceTable = choose(policy, now, k, caps)
        with _faults_of_result(title):
            problem = choice_problem(choices, k, _known_pages(policy))
        if problem:
            raise OwnClassError(_fault_text(title, problem))
        return choices

    return call


def _check_scores(score: Callable[..., Any], title: str) -> Callable[..., Any]:
    @wraps(score)
    def call(policy: Any, rows: Any, now: float) -> FloatArray:
        with _faults_of_result(title):
            scores = np.asarray(score(policy, rows, now))
        problem = score_problem(scores, len(rows))
        if problem:
            raise OwnClassError(_fault_text(title, problem))
        return scores.astype(np.float64, copy=False)

    return call


@contextmanager
def _faults_of_result(title: str) -> Iterator[None]:
    """Report an exception while the result of a method is checked as one of the method."""
    try:
        yield
    except FreshetError:
        raise
    except (Exception, SystemExit) as error:
        text = f"its result cannot be used: {type(error).__name__}: {error}"
        raise OwnClassError(_fault_text(title, text)) from error


def choice_problem(choices: object, k: int, known_pages: PageIdArray) -> str:
    """Return what is wrong with the choices of a policy; empty if nothing is.

    >>> ones = np.ones(2)
    >>> choice_problem(ChoiceTable(np.array([1, 9]), ones, ones, ones), 2, np.array([1, 2]))
    'it returned page 9, which is not among its pages'
    """
    if not isinstance(choices, ChoiceTable):
        return f"it returned {type(choices).__name__}, not a ChoiceTable"
    lengths = {name: np.shape(getattr(choices, name)) for name in CHOICE_COLUMNS}
    if set(lengths.values()) != {(len(choices.pages),)}:
        shapes = ", ".join(f"{name} {shape}" for name, shape in lengths.items())
        return f"it returned columns of different shapes: {shapes}"
    if len(choices) > k:
        return f"it returned {len(choices):,} pages, {k:,} at most were asked for"
    unknown = np.setdiff1d(choices.pages, known_pages)
    if len(unknown):
        return f"it returned page {unknown[0]}, which is not among its pages"
    pages, counts = np.unique(choices.pages, return_counts=True)
    if len(pages) < len(choices):
        return f"it returned page {pages[counts.argmax()]} {counts.max()} times"
    if np.isnan(choices.values).any():
        return f"it returned NaN as the value of page {choices.pages[np.isnan(choices.values)][0]}"
    return ""


def score_problem(scores: np.typing.NDArray[Any], count: int) -> str:
    """Return what is wrong with the scores of pages; empty if nothing is.

    >>> score_problem(np.array([1.0, np.nan]), 2), score_problem(np.ones(3), 2)
    ('it returned NaN for 1 of 2 pages', 'it returned an array of shape (3,) for 2 pages')
    """
    if scores.dtype.kind not in "biuf":
        return f"it returned {scores.dtype}, not numbers"
    if scores.shape != (count,):
        return f"it returned an array of shape {scores.shape} for {count:,} pages"
    missing = np.count_nonzero(np.isnan(scores))
    return f"it returned NaN for {missing:,} of {count:,} pages" if missing else ""


def _fault_text(title: str, problem: str) -> str:
    return f"policy method {title} failed: {problem}; FRESHET_DEBUG=1 prints the traceback"
