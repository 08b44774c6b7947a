"""Requests made up from the API document: each is answered as the document says (schemathesis)."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from freshet.collection.collection import Collection
from freshet.core.clock import FixedClock
from freshet.serve.access import AccessRules
from freshet.serve.application import DashboardApplication, ServerPorts
from freshet.serve.dashboard import Dashboard
from freshet.serve.guard import RequestGuard
from tests.serve.served_collections import BEARER, NOW, ORIGIN, TOKEN

HOST = ORIGIN.removeprefix("http://")
STREAMS = ("/api/v1/events",)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture
def app(small_collection: Path, tmp_path: Path) -> Iterator[RequestGuard]:
    path = tmp_path / "news"
    shutil.copytree(small_collection, path)
    with Dashboard(Collection.open(path, clock=FixedClock(NOW))) as dashboard:
        rules = AccessRules("127.0.0.1", 8640, TOKEN)
        yield DashboardApplication(dashboard, rules, ServerPorts(8640, 8641)).guarded()


def test_every_operation_keeps_to_its_document(app: RequestGuard) -> None:
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers={"Host": HOST})
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 20
    for operation in operations:
        if operation.path not in STREAMS:
            try_requests(operation)


def try_requests(operation: schemathesis.APIOperation) -> None:
    """Make up requests of an operation, and check their answers."""

    @seed(1)
    @settings(
        max_examples=6,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(case=operation.as_strategy())
    def try_request(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS, headers={**BEARER, "Host": HOST})

    try_request()
