"""The wheel, installed without extras in a clean environment, as from the package index."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from freshet.core import DISTRIBUTION, __version__

ROOT = Path(__file__).parents[2]
OF_EXTRAS = {"altair", "vl_convert", "polars", "scipy", "cupy"}
Freshet = Callable[..., "subprocess.CompletedProcess[str]"]


def command(*words: str | Path, **options: object) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        list(map(str, words)), capture_output=True, text=True, timeout=280, check=False,
        cwd=options.get("cwd"), env=environment | options.get("env", {}),
    )  # type: ignore[call-overload, no-any-return]  # fmt: skip


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment into which the wheel of this checkout and what it needs were installed."""
    folder = tmp_path_factory.mktemp("distribution")
    built = command(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT
    )
    assert built.returncode == 0, built.stdout + built.stderr
    [wheel] = folder.glob("*.whl")
    made = command(sys.executable, "-m", "venv", "--without-pip", folder / "env")
    assert made.returncode == 0, made.stderr
    installed = command(
        sys.executable, "-m", "pip", "--python", folder / "env" / "bin" / "python", "install",
        "--quiet", "--constraint", ROOT / "constraints.txt", wheel,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr
    return folder / "env"


@pytest.fixture(scope="module")
def freshet(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Freshet:
    folder = tmp_path_factory.mktemp("work")

    def run(*words: str | Path) -> "subprocess.CompletedProcess[str]":
        return command(environment / "bin" / "freshet", *words, cwd=folder)

    return run


def test_the_wheel_has_the_name_of_the_distribution(environment: Path) -> None:
    [site] = environment.glob("lib/python*/site-packages")
    name = DISTRIBUTION.replace("-", "_")
    assert (site / f"{name}-{__version__}.dist-info").is_dir()


def test_packages_of_extras_are_not_installed(environment: Path) -> None:
    [site] = environment.glob("lib/python*/site-packages")
    assert not OF_EXTRAS & {path.name for path in site.iterdir()}


def test_the_demonstration_runs_from_the_wheel(freshet: Freshet) -> None:
    ran = freshet("demo", "--headless", "--days", "2", "--json")
    assert ran.returncode == 0, ran.stderr
    assert {"freshet", "age"} <= {row["policy"] for row in json.loads(ran.stdout)["standings"]}


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("export", "parquet", "visits.parquet", "-C", "news"), "parquet"),
        (("import", "parquet", "pages.parquet", "-C", "news"), "parquet"),
        (("analyse", "-C", "news", "--pictures", "charts"), "charts"),
    ],
)
def test_a_command_without_its_extra_says_what_to_install(
    freshet: Freshet, words: tuple[str, ...], extra: str
) -> None:
    freshet("init", "news", "--contact", "me@example.org")
    ran = freshet(*words)
    assert ran.returncode == 2, ran.stderr
    assert f"pip install '.[{extra}]'" in ran.stderr
    assert "Traceback" not in ran.stderr
