"""Every page of the dashboard has a JSON document, and both say what the API document says."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from freshet.archive.catalog.rows import VisitEntry
from freshet.collection.collection import Collection
from freshet.core.types import Outcome, Visit
from freshet.serve.actions import ACTIONS
from freshet.serve.catalogue import CHART_RESOURCE, RESOURCES
from freshet.serve.resources import DashboardResource
from tests.serve.served_collections import NOW, open_client

PAGE = 1
CHART = "curve"
PATHS = {
    resource.name: resource.path
    .replace("{page_id:int}", str(PAGE))
    .replace("{number:int}", "2")
    .replace("{name}", CHART)
    for resource in (*RESOURCES, CHART_RESOURCE)
}


@pytest.fixture(scope="session")
def api(reader: TestClient) -> dict[str, Any]:
    document: dict[str, Any] = reader.get("/api/v1/openapi.json").json()
    return document


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.name)
def test_every_page_is_shown(reader: TestClient, resource: DashboardResource) -> None:
    response = reader.get(PATHS[resource.name])
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "<h1>" in response.text


@pytest.mark.parametrize(
    "resource", [*RESOURCES, CHART_RESOURCE], ids=lambda resource: resource.name
)
def test_every_json_document_is_as_the_api_document_says(
    reader: TestClient, api: dict[str, Any], resource: DashboardResource
) -> None:
    path = PATHS[resource.name]
    response = reader.get("/api/v1" + ("/overview" if path == "/" else path))
    assert response.status_code == 200
    template = re.sub(r"\{(\w+):\w+\}", r"{\1}", resource.api_path)
    operation = api["paths"][template]["get"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    validator = Draft202012Validator({**schema, "components": api["components"]})
    assert [error.message for error in validator.iter_errors(response.json())] == []


def test_every_action_is_in_the_api_document_and_needs_the_token(api: dict[str, Any]) -> None:
    for action in ACTIONS:
        path = re.sub(r"\{(\w+):\w+\}", r"{\1}", action.api_path)
        assert api["paths"][path]["post"]["security"] == [{"token": []}]


def test_the_list_goes_on_where_it_ended(reader: TestClient) -> None:
    urls: list[str] = []
    cursor, count = "", 0
    while cursor is not None:
        answer = reader.get("/api/v1/pages", params={"limit": 2, "cursor": cursor}).json()
        urls += [row["url"] for row in answer["rows"]]
        cursor, count = answer["next"], count + 1
    assert count == 3
    assert urls == sorted(set(urls))
    assert len(urls) == 6


@pytest.mark.parametrize("sort", ["added", "changed"])
def test_the_other_orders_go_on_too(reader: TestClient, sort: str) -> None:
    whole = reader.get("/api/v1/pages", params={"sort": sort}).json()["rows"]
    first = reader.get("/api/v1/pages", params={"sort": sort, "limit": 2}).json()
    rest = reader.get("/api/v1/pages", params={"sort": sort, "cursor": first["next"]}).json()
    ids = [row["id"] for row in first["rows"] + rest["rows"]]
    assert ids == [row["id"] for row in whole]
    assert len(ids) >= 3


def test_pages_are_searched_and_filtered(reader: TestClient) -> None:
    def urls(**query: str) -> list[str]:
        rows = reader.get("/api/v1/pages", params=query).json()["rows"]
        return [row["url"] for row in rows]

    assert urls(q="manual") == ["https://docs.example/manual"]
    assert urls(host="news.example") == ["https://news.example/"]
    assert urls(q="%") == []
    assert urls(state="paused") == []
    assert urls(tag="none") == []
    assert urls(source="elsewhere") == []


def test_a_row_of_the_list_tells_what_is_known(reader: TestClient) -> None:
    (row,) = reader.get("/api/v1/pages", params={"q": "news"}).json()["rows"]
    assert row["title"] == "The Valley Herald"
    assert row["looks"] == 28
    assert sum(row["strip"]["changes"]) == row["changes"] > 10
    assert 0 <= row["next_change"]["now"] <= 1
    assert row["next_change"]["low"] <= row["next_change"]["median"] <= row["next_change"]["high"]


def test_a_page_tells_its_forecast_and_why(reader: TestClient) -> None:
    page = reader.get("/api/v1/pages", params={"q": "news"}).json()["rows"][0]["id"]
    document = reader.get(f"/api/v1/pages/{page}").json()
    chances = [horizon["changed"] for horizon in document["forecast"]["horizons"]]
    assert chances == sorted(chances)
    assert [line["name"] for line in document["explanation"]][:2] == ["page", "next check"]
    assert sum(cell["looks"] for cell in document["hours"]) == 28


def test_the_difference_is_that_of_the_last_change(reader: TestClient) -> None:
    page = reader.get("/api/v1/pages", params={"q": "manual"}).json()["rows"][0]["id"]
    document = reader.get(f"/api/v1/pages/{page}/difference").json()
    pieces = [piece for hunk in document["hunks"] for piece in hunk]
    assert any("valve left" in piece["text"] for piece in pieces if piece["kind"] == "added")
    assert document["change"]["changed"] is True
    for form in ("inline", "side", "text", "links"):
        assert reader.get(f"/pages/{page}/difference", params={"form": form}).status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/pages/999", 404),
        ("/pages/0", 404),
        ("/pages/99999999999999999999", 404),
        ("/pages/1/versions/999", 404),
        ("/pages/1/difference?old=7&new=x", 404),
        ("/pages/1/charts/none", 404),
        ("/pages?limit=0", 400),
        ("/pages?limit=1&limit=2", 400),
        ("/pages?sort=price", 400),
        ("/pages?unknown=1", 400),
        ("/pages?cursor=%%%", 400),
        ("/pages?cursor=WzFd", 400),
        ("/pages?q=%00", 400),
        ("/nowhere", 404),
    ],
)
def test_what_is_not_there_is_said_in_one_line(reader: TestClient, path: str, status: int) -> None:
    response = reader.get(f"/api/v1{path}")
    assert response.status_code == status
    assert list(response.json()) == ["error"]
    if not path.startswith("/pages/1/charts"):
        page = reader.get(path)
        assert page.status_code == status
        assert "<h1>" in page.text


def test_the_queue_is_ordered_by_time(reader: TestClient) -> None:
    document = reader.get("/api/v1/queue").json()
    times = [visit["expected"] for visit in document["visits"]]
    assert times == sorted(times)
    assert len(times) == document["known"] == 6


def test_a_page_without_stored_bytes_is_shown(tmp_path: Path) -> None:
    with Collection.create(tmp_path / "news", contact="me@example.org") as collection:
        page = collection.add("https://gone.example/")
        visit = Visit(b"0" * 16, page.id, NOW - timedelta(days=1), Outcome.OK, 200)
        collection.catalog.append_visits([VisitEntry(visit)])
        collection.hide(page, ["Visitors: #"])
    with open_client(tmp_path / "news") as client:
        assert "Visitors: #" in client.get(f"/pages/{page.id}").text
        for part in ("versions/1", "difference"):
            answer = client.get(f"/pages/{page.id}/{part}")
            assert answer.status_code == 404
            assert "<h1>" in answer.text
        assert client.get(f"/pages/{page.id}/content").status_code == 200


def test_an_empty_collection_is_shown(tmp_path: Path) -> None:
    Collection.create(tmp_path / "empty", contact="me@example.org").close()
    with open_client(tmp_path / "empty") as client:
        for resource in RESOURCES:
            if "{" not in resource.path:
                assert client.get(resource.path).status_code == 200
        assert "There are no pages yet" in client.get("/").text
        assert client.get("/api/v1/pages").json()["rows"] == []
