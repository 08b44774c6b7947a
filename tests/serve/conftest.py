"""Served collections; the tour in a browser is collected only if there is one."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.serve.browsers import find_browser
from tests.serve.served_collections import (
    make_hostile_collection,
    make_small_collection,
    open_client,
)

collect_ignore = [] if find_browser() else ["test_browser.py"]


@pytest.fixture(scope="session")
def small_collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with a month of history; copied, never changed."""
    return make_small_collection(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def hostile_collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection whose pages write attacks wherever they can; never changed."""
    return make_hostile_collection(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def reader(small_collection: Path) -> Iterator[TestClient]:
    """A client that only reads."""
    with open_client(small_collection) as client:
        yield client


@pytest.fixture
def writer(small_collection: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A client of a collection of its own."""
    path = tmp_path / "news"
    shutil.copytree(small_collection, path)
    with open_client(path) as client:
        yield client
