"""A repository with one commit."""

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@example.org" for who in ("AUTHOR", "COMMITTER")},
}
COMMANDS = (("init", "--quiet"), ("add", "a.md"), ("commit", "--quiet", "--message=run"))


def sample(folder: Path) -> Path:
    """Write the input into a folder, and return what to read."""
    path = folder / "terms"
    path.mkdir()
    (path / "a.md").write_text("hello")
    for command in COMMANDS:
        words = ["git", *command]
        subprocess.run(words, cwd=path, env=ENVIRONMENT, check=True, capture_output=True)
    return path
