"""Classes of users, by entry point and as module:Class."""

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from freshet.core import own_classes
from freshet.core.errors import UsageError
from freshet.core.own_classes import is_class_path, is_own_class, load_class
from freshet.core.setting_checks import check_counts_as, check_policy


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Install a package that declares a policy and a lost one, and a module that fails."""
    (tmp_path / "failing_rules.py").write_text("Rule = 1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    entries = EntryPoints([
        EntryPoint("newest", "tests.schedule.own_policies:NewestFirst", "freshet.policies"),
        EntryPoint("lost", "no.such.module:Rule", "freshet.policies"),
    ])
    monkeypatch.setattr(
        own_classes, "entry_points", lambda **selection: entries.select(**selection)
    )


@pytest.mark.parametrize(
    ("name", "is_path"),
    [("a:B", True), ("a.b:C", True), ("words:10", False), ("a:b:c", False), ("t * X", False),
     ("../x:Y", False), (":X", False), ("a:", False), ("", False), ("a.b", False)],
)  # fmt: skip
def test_which_names_are_class_paths(name: str, is_path: bool) -> None:
    assert is_class_path(name) is is_path


@pytest.mark.usefixtures("installed")
def test_an_entry_point_is_found_in_its_group_only() -> None:
    assert is_own_class("newest", "freshet.policies")
    assert not is_own_class("newest", "freshet.measures")
    assert not is_own_class("oldest", "freshet.policies")
    assert load_class("newest", "freshet.policies", ("choose",)).__name__ == "NewestFirst"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no.such:Rule", "No module named 'no'; put its folder on PYTHONPATH"),
        ("json:Rule", "has no attribute 'Rule'"),
        ("json:dumps", "is not a class"),
        ("json:JSONDecoder", "has no method choose"),
        ("failing_rules:Rule", "ZeroDivisionError"),
        ("lost", "No module named 'no'"),
    ],
)
def test_a_class_that_cannot_be_used_is_named_with_the_reason(name: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        load_class(name, "freshet.policies", ("choose",))


@pytest.mark.usefixtures("installed")
def test_settings_take_the_names_of_classes_without_importing_them() -> None:
    assert check_policy("no.such:Rule") == check_policy("newest") == ""
    assert check_counts_as("no.such:Measure") == ""
    assert "policy of your own" in check_policy("oldest-first")
    assert "measure of your own" in check_counts_as("words:ten")
