"""Logs are JSON lines that nothing from a page or a server can forge, nor steer a terminal with."""

import json
import logging
import re
from pathlib import Path

import pytest

from freshet.cli.json_log import log_event, log_to_file

MESSAGE = 'x\n{"event": "forged"}\r\x1b[31m\x1b]0;t\x07\x7f\x9b2J\u202e\u2028 "quoted" \x00'
HOSTILE = MESSAGE + "\ud800"


def lines(path: Path) -> list[str]:
    return path.read_text("ascii").splitlines()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.log"


def test_an_event_is_one_json_document_on_one_line(file: Path) -> None:
    with log_to_file(file):
        log_event("visit", page="https://example.org/", outcome="ok", changed=True)
    [line] = lines(file)
    document = json.loads(line)
    assert (document["event"], document["level"], document["from"]) == ("visit", "info", "freshet")
    assert (document["page"], document["changed"]) == ("https://example.org/", True)
    assert document["time"].endswith("+00:00")


def test_what_a_server_sent_is_kept_whole_and_cannot_forge_a_line(file: Path) -> None:
    with log_to_file(file):
        log_event("visit", page=HOSTILE, why=HOSTILE, **{"headers": {HOSTILE: HOSTILE}})
    [line] = lines(file)
    assert re.fullmatch(r"[ -~]+", line)
    document = json.loads(line)
    assert document["page"] == document["why"] == HOSTILE
    assert document["headers"] == {HOSTILE: HOSTILE}


def test_messages_of_libraries_go_the_same_way_from_warning_on(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scrapy = logging.getLogger("scrapy.core.engine")
    scrapy.setLevel(logging.DEBUG)
    with log_to_file(file):
        scrapy.info("crawled %s", MESSAGE)
        scrapy.warning("odd answer: %s", MESSAGE)
    [line] = lines(file)
    assert json.loads(line)["event"] == f"odd answer: {MESSAGE}"
    output = capsys.readouterr().err
    assert output.startswith("freshet: odd answer: x {")
    assert re.fullmatch(r"[^\x00-\x1f\x7f-\x9f\u202e\u2028]+\n", output)


def test_without_a_file_only_warnings_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with log_to_file(None):
        log_event("visit", page="a")
        logging.getLogger("freshet.fetch").warning("no space")
    assert capsys.readouterr().err == "freshet: no space\n"


def test_a_dash_logs_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with log_to_file(Path("-")):
        log_event("visit", page="a")
    assert json.loads(capsys.readouterr().err)["page"] == "a"


def test_a_fault_is_logged_with_its_trace_on_the_same_line(file: Path) -> None:
    with log_to_file(file):
        try:
            raise ValueError(MESSAGE)
        except ValueError:
            logging.getLogger("freshet.fetch").exception("a fault")
    [line] = lines(file)
    assert "ValueError" in json.loads(line)["trace"]


def test_a_log_that_was_moved_away_is_created_again(file: Path, tmp_path: Path) -> None:
    with log_to_file(file):
        log_event("first")
        file.rename(tmp_path / "run.log.1")
        log_event("second")
    assert json.loads(lines(file)[0])["event"] == "second"
    assert json.loads(lines(tmp_path / "run.log.1")[0])["event"] == "first"


def test_afterwards_everything_is_as_before(file: Path) -> None:
    before = list(logging.getLogger().handlers), logging.getLogger("freshet").level
    with log_to_file(file):
        pass
    assert (list(logging.getLogger().handlers), logging.getLogger("freshet").level) == before
