"""The three files of the Bing crawl histories, with one page."""

import json
from pathlib import Path


def sample(folder: Path) -> Path:
    """Write the input into a folder, and return what to read."""
    (folder / "urlid_offset_history.txt").write_text("5\t5.5\t" + json.dumps([[1, 0], [1, 1]]))
    (folder / "url_urlid_hostid.txt").write_text("http://a.org/\t5\t1\n")
    (folder / "urlid_imp.txt").write_text("5\t0.5\n")
    return folder
