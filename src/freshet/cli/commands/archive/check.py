"""Reads every byte of the archive and every row of the catalog. With --repair, incomplete records
are moved aside, records without a row get one, and rows whose record is missing or damaged are
marked as having lost their bytes. The exit code is 7 if problems remain.
"""

from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_text, print_warning, progress_bar
from freshet.collection.check import CheckReport, repair_collection
from freshet.collection.check import check_collection as check_collection
from freshet.core.errors import DamagedError
from freshet.core.humanize import count_text
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command()
def check(
    with_repair: Annotated[
        bool, typer.Option("--repair", help="Repair the problems that can be repaired.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Verify every record and row; --repair fixes problems."""
    with (
        CollectionStore.open(collection, create_catalog=with_repair) as store,
        progress_bar("checking", quiet=as_json) as bar,
    ):
        report = (repair_collection if with_repair else check_collection)(store, progress=bar)
    if as_json:
        print_json(report)
    else:
        _print(report)
    if not report.is_sound:
        raise typer.Exit(DamagedError.exit_code)


def _print(report: CheckReport) -> None:
    for line in (*report.mended, *report.notes):
        print_text(line)
    for problem in report.problems:
        print_warning(str(problem))
    verdict = "no problems" if report.is_sound else count_text(len(report.problems), "problem")
    counts = ((report.files, "file"), (report.records, "record"), (report.rows, "row"))
    print_text(f"{', '.join(count_text(number, noun) for number, noun in counts)}: {verdict}")
