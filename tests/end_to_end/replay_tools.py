"""Other programs for web archives, run from their own environment: pywb, cdxj-indexer, py-wacz."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".venv-replay" / "bin"


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, as it came."""

    status: int
    headers: dict[str, str]
    body: bytes


def run_tool(name: str, *words: str | Path, code: int = 0) -> str:
    """Run a program of the tools' environment; return what it printed."""
    command = [str(program(name)), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def program(name: str) -> Path:
    """Return a program of the tools' environment."""
    path = PROGRAMS / name
    assert path.exists(), f"{path} is missing; run 'make replay-tools'"
    return path


class Replay:
    """A running pywb with one collection."""

    def __init__(self, port: int) -> None:
        self.port = port

    def get(self, url: str, timestamp: str, modifier: str = "id_") -> Answer:
        """Ask for the capture of a URL at a time; ``id_`` asks for it without rewriting."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", f"/test/{timestamp}{modifier}/{url}")
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, response.read())
        finally:
            connection.close()


@contextmanager
def pywb(index: Path, archives: Sequence[Path]) -> Iterator[Replay]:
    """Run pywb's application on loopback over WARC files and their index."""
    script = ROOT / "tests" / "end_to_end" / "pywb_application.py"
    command = [str(program("python")), str(script), str(index), *(f"{path}/" for path in archives)]
    with subprocess.Popen(
        command, cwd=index.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        said = (line for line in process.stdout or () if line.startswith("{"))
        yield Replay(json.loads(next(said))["port"])
