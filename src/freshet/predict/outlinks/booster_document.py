"""The default model of new links as a JSON document."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from freshet.predict.outlinks.outcome_family import OutcomeFamily, OutcomeKind
from freshet.predict.outlinks.shrunk_booster import (
    BoostedCorrectionTrees,
    BoostedPrior,
    ShrunkBooster,
)


def booster_document(model: ShrunkBooster) -> dict[str, Any]:
    """Return a fitted model as names and plain values."""
    return {
        "columns": list(model.names),
        "prior": asdict(model.prior),
        "cold_prior": asdict(model.cold_prior),
        "span": model.span,
        "strength": model.strength,
        "correction": asdict(model.correction),
        "plain_weight": model.plain_weight,
    }


def booster_from_document(kind: OutcomeKind, stored: Mapping[str, Any]) -> ShrunkBooster:
    """Return the fitted model of a document; other names in it do not matter."""
    return ShrunkBooster(
        OutcomeFamily(kind),
        tuple(stored["columns"]),
        BoostedPrior(**stored["prior"]),
        BoostedPrior(**stored["cold_prior"]),
        stored["span"],
        stored["strength"],
        BoostedCorrectionTrees(**stored["correction"]),
        stored["plain_weight"],
    )
