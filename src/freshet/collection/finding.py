"""What `freshet doctor` reports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing looked at: whether it is fine, and what to do if it is not."""

    what: str
    found: str
    fine: bool
    remedy: str = ""
