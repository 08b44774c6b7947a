"""Describes why the last visit of a page showed no content."""

from freshet.core.local_time import format_to_second
from freshet.core.types import Outcome, Visit

ADVICE = {
    Outcome.REFUSED: "'freshet run' retries it when it starts",
    Outcome.UNTRUSTED: "verify_tls = false disables the check",
}


def obstacle_of(visit: Visit | None) -> str:
    """Describe why the last visit showed no content; empty if it was a look."""
    if visit is None or visit.outcome.is_look:
        return ""
    if visit.outcome is Outcome.ROBOTS:
        return visit.why or "robots.txt disallows it"
    if visit.outcome is Outcome.REFUSED:
        return f"it was refused: {visit.why}; {advice_for(visit.outcome)}"
    if visit.outcome is Outcome.UNTRUSTED:
        return f"its server is not trusted: {visit.why}; {advice_for(visit.outcome)}"
    if visit.outcome is Outcome.EMPTY:
        return f"the page was empty: {visit.why or 'empty'}"
    return f"its last visit showed no content: {describe_visit(visit)}"


def waits_for_start(last_visit: Visit | None) -> bool:
    """Whether a page was refused: the next crawl tries it when it starts."""
    return last_visit is not None and last_visit.outcome is Outcome.REFUSED


def advice_for(outcome: Outcome) -> str:
    """Return advice for an outcome, empty if there is none."""
    return ADVICE.get(outcome, "")


def describe_visit(visit: Visit | None) -> str:
    """Describe the time and outcome of a visit."""
    if visit is None:
        return "none yet"
    status = "" if visit.status is None else f", status {visit.status}"
    why = f" ({visit.why})" if visit.why not in ("", f"status {visit.status}") else ""
    return f"{format_to_second(visit.time)}: {visit.outcome}{status}{why}"
