"""Trained trees from the text that LightGBM writes of them."""

from typing import Any

from freshet.core.errors import BadInputError
from freshet.core.extras import OptionalPackage

lightgbm = OptionalPackage("lightgbm", extra="learning")


def load_booster(text: str) -> Any:
    """Return LightGBM's model from its text.

    A damaged text can end the process, and LightGBM writes to the terminal what it finds wrong with
    it. A caller therefore stores a digest beside the text, and compares it before.
    """
    try:
        return lightgbm.Booster(model_str=text)
    except lightgbm.basic.LightGBMError as error:
        reason = " ".join(str(error).split())
        raise BadInputError(
            f"LightGBM cannot read the trees of the model ({reason}); "
            "learn again with 'freshet learn'"
        ) from error
