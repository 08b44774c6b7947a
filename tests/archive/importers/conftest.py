"""Collect only the importer tests that this machine can run."""

import os
import shutil

collect_ignore = []
if shutil.which("git") is None:
    collect_ignore.extend(["test_import_git.py", "test_damaged_git.py"])
if "FRESHET_DATA" not in os.environ:
    collect_ignore.append("test_import_real.py")
