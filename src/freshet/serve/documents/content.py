"""How the content of a page changes: its curve, its words and its blocks, from its versions."""

from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

from freshet.analysis.charts import page_charts
from freshet.core.clock import from_epoch
from freshet.core.errors import NotFoundError
from freshet.core.types import Page
from freshet.draw.chart_file import chart_specification
from freshet.draw.theme import EmptyChartError
from freshet.measure.dynamics.structure.blocks import DomBlock
from freshet.serve.dashboard import Dashboard
from freshet.serve.parameters import ParameterValues

SHOWN_BLOCKS, SHOWN_WORDS = 40, 30
CHART_NAMES = ("curve", "words", "changes", "staying-power", "blocks", "survival")


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block of the page: how long its content stays, in days, and how often it changed."""

    path: str
    sample: str
    lifespan_days: float
    changes: int
    presence: float
    last_change: datetime | None
    behaviour: str
    is_muted: bool


@dataclass(frozen=True, slots=True)
class ContentDocument:
    """How the content of a page changes.

    ``knot_hours`` is the age at which the change curve levels off, at the similarity ``knot_dice``;
    both are None without a knot, and ``curve_note`` says why there is no curve.
    """

    made: datetime
    page: Page
    title: str
    looks: int
    changes: int
    knot_hours: float | None
    knot_dice: float | None
    curve_shape: str | None
    curve_note: str
    staying_words: list[str]
    passing_words: list[str]
    blocks: list[BlockRow]
    block_count: int
    missing_note: str
    charts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChartDocument:
    """A chart as a Vega-Lite specification; None if there is too little data, as ``note`` says."""

    name: str
    specification: dict[str, Any] | None
    note: str = ""


def read_content(dashboard: Dashboard, values: ParameterValues) -> ContentDocument:
    """Return how the content of a page changes."""
    page = dashboard.page(values["page_id"])
    study = dashboard.study(page)
    mask = dashboard.collection.mask(page)
    muted = {rule.what for rule in mask.rules}
    knot = study.curve.knot
    return ContentDocument(
        made=dashboard.collection.clock.now(),
        page=page,
        title=dashboard.collection.catalog.titles([page.id]).get(page.id, ""),
        looks=len(study.looks),
        changes=int((study.looks.changed == 1).sum()),
        knot_hours=knot.hours if knot else None,
        knot_dice=knot.dice if knot else None,
        curve_shape=str(study.curve.shape) if study.curve.shape else None,
        curve_note=study.curve.why,
        staying_words=study.spell_words(study.split.stay_high)[:SHOWN_WORDS],
        passing_words=study.spell_words(study.split.go_high)[:SHOWN_WORDS],
        blocks=[_block_row(block, muted) for block in study.blocks[:SHOWN_BLOCKS]],
        block_count=len(study.blocks),
        missing_note=study.missing_note,
        charts=CHART_NAMES,
    )


def read_chart(dashboard: Dashboard, values: ParameterValues) -> ChartDocument:
    """Return a chart of a page."""
    name = values["name"]
    if name not in CHART_NAMES:
        raise NotFoundError(f"there is no chart {name!r:.40}; choose {', '.join(CHART_NAMES)}")
    page = dashboard.page(values["page_id"])
    try:
        chart = page_charts(dashboard.study(page))[name]()
    except EmptyChartError as error:
        return ChartDocument(name, None, str(error))
    return ChartDocument(name, chart_specification(chart))


def _block_row(block: DomBlock, muted: set[str]) -> BlockRow:
    return BlockRow(
        path=block.path,
        sample=block.sample,
        lifespan_days=block.lifespan / 86_400 if isfinite(block.lifespan) else float("nan"),
        changes=block.changes,
        presence=block.presence,
        last_change=None if block.last_change is None else from_epoch(block.last_change),
        behaviour=str(block.behaviour),
        is_muted=block.path in muted,
    )
