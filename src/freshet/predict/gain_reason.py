"""Why a learned model is used, or not, by its gain over the default forecast."""

from typing import Protocol


class ValidatedGain(Protocol):
    """How much lower the loss of a model is than that of the default forecast, and its bounds."""

    @property
    def gain(self) -> float:
        """Return the mean gain."""

    @property
    def gain_low(self) -> float:
        """Return the lower bound of its 95 % interval."""

    @property
    def is_better(self) -> bool:
        """Whether the model is to be used."""


def gain_reason(validation: ValidatedGain, least_share: float, better_rule: str = "") -> str:
    """Say why a model is used or not; ``better_rule`` names a simple rule with a lower loss."""
    if validation.is_better:
        reason = "it was better than the default forecast"
    elif validation.gain == 0:
        reason = "it was exactly as good as the default forecast"
    elif validation.gain < 0:
        reason = "it was worse than the default forecast"
    elif validation.gain_low <= 0:
        reason = "its gain may be chance (the interval reaches 0)"
    elif better_rule:
        reason = f"the rule {better_rule} was better"
    else:
        reason = f"its gain was below {least_share:.0%}"
    return f"on later looks that it had not seen, {reason}"
