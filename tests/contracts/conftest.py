"""An empty catalog in each database that Freshet supports."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from freshet.archive.catalog.catalog import Catalog
from tests.contracts.catalog_samples import CATALOGS


@pytest.fixture(params=CATALOGS)
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    with CATALOGS[request.param](tmp_path) as opened:
        yield opened
