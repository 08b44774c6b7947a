"""Checks Python, the packages, the certificate store, the disk, the clock, the policy with its
formula or model, the archive lock, permissions and missing files of the collection, files left open
by a process that died, the time of the last successful visit, failing pages, hosts in back-off and
the age of the last backup. For each problem it says what to do.
"""

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table
from freshet.collection.doctor import DoctorFinding, run_doctor
from freshet.core.errors import FreshetError

app = new_app()


@app.command()
def doctor(collection: CollectionOption = DEFAULT_COLLECTION, as_json: JsonOption = False) -> None:
    """Check the installation and the collection for problems."""
    findings = run_doctor(collection)
    if as_json:
        print_json(findings)
    else:
        print_table(("state", "check", "result", "remedy"), [_cells(row) for row in findings])
    if not all(row.fine for row in findings):
        raise typer.Exit(FreshetError.exit_code)


def _cells(row: DoctorFinding) -> tuple[str, ...]:
    return (
        ("ok", row.what, row.found, "")
        if row.fine
        else ("PROBLEM", row.what, row.found, row.remedy)
    )
