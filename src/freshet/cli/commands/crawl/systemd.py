"""Prints a systemd unit that keeps the collection's crawl running: started at boot, started again
after a failure, its log in the journal, and able to write to nothing but the collection. Save it as
/etc/systemd/system/freshet.service, then run 'systemctl daemon-reload' and
'systemctl enable --now freshet'.
"""

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.options import DEFAULT_COLLECTION, CollectionOption, JsonOption, new_app
from freshet.cli.output import print_json
from freshet.collection.systemd import CrawlService
from freshet.core.errors import UsageError
from freshet.record.store import CollectionStore

app = new_app()


@app.command()
def systemd(
    user: Annotated[
        str, typer.Option(metavar="USER", help="User that the crawl runs as; otherwise you.")
    ] = "",
    metrics_port: Annotated[
        int, typer.Option(min=0, max=65_535, metavar="PORT", help="Serve Prometheus metrics here.")
    ] = 0,
    metrics_address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address for --metrics-port, such as 0.0.0.0.")
    ] = "",
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Print a systemd unit that keeps the crawl running."""
    CollectionStore.open(collection).close()
    path = collection.resolve()
    if " " in user or not all(map(str.isprintable, (str(path), user, metrics_address))):
        raise UsageError(
            f"{str(path)!r}, user {user!r} or address {metrics_address!r} has characters that a "
            "unit file cannot hold; choose another"
        )
    program = Path(sys.executable).parent / "freshet"
    service = CrawlService(
        program=program, collection=path, user=user or getpass.getuser(),
        metrics_port=metrics_port, metrics_address=metrics_address,
    )  # fmt: skip
    if as_json:
        print_json({"service": service, "unit": service.unit()})
    else:
        sys.stdout.write(service.unit())
