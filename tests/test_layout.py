"""The layout of the code: small documented modules, small packages, and nothing left undone."""

import ast
from collections import Counter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_LINES = 400
MAX_MODULES = 25
# The word is put together here, so that this file does not hold it.
UNDONE = ("TO" + "DO", "FIX" + "ME", "XX" + "X")
UNWANTED = ("util", "helper", "manager", "misc", "common")


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_short_and_says_what_it_is(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= MAX_LINES
    assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_nothing_is_left_undone(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not [word for word in UNDONE if word in text]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_named_after_its_idea(path: Path) -> None:
    assert not [word for word in UNWANTED if word in path.stem]


def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {path.parent for path in MODULES}
    assert all((folder / "__init__.py").exists() for folder in folders if folder != SOURCE)


def test_no_package_has_too_many_modules() -> None:
    counts = Counter(path.parent for path in MODULES)
    assert not [str(folder) for folder, count in counts.items() if count - 1 > MAX_MODULES]


def test_no_public_class_name_is_used_twice() -> None:
    trees = (ast.parse(path.read_text("utf-8")) for path in MODULES)
    nodes = (node for tree in trees for node in tree.body)
    counts = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert not [name for name, count in counts.items() if count > 1 and not name.startswith("_")]
