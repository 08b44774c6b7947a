"""Whatever web pages write, the dashboard shows it as text."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.serve.access import AccessRules
from freshet.serve.dashboard import Dashboard
from freshet.serve.stored_pages import stored_page_app
from tests.serve.served_collections import ATTACKS, BEARER, NOW, ORIGIN, TOKEN, open_client

PAGE_PATHS = [
    path.format(page=page)
    for page in range(1, len(ATTACKS) + 1)
    for path in (
        "/pages/{page}",
        "/pages/{page}/difference",
        "/pages/{page}/difference?form=side",
        "/pages/{page}/difference?form=text",
        "/pages/{page}/difference?form=links",
        "/pages/{page}/versions/3",
        "/pages/{page}/content",
    )
]
PATHS = ["/", "/pages", "/pages?state=failing", "/queue", "/hosts", "/archive", *PAGE_PATHS]
OWN_SCRIPTS = {"/static/dashboard.js", "/static/vega.js"}


class MarkupAudit(HTMLParser):
    """Collects what could run: scripts, handlers, styles, and addresses that are no paths."""

    def __init__(self) -> None:
        super().__init__()
        self.findings: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "script" and values.get("src") not in OWN_SCRIPTS:
            self.findings.append(f"script {values}")
        if tag in ("object", "embed", "style", "img", "base"):
            self.findings.append(tag)
        if tag == "iframe" and ("srcdoc" in values or values.get("sandbox") != ""):
            self.findings.append(f"iframe {values}")
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc", "autofocus"):
                self.findings.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action") and not is_harmless(value or ""):
                self.findings.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.text += data


def is_harmless(address: str) -> bool:
    prefixes = ("/", "?", "#", "http://", "https://", "data:,")
    return address.startswith(prefixes) or address.isdecimal()


@pytest.fixture(scope="module")
def client(hostile_collection: Path) -> Iterator[TestClient]:
    with open_client(hostile_collection) as opened:
        opened.headers.update(BEARER)
        yield opened


@pytest.mark.parametrize("path", PATHS)
def test_nothing_of_a_page_becomes_markup(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    audit = MarkupAudit()
    audit.feed(response.text)
    assert audit.findings == []
    assert "<script>window" not in response.text


def test_the_attacks_are_there_as_text(client: TestClient) -> None:
    audit = MarkupAudit()
    audit.feed("".join(client.get(path).text for path in PATHS))
    shown = " ".join(audit.text.split())
    missing = [attack for attack in ATTACKS if " ".join(attack.split()) not in shown]
    assert missing == []


def test_queries_and_errors_are_shown_as_text(client: TestClient) -> None:
    for attack in ATTACKS:
        for path, query in (
            ("/pages", "q"),
            ("/pages", "sort"),
            ("/hosts", "q"),
            ("/pages", attack),
        ):
            audit = MarkupAudit()
            audit.feed(client.get(path, params={query: attack}).text)
            assert audit.findings == []


def test_stored_pages_are_answered_only_with_a_sandbox(hostile_collection: Path) -> None:
    opened = Collection.open(hostile_collection, clock=FixedClock(NOW))
    with Dashboard(opened) as dashboard:
        rules = AccessRules("127.0.0.1", 8640, TOKEN)
        app = stored_page_app(dashboard, rules, lambda host: ORIGIN)
        client = TestClient(app, base_url="http://127.0.0.1:8641")
        for path in ("/pages/1/versions/2", "/pages/1/lifespans", "/pages/1/versions/99", "/"):
            policy = client.get(path).headers["content-security-policy"]
            assert policy.startswith("sandbox; default-src 'none'")
            assert f"frame-ancestors {ORIGIN}" in policy
            assert "script-src" not in policy
        assert ATTACKS[0] in client.get("/pages/1/versions/2").text
        assert client.get("/pages/1/versions/2", headers={"Host": "a.example"}).status_code == 421
