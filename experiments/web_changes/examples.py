"""Examples of the paper's Figures 1, 7 and 8 on a page of the simulated web.

``python -m experiments.web_changes.examples --folder DIR [--browser chromium]`` looks at a page of
the simulated shop and at the front page of the simulated news site every hour for two weeks. It
writes the first coloured by the lifespans of its blocks (Figure 7), and of the second the
difference of two versions (Figure 1) and what is new since the day before (Figure 8). With a
browser it also writes the first two as PNG.
"""

import argparse
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from freshet.analysis.page_study import lifespan_heatmap, study_page
from freshet.archive.observation import Observation
from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock, from_epoch
from freshet.core.types import Snapshot
from freshet.draw.diff_sheet import render_diff_sheet
from freshet.draw.png import recompress
from freshet.world.simulated_web import SimulatedWeb

START = datetime(2026, 3, 2, tzinfo=UTC)
DAYS, SEED = 14, 1
WINDOW = (760, 900)
BROWSER_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")


def main() -> None:
    """Write the examples into a folder."""
    parser = argparse.ArgumentParser(prog="python -m experiments.web_changes.examples")
    parser.add_argument("--folder", type=Path, required=True, help="folder for the files")
    parser.add_argument("--browser", default="", help="program that makes PNG files of HTML files")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        files, snippet = write_examples(Path(scratch) / "c", options.folder)
    for file in files if options.browser else ():
        take_screenshot(options.browser, file)
    sys.stdout.write(f"new since the day before: {snippet}\n")


def write_examples(collection_folder: Path, folder: Path) -> tuple[list[Path], str]:
    """Write the coloured page and the difference; return the files and what is new."""
    end = START + timedelta(days=DAYS)
    with Collection.create(
        collection_folder, contact="experiment@example.org", clock=FixedClock(end)
    ) as collection:
        shop = collection.page(record_page(collection, "shop"))
        page = collection.page(record_page(collection, "news"))
        overlay, sheet = folder / "overlay.html", folder / "difference.html"
        overlay.write_text(lifespan_heatmap(shop, study_page(collection, shop)), "utf-8")
        before = end - timedelta(days=1)
        difference = page.difference(before, -1)
        sheet.write_text(
            render_diff_sheet(
                page.url,
                [f"version {difference.old.number} and version {difference.new.number}"],
                difference.words,
                new_links=difference.change.new_links,
                removed_links=difference.change.removed_links,
            ),
            "utf-8",
        )
        return [overlay, sheet], page.news(before).text


def record_page(collection: Collection, kind: str) -> str:
    """Record hourly looks at the first page of a kind; return its address."""
    web = SimulatedWeb(SEED, START, DAYS)
    number = next(index for index, page in enumerate(web.pages) if page.kind == kind)
    url = web.origins[web.pages[number].host] + web.pages[number].path
    observations = []
    for hour in range(DAYS * 24):
        time = START.timestamp() + hour * 3600.0
        response = web.render(number, time, hour)
        snapshot = Snapshot(url, response.body, response.status, response.headers)
        uid = f"{kind:<8}{hour:08}".encode()
        observations.append(Observation(url, "", from_epoch(time), uid, snapshot))
    with collection.recording() as recorder:
        recorder.record(observations)
    return url


def take_screenshot(browser: str, file: Path) -> None:
    """Write a PNG of an HTML file beside it."""
    picture = file.with_suffix(".png")
    width, height = WINDOW
    command = [
        browser, *BROWSER_OPTIONS, f"--window-size={width},{height}",
        f"--screenshot={picture.absolute()}", file.absolute().as_uri(),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    picture.write_bytes(recompress(picture.read_bytes()))


if __name__ == "__main__":
    main()
