"""What models of new links predict: the link change rate, new links or none, and their number."""

from enum import StrEnum

import numpy as np

from freshet.core.content.page_steps import PageSteps
from freshet.core.types import Float32Array


class LinkKind(StrEnum):
    """Links to the page's own site, or to other sites."""

    INTERNAL = "internal"
    EXTERNAL = "external"

    @property
    def other(self) -> "LinkKind":
        """Return the other kind."""
        return LinkKind.EXTERNAL if self is LinkKind.INTERNAL else LinkKind.INTERNAL


class LinkNotion(StrEnum):
    """Which links count: new since the step before, or never on the page before."""

    NEW = "new"
    NEVER_SEEN = "never_seen"


class OutlinkTarget(StrEnum):
    """LCR: share of intervals with a new link. NL: a new link in an interval. NNL: how many."""

    LCR = "lcr"
    NL = "nl"
    NNL = "nnl"


def new_link_counts(
    steps: PageSteps, kind: LinkKind, notion: LinkNotion = LinkNotion.NEW
) -> Float32Array:
    """Return the new links of a kind per page and interval; NaN where they are not known."""
    new_links = steps.new_links
    if notion is LinkNotion.NEVER_SEEN:
        is_internal = kind is LinkKind.INTERNAL
        return new_links.never_seen_internal if is_internal else new_links.never_seen_external
    return new_links.internal if kind is LinkKind.INTERNAL else new_links.external


def link_change_rates(counts: Float32Array) -> Float32Array:
    """Return the share of the known intervals with a new link; NaN if none is known.

    >>> link_change_rates(np.array([[np.nan, 0, 3, 1]], np.float32)).round(3).tolist()
    [0.6669999957084656]
    """
    known_intervals = np.count_nonzero(~np.isnan(counts), axis=1)
    rates = np.full(len(counts), np.nan, np.float32)
    hits = np.count_nonzero(counts > 0, axis=1)
    np.divide(hits, known_intervals, out=rates, where=known_intervals > 0, casting="unsafe")
    return rates


def outlink_targets(
    steps: PageSteps,
    target: OutlinkTarget,
    kind: LinkKind,
    step: int,
    notion: LinkNotion = LinkNotion.NEW,
) -> Float32Array:
    """Return the target of each page for the interval that ends at a step; NaN if not known.

    The link change rate is that of all intervals up to the step.
    """
    counts = new_link_counts(steps, kind, notion)
    if target is OutlinkTarget.LCR:
        return link_change_rates(counts[:, : step + 1])
    values = counts[:, step]
    if target is OutlinkTarget.NNL:
        return values
    return np.where(np.isnan(values), np.nan, values > 0).astype(np.float32)
