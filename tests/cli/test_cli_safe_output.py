"""No file and no page can steer the terminal, whichever library prints a message about it."""

import logging
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from freshet.cli import app
from tests.cli.cli_runs import Run

STEERING = "\x1b[31m\x1b]0;owned\x07\x9b2J\u202e"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028]")
BODY = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>A page of some words."


ARC = (
    b"filedesc://a.arc 0.0.0.0 20140216050221 text/plain 75\n1 0 LiveWeb Capture\n"
    b"URL IP-address Archive-date Content-type Archive-length\n\n"
    b"http://a.example/%s x 1.2.3.4 20240101000000 text/html %d\n%s\n"
)


def test_an_arc_with_control_characters_cannot_steer_the_terminal(empty: Path) -> None:
    Path("odd.arc").write_bytes(ARC % (STEERING.encode(), len(BODY), BODY))
    # In a process of its own: here pytest takes the messages of libraries.
    words = [sys.executable, "-m", "freshet", "import", "warc", "odd.arc"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("Imported 1 visit")
    assert not UNSAFE.search(result.stdout + result.stderr)


def warn_raw(*_: object, **__: object) -> int:
    logging.getLogger("warcio.recordloader").warning("odd %s", STEERING)
    warnings.warn(f"odd {STEERING}", UserWarning, stacklevel=1)
    return 0


@pytest.mark.filterwarnings("always")
def test_warnings_of_every_library_are_made_safe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "app", warn_raw)
    result = run("status")
    assert result.err.count("odd ?[31m") == 2
    assert not UNSAFE.search(result.err)


def fail_raw(*_: object, **__: object) -> int:
    raise ValueError(f"odd {STEERING}")


def test_a_traceback_is_made_safe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "app", fail_raw)
    monkeypatch.setenv("FRESHET_DEBUG", "1")
    result = run("status")
    assert "fail_raw" in result.err
    assert not UNSAFE.search(result.err)
