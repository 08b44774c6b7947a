"""The figures: what the paper draws of its pages, drawn of ours."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from experiments.web_changes.evaluation import HORIZONS, Row
from experiments.web_changes.experiment import Measured
from experiments.web_changes.page_reports import Portrait
from freshet.analysis.charts import HORIZON_HOURS, draw_page
from freshet.draw.chart_file import save
from freshet.draw.histograms import intervals, similarities
from freshet.draw.scatter import means_of_pages
from freshet.draw.survival_curve import Survival, survival
from freshet.draw.theme import Picture

KIND = "png"
SHOWN = {
    "bbc_front": ("curve", "words"),
    "hn_front": ("curve",),
    "cdr_home": ("changes", "curve"),
    "gh_trending": ("changes", "curve", "words", "staying-power"),
    "ota_contrib_snap": ("blocks", "staying-power"),
}


def draw_all(
    folder: Path,
    table: Sequence[Row],
    worlds: Mapping[str, Measured],
    portraits: Sequence[Portrait],
) -> list[Path]:
    """Write every picture into a folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, picture in _of_pages(table, worlds):
        files.append(folder / f"{name}.{KIND}")
        save(picture, files[-1])
    for one in portraits:
        files += _of_one(folder, one)
    return files


def _of_one(folder: Path, one: Portrait) -> Iterator[Path]:
    """Write the pictures of one page that are shown; yield the files."""
    part = one.study.page.source
    with TemporaryDirectory() as scratch:
        for file in draw_page(one.study, Path(scratch), KIND).files:
            if file.stem in SHOWN[part]:
                path = folder / f"{file.stem}-{part.replace('_', '-')}.{KIND}"
                path.write_bytes(file.read_bytes())
                yield path


def _of_pages(
    table: Sequence[Row], worlds: Mapping[str, Measured]
) -> Iterator[tuple[str, Picture]]:
    """Yield the pictures of many pages: Figures 2 and 3, and Table 4 as curves."""
    for name, measured in worlds.items():
        figures = measured.figures
        yield f"changes-{name}", means_of_pages(figures.interval_hours, figures.dice_mean)
        yield f"intervals-{name}", intervals(figures.interval_hours)
        yield f"similarities-{name}", similarities(figures.dice_mean)
    yield "survival", survival(list(_survivals(table)), of="the mean over pages that changed")


def _survivals(table: Sequence[Row]) -> Iterator[Survival]:
    """Yield the survival of elements in the paper, in the world and on the real pages."""
    rows = [row for row in table if row.table == "t4" and row.metric == "mean"]
    ordered = sorted(rows, key=lambda row: HORIZONS.index(row.group))
    for name in ("paper", "world", "real"):
        values = [getattr(row, name) for row in ordered]
        shares = [np.nan if value is None else float(value) for value in values]
        if not np.all(np.isnan(shares)):
            yield Survival(name, HORIZON_HOURS, shares)
