import sys
from pathlib import Path

import pytest

from freshet.core.errors import UsageError
from freshet.core.extras import OptionalPackage


def test_an_attribute_of_an_installed_package_is_its_own() -> None:
    assert OptionalPackage("json", extra="text").dumps([1]) == "[1]"


def test_a_missing_package_names_the_extra_that_installs_it() -> None:
    package = OptionalPackage("no_such_package", extra="charts")
    with pytest.raises(UsageError, match=r"pip install '.\[charts\]'"):
        _ = package.Chart


def test_a_package_is_imported_only_when_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package_of_an_extra.py").write_text("ANSWER = 42")
    monkeypatch.syspath_prepend(tmp_path)
    package = OptionalPackage("package_of_an_extra", extra="charts")
    assert "package_of_an_extra" not in sys.modules
    assert package.ANSWER == 42
    assert "package_of_an_extra" in sys.modules
