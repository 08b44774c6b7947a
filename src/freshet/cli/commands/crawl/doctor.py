"""Looks at Python, the packages, the trust store for certificates, the disk, the clock, the policy
with its formula or model, who holds the lock, whether the collection can be written, which of its
files are missing, can be read by others or were left open by a writer that died, when a visit last
succeeded, how many pages fail, which hosts are backed off and how old the last backup is; says what
to do about anything that is wrong.
"""

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json, print_table
from freshet.collection.doctor import DoctorFinding, run_doctor
from freshet.core.errors import FreshetError

app = new_app()


@app.command()
def doctor(collection: CollectionOption = DEFAULT_COLLECTION, as_json: JsonOption = False) -> None:
    """Look for what is wrong with the set-up."""
    findings = run_doctor(collection)
    if as_json:
        print_json(findings)
    else:
        print_table(("state", "what", "found", "do"), [_cells(row) for row in findings])
    if not all(row.fine for row in findings):
        raise typer.Exit(FreshetError.exit_code)


def _cells(row: DoctorFinding) -> tuple[str, ...]:
    return (
        ("ok", row.what, row.found, "") if row.fine else ("WRONG", row.what, row.found, row.remedy)
    )
