"""Which importer tests this machine can run."""

import os
import shutil

collect_ignore = []
if shutil.which("git") is None:
    collect_ignore.append("test_import_git.py")
if "FRESHET_DATA" not in os.environ:
    collect_ignore.append("test_import_real.py")
