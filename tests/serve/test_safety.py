"""Who may read and write, and what no request can do."""

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from freshet.core.errors import UsageError
from freshet.serve.access import AccessRules
from freshet.serve.actions import ACTIONS
from freshet.serve.catalogue import RESOURCES
from freshet.serve.guard import MAX_BODY_BYTES, RateLimit, RequestGuard
from freshet.serve.server import ServerOptions
from tests.serve.served_collections import BEARER, ORIGIN, TOKEN, open_client

WRITES = [
    action.api_path.replace("{page_id:int}", "1").replace("{host}", "news.example")
    for action in ACTIONS
] + ["/api/v1/exports/csv"]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("path", WRITES)
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Cookie": "freshet_8640=wrong"}, {"Cookie": "\x7f"}],
    ids=["none", "wrong token", "wrong cookie", "no cookie"],
)
def test_every_write_needs_the_token(
    reader: TestClient, path: str, headers: dict[str, str]
) -> None:
    response = reader.post(path, json={}, headers=headers)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", WRITES)
def test_no_other_site_can_write(reader: TestClient, path: str) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert reader.post(path, json={}, headers=BEARER | headers).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8640", "", "127.0.0.1.evil.example"]
)
def test_another_name_of_the_server_is_refused(reader: TestClient, host: str) -> None:
    assert reader.get("/api/v1/overview", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8640", "localhost:8640", "[::1]:8640", "LOCALHOST"])
def test_names_of_this_machine_are_answered(reader: TestClient, host: str) -> None:
    assert reader.get("/api/v1/add", headers={"Host": host}).status_code == 200


def test_on_another_address_everything_needs_the_token(small_collection: Path) -> None:
    with open_client(small_collection, host="0.0.0.0") as client:
        for resource in RESOURCES:
            path = resource.api_path.replace("{page_id:int}", "1").replace("{number:int}", "1")
            assert client.get(path).status_code == 401
        assert client.get("/").headers["location"] == "/session"
        assert client.get("/session").status_code == 200
        assert client.get("/static/dashboard.css").status_code == 200
        assert client.get("/api/v1/add", headers=BEARER).status_code == 200
        assert client.get("/api/v1/add", headers=BEARER | {"Host": "10.1.2.3"}).status_code == 200
        assert client.get("/api/v1/add", headers=BEARER | {"Host": "a.example"}).status_code == 421


def test_another_address_needs_a_token_at_the_start() -> None:
    with pytest.raises(UsageError, match="give a --token"):
        ServerOptions("0.0.0.0", 0)
    with pytest.raises(UsageError, match="at least 8"):
        ServerOptions("127.0.0.1", 0, "short")
    assert ServerOptions("0.0.0.0", 0, TOKEN).token == TOKEN


def test_the_token_is_exchanged_for_a_cookie_that_scripts_cannot_read(
    reader: TestClient,
) -> None:
    assert reader.post("/session", content="token=wrong", headers=FORM).status_code == 403
    response = reader.post("/session", content=f"token={TOKEN}", headers=FORM)
    assert response.status_code == 303
    cookie = response.headers["set-cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    reader.cookies.clear()


def test_every_answer_forbids_scripts_of_others(reader: TestClient) -> None:
    for path in ("/", "/pages", "/nowhere", "/api/v1/overview", "/static/dashboard.js"):
        headers = reader.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert f"frame-src {ORIGIN.replace('8640', '8641')}" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_large_requests_are_refused(reader: TestClient) -> None:
    large = b"x" * (MAX_BODY_BYTES + 1)
    assert reader.post("/api/v1/pages", content=large, headers=BEARER).status_code == 413
    chunks = (large[: MAX_BODY_BYTES // 2] for _ in range(3))
    assert reader.post("/api/v1/pages", content=chunks, headers=BEARER).status_code == 413
    assert reader.get("/pages", params={"q": "x" * 9_000}).status_code == 414
    assert reader.get("/pages", params={"q": "x" * 3_000}).status_code == 400
    assert reader.get("/pages/" + "9" * 5_000).status_code == 414
    assert reader.get("/pages/" + "9" * 30).status_code == 404


def test_a_client_that_asks_too_often_is_slowed_down() -> None:
    guard = RequestGuard(
        PlainTextResponse("here"),
        rules=AccessRules("127.0.0.1", 8640, TOKEN),
        content_policy=lambda host: "default-src 'none'",
        rate=RateLimit(0.0, 2.0),
    )
    client = TestClient(guard, base_url=ORIGIN)
    responses = [client.get("/") for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert responses[2].headers["retry-after"] == "1"


def test_a_cookie_of_another_token_is_worth_nothing() -> None:
    rules, other = (AccessRules("127.0.0.1", 8640, token) for token in ("first-token", "second"))
    assert rules.is_authorised({"cookie": f"freshet_8640={rules.session}"})
    assert not rules.is_authorised({"cookie": f"freshet_8640={other.session}"})
    assert not rules.is_authorised({"authorization": "Bearer first-toke"})
