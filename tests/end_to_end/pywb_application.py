"""pywb's application over one index and its archives; run by the Python that has pywb.

It prints the port that it listens on, and goes on until standard input ends.
"""

# ruff: noqa: E402
from gevent.monkey import patch_all

patch_all()

import json
import sys

from gevent import get_hub
from gevent.pywsgi import WSGIServer
from pywb.apps.frontendapp import FrontEndApp


def serve(index: str, archives: list[str]) -> None:
    """Serve the collection "test"."""
    collection = {"index_paths": index, "archive_paths": archives}
    application = FrontEndApp(config_file=None, custom_config={"collections": {"test": collection}})
    server = WSGIServer(("127.0.0.1", 0), application, log=None)
    server.start()
    sys.stdout.write(json.dumps({"port": server.server_port}) + "\n")
    sys.stdout.flush()
    get_hub().threadpool.spawn(sys.stdin.read).get()


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
