"""The looks whose hazard of shared events has moved since it was used."""

from dataclasses import dataclass

from freshet.core.types import FloatArray, IndexArray


@dataclass(frozen=True, slots=True)
class HazardCorrections:
    """Looks that found a change, and their hazard of shared events as it was and as it is now.

    ``faded_days`` are the days by which later looks at the page have faded their evidence. Days are
    by the publication times of hosts.
    """

    rows: IndexArray
    gap_days: FloatArray
    faded_days: FloatArray
    old_hazards: FloatArray
    new_hazards: FloatArray
