"""Makes a small web with a month of history, imports it as a WARC file, lists the pages, shows a
history and a difference, and verifies the archive, also a copy with one flipped byte. Needs no
network; everything lies in a temporary folder that is removed at the end, unless `--keep`.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.commands import check, diff, history, status
from freshet.cli.commands import list as list_command
from freshet.cli.options import AsJson, new_app
from freshet.cli.output import counted, print_json, say
from freshet.core.errors import UsageError
from freshet.demo.small_web import PAGES, write_warc
from freshet.flow.check import Report
from freshet.flow.check import check as check_collection
from freshet.flow.collection import Collection
from freshet.flow.imports import Imported, bring

app = new_app()


@app.command()
def demo(
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Make it here, and leave it there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring a small generated collection in and look at it."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise UsageError(f"{keep} is not empty; choose another folder for the demo")
    folder = keep or Path(tempfile.mkdtemp(prefix="freshet-demo-"))
    try:
        _show(folder, as_json=as_json)
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if keep is not None and not as_json:
        say(f"\nThe collection stays in {keep / 'collection'}; try: "
            f"freshet status -C {keep / 'collection'}")  # fmt: skip


def _show(folder: Path, *, as_json: bool) -> None:
    warc, visits = write_warc(folder / "web")
    place = folder / "collection"
    with Collection.create(place, contact="demo@example.org") as collection:
        imported = bring(collection, "warc", warc, source="")
        sound = check_collection(collection)
    damaged = check_copy(place, folder / "damaged")
    if as_json:
        print_json({"imported": imported, "check": sound, "damaged": damaged})
        return
    _narrate(place, visits, imported, damaged)


def check_copy(collection: Path, copy: Path) -> Report:
    """Copy a collection, flip one byte in the middle of its archive, and check the copy."""
    shutil.copytree(collection, copy)
    warc = next((copy / "archive").glob("*.warc.gz"))
    content = bytearray(warc.read_bytes())
    content[len(content) // 2] ^= 1
    warc.write_bytes(content)
    with Collection.open(copy) as opened:
        return check_collection(opened)


def _narrate(place: Path, visits: int, imported: Imported, damaged: Report) -> None:
    url = "https://news.example/"
    _step(f"A small web: {len(PAGES)} pages, a month of daily visits, {visits} captures in a WARC.")
    _step("freshet import warc web/", f"Imported {counted(imported.visits, 'visit')}.")
    _step("freshet status")
    status.status(days=3, collection=place)
    _step("freshet list --changed")
    list_command.list_pages(changed=True, collection=place)
    _step("freshet history https://club.example/rules   (a captcha is no content, and no change)")
    history.history("https://club.example/rules", limit=10, collection=place)
    _step(f"freshet diff {url} 4 5")
    diff.diff(url, "4", "5", collection=place)
    _step("freshet check")
    check.check(collection=place)
    _step("freshet check   (on a copy with one flipped byte)")
    for problem in damaged.problems:
        say(str(problem))


def _step(title: str, text: str = "") -> None:
    say(f"\n▸ {title}", "bold")
    if text:
        say(text)
