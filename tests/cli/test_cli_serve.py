"""freshet serve: the dashboard of a collection, started and stopped as a user would."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

import freshet
from tests.cli.cli_runs import Run


def test_serve_answers_until_it_is_stopped(collection: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "freshet",
        "serve",
        "-C",
        str(collection),
        "--port",
        "0",
        "--json",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "}\n")
        address = json.loads("".join(lines) + "}")
        with urlopen(address["url"] + "api/v1/add") as answer:
            assert json.load(answer) == {"pages": 6}
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def test_another_address_is_refused_without_a_token(run: Run, collection: Path) -> None:
    result = run("serve", "--host", "0.0.0.0")
    assert result.code == 2
    assert "--token" in result.err


def test_what_is_no_collection_is_refused(run: Run, tmp_path: Path) -> None:
    result = run("serve", "-C", str(tmp_path))
    assert result.code == 3
    assert "freshet init" in result.err


def test_a_port_in_use_is_named(run: Run, collection: Path) -> None:
    with freshet.open_dashboard(collection) as address:
        port = address.url.rstrip("/").rpartition(":")[2]
        result = run("serve", "--port", port)
    assert result.code == 2
    assert f"port {port} cannot be used" in result.err


def test_python_opens_the_dashboard_too(collection: Path) -> None:
    with freshet.open_dashboard(collection, token="my-own-token") as address:
        assert address.sign_in_url == f"{address.url}session?token=my-own-token"
        headers = {"Authorization": "Bearer my-own-token", "Content-Type": "application/json"}
        request = Request(
            address.url + "api/v1/pages", b'{"urls": ["https://a.example/"]}', headers
        )
        with urlopen(request) as answer:
            assert json.load(answer)["new"] == 1
    with pytest.raises(OSError, match="refused"):
        urlopen(address.url)
