"""Reads every byte of the archive and every row of the catalog. With `--repair`, cut tails are set
aside, records without a row get one, and rows without a whole record say that their bytes are lost.
"""

from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, AsJson, CollectionDir, new_app
from freshet.cli.output import counted, print_json, progress, say, warn
from freshet.collection.check import Report, repair
from freshet.collection.check import check as check_collection
from freshet.core.errors import Damaged
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def check(
    mend: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    collection: CollectionDir = DEFAULT_COLLECTION,
    as_json: AsJson = False,
) -> None:
    """Verify every record and row; --repair mends what can be."""
    with (
        CollectionStore.open(collection, anew=mend) as opened,
        progress("check", quiet=as_json) as shown,
    ):
        report = (repair if mend else check_collection)(opened, progress=shown)
    if as_json:
        print_json(report)
    else:
        _print(report)
    if not report.is_sound:
        raise typer.Exit(Damaged.exit_code)


def _print(report: Report) -> None:
    for line in (*report.mended, *report.notes):
        say(line)
    for problem in report.problems:
        warn(str(problem))
    verdict = "sound" if report.is_sound else counted(len(report.problems), "problem")
    seen = ((report.files, "file"), (report.records, "record"), (report.rows, "row"))
    say(f"{', '.join(counted(number, noun) for number, noun in seen)}: {verdict}")
