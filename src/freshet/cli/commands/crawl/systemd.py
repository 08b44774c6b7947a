"""The unit starts the crawl at boot and restarts it after a failure, sends its log to the journal,
and allows it to write only to the collection. Save the output as
/etc/systemd/system/freshet.service, then run `systemctl daemon-reload` and `systemctl enable --now
freshet`.
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
from freshet.record.collection_store import CollectionStore

app = new_app()


@app.command()
def systemd(
    user: Annotated[
        str,
        typer.Option(
            metavar="USER", help="User account that runs the crawl. Default: the current user."
        ),
    ] = "",
    metrics_port: Annotated[
        int,
        typer.Option(
            min=0, max=65_535, metavar="PORT", help="Port for Prometheus metrics; 0 serves none."
        ),
    ] = 0,
    metrics_address: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address for --metrics-port; 0.0.0.0 serves all interfaces. Default: 127.0.0.1.",
        ),
    ] = "",
    collection: CollectionOption = DEFAULT_COLLECTION,
    as_json: JsonOption = False,
) -> None:
    """Print a systemd unit that keeps the crawl running."""
    CollectionStore.open(collection).close()
    path = collection.resolve()
    if " " in user or not all(map(str.isprintable, (str(path), user, metrics_address))):
        raise UsageError(
            f"{str(path)!r}, user {user!r} or address {metrics_address!r} contains characters that "
            "are not allowed in a unit file; choose another"
        )
    program = Path(sys.executable).parent / "freshet"
    service = CrawlService(
        program=program,
        collection=path,
        user=user or getpass.getuser(),
        metrics_port=metrics_port,
        metrics_address=metrics_address,
    )
    if as_json:
        print_json({"service": service, "unit": service.unit()})
    else:
        sys.stdout.write(service.unit())
