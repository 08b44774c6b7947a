"""The reference of the features for models of new links, generated from their declarations."""

from itertools import groupby

from freshet.features.outlinks.rate_features import RATE_FEATURES
from freshet.features.outlinks.taxonomy import (
    HISTORY_STEPS,
    SEMANTIC_COLUMNS,
    Derivation,
    FeatureSet,
    OutlinkFeature,
    derive_features,
)

_TITLES = {
    FeatureSet.STATIC_PAGE: "Static features of the page (SP)",
    FeatureSet.STATIC_NETWORK: "Static features of the network (SN)",
    FeatureSet.DYNAMIC_PAGE: "Dynamic features of the page (DP)",
    FeatureSet.DYNAMIC_NETWORK: "Dynamic features of the network (DN)",
}
_INTRODUCTION = f"""# Features for models of new links

This page is generated from `freshet.features.outlinks`. Features are computed at a step (a crawl)
from that step and earlier ones only. Static features are values at the step. Dynamic features are
histories: `h` is the history size, {HISTORY_STEPS} unless another is given. Network features are
measured in the graph of links between pages, or are averages over related pages (`near_…`),
weighted by the similarity of their texts. An interval is the time between two steps. A value that
is not known is NaN.

The selection LBLA (look back, look around) has the new links per past interval of the page and of
its related pages (`new_…_links_interval_1` … `_h` and `near_new_…_links_interval_1` … `_h`). For
the link change rate it has the related pages' rate only (`near_…_link_change_rate`).
"""


_DEFAULT_MODEL = """## Features of the default model

The default model is fitted to links of one kind, internal or external; the other kind is the other
one. Features that start with `own_` are the page's own history, which a page just discovered does
not have.

| feature | meaning |
|---|---|
"""


def feature_reference() -> str:
    """Return the page docs/reference/outlink-features.md."""
    sections = [_INTRODUCTION]
    features = derive_features(HISTORY_STEPS, SEMANTIC_COLUMNS)
    for feature_set, members in groupby(features, key=lambda feature: feature.feature_set):
        sections.append(f"## {_TITLES[feature_set]}\n\n| feature | meaning | unit |\n|---|---|---|")
        sections.append("\n".join(_rows(list(members))) + "\n")
    sections.append(_DEFAULT_MODEL + "\n".join(_rate_rows()) + "\n")
    return "\n".join(sections)


def _rows(features: list[OutlinkFeature]) -> list[str]:
    """Return a row for each feature; the lags of a history share one."""
    rows = []
    for feature in features:
        if feature.lag > 1:
            continue
        name, description = f"`{feature.name}`", feature.description
        if feature.lag == 1:
            stem = feature.name.removesuffix("1")
            is_history = feature.derivation is not Derivation.VALUE
            last = "h" if is_history else str(SEMANTIC_COLUMNS)
            name = f"`{stem}1` … `{stem}{last}`"
            description = description.replace(", 1 step ago.", ", 1 to h steps ago.")
            description = description.replace(
                ", in the latest interval.", ", in each of the latest h intervals, latest first."
            )
        rows.append(f"| {name} | {description} | {feature.unit} |")
    return rows


def _rate_rows() -> list[str]:
    return [
        f"| `{name}` | {meaning[0].upper()}{meaning[1:]}. |"
        for name, meaning in RATE_FEATURES.items()
    ]
