"""The four sets of features, derived from the base features: static/dynamic, page/network.

Dynamic features are the history of static ones; network features are averages over related pages.
Related pages are those with the most similar texts; they weigh by their similarity.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from freshet.core.content.outlink_targets import LinkKind, OutlinkTarget
from freshet.features.outlinks.base_features import (
    BASE_FEATURES,
    SEMANTIC_DESCRIPTION,
    SEMANTIC_NAME,
    BaseFeature,
    FeatureSource,
    FeatureTiming,
)

HISTORY_STEPS = 8
SEMANTIC_COLUMNS = 20
NEAR = "near_"


class FeatureSet(StrEnum):
    """Static or dynamic features of the page or of the network around it."""

    STATIC_PAGE = "SP"
    STATIC_NETWORK = "SN"
    DYNAMIC_PAGE = "DP"
    DYNAMIC_NETWORK = "DN"


class FeatureSelection(StrEnum):
    """Named selections: unions of sets, or ``lbla`` (look back, look around)."""

    SP = "sp"
    SN = "sn"
    DP = "dp"
    DN = "dn"
    STATIC = "static"
    DYNAMIC = "dynamic"
    PAGE = "page"
    NETWORK = "network"
    ALL = "all"
    LBLA = "lbla"


class Derivation(StrEnum):
    """How a feature follows from its base feature."""

    VALUE = "value"
    EARLIER = "ago"
    INTERVAL = "interval"
    MEAN = "mean"
    RATE = "rate"


@dataclass(frozen=True, slots=True)
class OutlinkFeature:
    """A derived feature: ``lag`` steps ago, or the ``lag``-th latest interval, or the column."""

    base: str
    derivation: Derivation
    lag: int
    is_near: bool
    feature_set: FeatureSet
    name: str
    description: str
    unit: str


_SETS = {
    FeatureSelection.SP: (FeatureSet.STATIC_PAGE,),
    FeatureSelection.SN: (FeatureSet.STATIC_NETWORK,),
    FeatureSelection.DP: (FeatureSet.DYNAMIC_PAGE,),
    FeatureSelection.DN: (FeatureSet.DYNAMIC_NETWORK,),
    FeatureSelection.STATIC: (FeatureSet.STATIC_PAGE, FeatureSet.STATIC_NETWORK),
    FeatureSelection.DYNAMIC: (FeatureSet.DYNAMIC_PAGE, FeatureSet.DYNAMIC_NETWORK),
    FeatureSelection.PAGE: (FeatureSet.STATIC_PAGE, FeatureSet.DYNAMIC_PAGE),
    FeatureSelection.NETWORK: (FeatureSet.STATIC_NETWORK, FeatureSet.DYNAMIC_NETWORK),
    FeatureSelection.ALL: tuple(FeatureSet),
}


def derive_features(
    history: int = HISTORY_STEPS, semantic_columns: int = SEMANTIC_COLUMNS
) -> tuple[OutlinkFeature, ...]:
    """Return all features: values now, ``history`` earlier ones, and averages of related pages."""
    features = [feature for base in BASE_FEATURES for feature in _derive(base, history)] + list(
        _semantic_features(semantic_columns)
    )
    order = list(FeatureSet)
    return tuple(sorted(features, key=lambda feature: order.index(feature.feature_set)))


def select_features(
    selection: FeatureSelection,
    target: OutlinkTarget,
    kind: LinkKind,
    history: int = HISTORY_STEPS,
    semantic_columns: int = SEMANTIC_COLUMNS,
) -> tuple[OutlinkFeature, ...]:
    """Return the features of a selection that may be used for a target.

    The link change rate is never predicted from the page's own new links of that kind. LBLA is the
    history of the target of the page and of its related pages; for the link change rate it is the
    rate of the related pages alone.
    """
    features = derive_features(history, semantic_columns)
    if selection is FeatureSelection.LBLA:
        return tuple(feature for feature in features if _is_lbla(feature, target, kind))
    sets = _SETS[selection]
    return tuple(
        feature
        for feature in features
        if feature.feature_set in sets and not _is_own_rate_history(feature, target, kind)
    )


def _is_lbla(feature: OutlinkFeature, target: OutlinkTarget, kind: LinkKind) -> bool:
    if feature.base != f"new_{kind}_links":
        return False
    if target is OutlinkTarget.LCR:
        return feature.is_near and feature.derivation is Derivation.RATE
    return feature.derivation is Derivation.INTERVAL


def _is_own_rate_history(feature: OutlinkFeature, target: OutlinkTarget, kind: LinkKind) -> bool:
    is_own_history = feature.base == f"new_{kind}_links" and not feature.is_near
    return is_own_history and target is OutlinkTarget.LCR


def _derive(base: BaseFeature, history: int) -> Iterator[OutlinkFeature]:
    if base.timing is FeatureTiming.INTERVAL:
        yield from _interval_features(base, history)
        return
    is_network = base.source is FeatureSource.NETWORK
    lags = range(history + 1 if base.timing is FeatureTiming.STATE else 1)
    for lag in lags:
        for is_near in (False,) if is_network else (False, True):
            yield _feature(base, Derivation.EARLIER if lag else Derivation.VALUE, lag, is_near)


def _interval_features(base: BaseFeature, history: int) -> Iterator[OutlinkFeature]:
    for is_near in (False, True):
        for lag in range(1, history + 1):
            yield _feature(base, Derivation.INTERVAL, lag, is_near)
        if base.unit != "0 or 1":
            yield _feature(base, Derivation.MEAN, 0, is_near)
        yield _feature(base, Derivation.RATE, 0, is_near)


def _feature(base: BaseFeature, derivation: Derivation, lag: int, is_near: bool) -> OutlinkFeature:
    is_network = is_near or base.source is FeatureSource.NETWORK
    is_dynamic = derivation is not Derivation.VALUE
    name, description = _words(base, derivation, lag)
    return OutlinkFeature(
        base.name,
        derivation,
        lag,
        is_near,
        _set_of(is_network=is_network, is_dynamic=is_dynamic),
        (NEAR if is_near else "") + name,
        _averaged(description) if is_near else description,
        "0 to 1" if derivation is Derivation.RATE else base.unit,
    )


def _words(base: BaseFeature, derivation: Derivation, lag: int) -> tuple[str, str]:
    """Return the name of a derived feature, and its description."""
    start = base.description.removesuffix(".")
    match derivation:
        case Derivation.EARLIER:
            steps = "1 step" if lag == 1 else f"{lag} steps"
            return f"{base.name}_ago_{lag}", f"{start}, {steps} ago."
        case Derivation.INTERVAL:
            which = "latest interval" if lag == 1 else f"interval number {lag}, counted backwards"
            return f"{base.name}_interval_{lag}", f"{start}, in the {which}."
        case Derivation.MEAN:
            return f"{base.name}_mean", f"{start}, mean of the past intervals."
        case Derivation.RATE:
            return base.rate
    return base.name, base.description


def _averaged(description: str) -> str:
    return f"Average of related pages: {description[0].lower()}{description[1:]}"


def _set_of(*, is_network: bool, is_dynamic: bool) -> FeatureSet:
    if is_dynamic:
        return FeatureSet.DYNAMIC_NETWORK if is_network else FeatureSet.DYNAMIC_PAGE
    return FeatureSet.STATIC_NETWORK if is_network else FeatureSet.STATIC_PAGE


def _semantic_features(columns: int) -> Iterator[OutlinkFeature]:
    for is_near in (False, True):
        for column in range(1, columns + 1):
            yield OutlinkFeature(
                SEMANTIC_NAME,
                Derivation.VALUE,
                column,
                is_near,
                _set_of(is_network=is_near, is_dynamic=False),
                f"{NEAR if is_near else ''}{SEMANTIC_NAME}_{column}",
                _averaged(SEMANTIC_DESCRIPTION) if is_near else SEMANTIC_DESCRIPTION,
                "coordinate",
            )
