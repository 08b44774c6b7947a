"""The documents tell of everything there is, and of nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

import freshet
from freshet.cli.app import COMMANDS, load_command
from freshet.collection.collection import Collection
from freshet.collection.exports import EXPORT_WRITERS
from freshet.collection.imports import IMPORT_READERS
from freshet.collection.page import CollectionPage
from freshet.core import errors, types
from freshet.core.errors import FreshetError
from freshet.core.settings import ENV_RESERVED, describe_settings
from freshet.core.types import Outcome
from tests.reference import REFERENCE, section

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
GLOSSARY = (ROOT / "docs/glossary.md").read_text("utf-8")
SETTINGS = (ROOT / "docs/reference/settings.md").read_text("utf-8")
PATH = (ROOT / "docs/path.md").read_text("utf-8")
GUIDE = (ROOT / "docs/how-to/read-it-from-python.md").read_text("utf-8")
OWNERS = {"freshet": freshet, "collection": Collection, "page": CollectionPage}
TYPES = {
    "page": "Page",
    "visit": "Visit",
    "outcome": "Outcome",
    "snapshot": "Snapshot",
    "view": "View",
    "term": "TermCounts",
    "facts": "ViewStatistics",
    "DOM row": "DomRows",
    "change": "Change",
    "forecast": "Forecast",
    "plan": "Plan",
}


def commands() -> Iterator[tuple[str, Any]]:
    for name in COMMANDS:
        command = load_command(name)
        yield name, command
        for kind, part in getattr(command, "commands", {}).items():
            yield f"{name} {kind}", part


def words_of(parameter: Any) -> list[str]:
    argument = parameter.param_type_name == "argument"
    return [parameter.metavar] if argument else [*parameter.opts, *parameter.secondary_opts]


def family(cls: type[FreshetError]) -> Iterator[type[FreshetError]]:
    yield cls
    for child in cls.__subclasses__():
        yield from family(child)


def documents() -> list[Path]:
    folders = ("docs", "docs/reference", "docs/how-to", "docs/decisions", "docs/results")
    return [ROOT / "README.md", *(p for folder in folders for p in (ROOT / folder).glob("*.md"))]


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_and_option_is_in_the_reference(name: str, command: Any) -> None:
    said = section(name)
    assert said, f"docs/reference/commands.md has no section 'freshet {name}'"
    words = [word for parameter in command.params for word in words_of(parameter)]
    missing = [word for word in words if f"`{word}" not in said and word not in ("-h", "--help")]
    assert not missing


def test_the_reference_tells_of_no_command_that_is_not_there() -> None:
    told = re.findall(r"^##+ freshet (.+)$", REFERENCE, re.M)
    assert sorted(told) == sorted(name for name, _ in commands())


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_the_reference_tells_of_no_option_that_is_not_there(name: str, command: Any) -> None:
    told = set(re.findall(r"^\| `(--?[a-z-]+)`", section(name), re.M))
    assert told <= {word for parameter in command.params for word in words_of(parameter)}


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_the_reference_has_the_text_of_the_help(name: str, command: Any) -> None:
    text = section(name)
    missing = [option.help for option in command.params if f"| {option.help or ''}" not in text]
    assert missing in ([], ["Show this message and exit."])


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_documents_name_only_commands_that_exist(document: Path) -> None:
    text = document.read_text("utf-8")
    code = re.findall(r"`freshet ([a-z][a-z-]*)|^freshet ([a-z][a-z-]*)", text, re.M)
    assert {first or second for first, second in code} <= set(COMMANDS)


@pytest.mark.parametrize(("name", "default", "doc"), list(describe_settings()))
def test_every_setting_is_in_the_reference(name: str, default: Any, doc: str) -> None:
    row = next((line for line in SETTINGS.splitlines() if line.startswith(f"| `{name}` |")), "")
    assert row, f"docs/reference/settings.md does not tell of {name}"
    shown = ", ".join(default) if isinstance(default, tuple) else str(default)
    assert not default or shown.lower() in row.lower()
    assert doc in row


def test_the_reference_tells_of_no_setting_that_is_not_there() -> None:
    told = re.findall(r"^\| `([a-z_.]+)` \|", SETTINGS, re.M)
    assert told == [name for name, _, _ in describe_settings()]


def test_every_variable_that_is_no_setting_is_in_the_reference() -> None:
    assert all(f"| `{name}` |" in SETTINGS for name in ENV_RESERVED)


def test_every_exit_code_is_in_the_reference() -> None:
    codes = {cls.exit_code for cls in family(FreshetError)} | {0}
    told = re.findall(r"^\| (\d+) \|", REFERENCE, re.M)
    assert sorted(map(int, told)) == sorted(codes)


def test_every_error_is_in_the_tree_that_is_drawn() -> None:
    ours = (cls.__name__ for cls in family(FreshetError) if cls.__module__ == errors.__name__)
    assert all(name in (errors.__doc__ or "") for name in ours)


def test_every_outcome_is_in_the_reference() -> None:
    table = REFERENCE.partition("### Outcomes")[2].partition("\n###")[0]
    assert re.findall(r"^\| `([a-z0-9-]+)` \|", table, re.M) == [str(item) for item in Outcome]


def test_every_kind_of_import_and_export_is_in_the_reference() -> None:
    assert all(section(f"import {kind}") for kind in IMPORT_READERS)
    assert all(section(f"export {kind}") for kind in EXPORT_WRITERS if kind != "changes")
    assert "--table changes" in section("export parquet")


def test_the_summaries_name_every_kind() -> None:
    assert all(kind in COMMANDS["import"] for kind in IMPORT_READERS)
    assert all(kind in COMMANDS["export"] for kind in EXPORT_WRITERS if kind != "changes")


@pytest.mark.parametrize(("word", "name"), TYPES.items())
def test_every_word_that_is_a_type_exists(word: str, name: str) -> None:
    assert f"| **{word}** |" in GLOSSARY
    assert hasattr(types, name)


def test_the_readme_links_every_guide() -> None:
    guides = sorted(path.name for path in (ROOT / "docs/how-to").glob("*.md"))
    assert [name for name in guides if f"(docs/how-to/{name})" not in README] == []


def test_the_readme_says_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in README
        assert f"\n{target}:" in makefile


def test_documents_point_only_to_files_that_exist() -> None:
    for document in documents():
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.parametrize("owner", OWNERS)
def test_the_guide_for_python_names_only_methods_that_exist(owner: str) -> None:
    named = set(re.findall(rf"(?<![.\w]){owner}\.([a-z_]+)", GUIDE))
    assert named
    assert all(hasattr(OWNERS[owner], name) for name in named)


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_documents_name_only_what_can_be_imported(document: Path) -> None:
    text = document.read_text("utf-8")
    for name in re.findall(r"`(freshet(?:\.\w+)+)", text):
        assert name == "freshet.toml" or resolve_name(name)
    for module, names in re.findall(r"^from (freshet[\w.]*) import (.+)$", text, re.M):
        assert all(resolve_name(f"{module}:{name}") for name in names.split(", "))


def test_every_command_has_its_method_in_the_guide_for_python() -> None:
    rows = dict(re.findall(r"^\| `freshet ([a-z-]+)` \| (.+) \|$", GUIDE, re.M))
    assert list(rows) == [name for name in COMMANDS if name not in ("demo", "compile")]
    for methods in rows.values():
        assert re.search(rf"`({'|'.join(OWNERS)})\.[a-z_]+", methods)


def picture(document: str) -> str:
    """Return the drawing of the packages in a document."""
    return next(
        block for block in re.findall(r"```\n(.*?)```", document, re.S) if "fetch/" in block
    )


def packages() -> set[str]:
    """Return every package of the source, with dots."""
    source = ROOT / "src"
    files = (source / "freshet").glob("*/**/__init__.py")
    return {".".join(file.parent.relative_to(source).parts) for file in files}


@pytest.mark.parametrize("document", [README, PATH], ids=["README", "path"])
def test_the_picture_draws_every_top_level_package_and_no_other(document: str) -> None:
    drawn = {f"freshet.{name}" for name in re.findall(r"\b([a-z_]+)/", picture(document))}
    assert drawn == {name for name in packages() if name.count(".") == 1}


def test_the_readme_and_the_path_have_the_same_picture() -> None:
    assert picture(README) == picture(PATH)


def test_the_table_of_packages_is_complete() -> None:
    table = PATH.partition("## Packages")[2]
    assert set(re.findall(r"`(freshet(?:\.\w+)+)`", table)) == packages()


def test_the_recipes_name_only_files_that_exist() -> None:
    recipes = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = set(re.findall(r"`((?:src|tests|docs)/[\w/.-]+)`", recipes))
    patterns = {name for name in named if "NAME" in name}
    assert [name for name in named - patterns if not (ROOT / name).exists()] == []
    assert [name for name in patterns if not (ROOT / name).parent.is_dir()] == []
