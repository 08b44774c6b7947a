"""Writes of the dashboard: each does what its command does, for clients and for forms."""

import csv
import io
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.serve.served_collections import BEARER, TOKEN

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def post(client: TestClient, path: str, body: Any = None) -> Any:
    response = client.post(f"/api/v1{path}", json=body, headers=BEARER)
    assert response.status_code == 200, response.text
    return response.json()


def page_id(client: TestClient, text: str) -> int:
    (row,) = client.get("/api/v1/pages", params={"q": text}).json()["rows"]
    return int(row["id"])


def test_pages_are_added_with_tags(writer: TestClient) -> None:
    urls = ["https://new.example/a", "https://new.example/b\nnot a url", "https://news.example/"]
    summary = post(writer, "/pages", {"urls": urls, "tags": ["fresh"]})
    assert (summary["new"], summary["known"]) == (2, 1)
    assert len(summary["refused"]) == 1
    rows = writer.get("/api/v1/pages", params={"tag": "fresh"}).json()["rows"]
    assert len(rows) == 3
    assert writer.get("/api/v1/overview").json()["counts"]["pages"] == 8


def test_a_page_is_paused_resumed_and_requested(writer: TestClient) -> None:
    page = page_id(writer, "news")
    assert post(writer, f"/pages/{page}/pause")["page"]["paused"] is True
    assert [row["id"] for row in _paused(writer)] == [page]
    queue = writer.get("/api/v1/queue").json()["visits"]
    assert page not in [visit["page"]["id"] for visit in queue]
    assert post(writer, f"/pages/{page}/resume")["page"]["paused"] is False
    assert _paused(writer) == []
    assert post(writer, f"/pages/{page}/check") == {"pages": 1, "crawl": ""}
    assert writer.get("/api/v1/queue").json()["visits"][0]["reason"] == "asked for"


def _paused(client: TestClient) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get("/api/v1/pages?state=paused").json()["rows"]
    return rows


def test_a_block_is_muted_and_shown_again(writer: TestClient) -> None:
    page = page_id(writer, "status")
    mask = post(writer, f"/pages/{page}/mute", {"rules": ["Checked at *"]})
    assert "Checked at *" in [rule["what"] for rule in mask["rules"]]
    shown = writer.get(f"/pages/{page}").text
    assert "Checked at *" in shown
    mask = post(writer, f"/pages/{page}/unmute", {"rules": ["Checked at *"]})
    assert "Checked at *" not in [rule["what"] for rule in mask["rules"]]


def test_a_setting_of_a_page_is_validated(writer: TestClient) -> None:
    page = page_id(writer, "news")
    answer = post(writer, f"/pages/{page}/settings", {"name": "importance", "value": "3"})
    assert {"name": "importance", "value": 3.0, "origin": "page"} in answer["settings"]
    body = {"name": "importance", "value": "much"}
    wrong = writer.post(f"/api/v1/pages/{page}/settings", json=body, headers=BEARER)
    assert wrong.status_code == 400
    assert "importance" in wrong.json()["error"]


def test_an_export_is_a_file(writer: TestClient) -> None:
    response = writer.post("/api/v1/exports/csv", headers=BEARER)
    assert response.headers["content-disposition"] == 'attachment; filename="freshet-csv.csv"'
    rows = list(csv.reader(io.StringIO(response.text)))
    assert rows[0] == ["page", "time", "changed", "new_links"]
    assert len(rows) > 100
    # A cell that a spreadsheet would compute begins with one of these.
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t"))]
    assert writer.post("/api/v1/exports/none", headers=BEARER).status_code == 404


def test_a_host_is_reopened(writer: TestClient) -> None:
    assert post(writer, "/hosts/news.example/reopen")["host"]["host"] == "news.example"
    missing = writer.post("/api/v1/hosts/none.example/reopen", headers=BEARER)
    assert missing.status_code == 404


def test_a_form_returns_to_its_page(writer: TestClient) -> None:
    writer.post("/session", content=f"token={TOKEN}", headers=FORM)
    page = page_id(writer, "news")
    sent = writer.post(f"/api/v1/pages/{page}/pause", content="back=/pages/1", headers=FORM)
    assert (sent.status_code, sent.headers["location"]) == (303, "/pages/1")
    away = "back=https://evil.example/"
    sent = writer.post(f"/api/v1/pages/{page}/resume", content=away, headers=FORM)
    assert (sent.status_code, sent.headers["location"]) == (303, "/")
    refused = writer.post("/api/v1/pages", content="urls=nonsense&back=/pages", headers=FORM)
    assert refused.status_code == 200
    assert "nonsense" in refused.text
    assert "Check now" in writer.get(f"/pages/{page}").text


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{", '{"urls": "https://a.example/"}', '{"urls": [1]}', '{"other": []}', "null",
     '{"urls": ["\\ud800"]}', '{"urls": []}'],
)  # fmt: skip
def test_a_body_of_another_form_is_refused(writer: TestClient, body: str) -> None:
    headers = BEARER | {"Content-Type": "application/json"}
    response = writer.post("/api/v1/pages", content=body, headers=headers)
    assert response.status_code == 400
    assert response.json()["error"]
