"""A WACZ file with one WARC file."""

import json
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from tests.archive.importers.samples import warc


def sample(folder: Path) -> Path:
    """Write the input into a folder, and return what to read."""
    content = warc.sample(folder).read_bytes()
    (folder / "a.warc.gz").unlink()
    return write(folder / "a.wacz", {"archive/a.warc.gz": content})


def write(path: Path, files: dict[str, bytes], *, listed: dict[str, str] | None = None) -> Path:
    """Zip files with a datapackage.json that lists them, or that lists other digests."""
    digests = {name: f"sha256:{sha256(content).hexdigest()}" for name, content in files.items()}
    resources = [
        {"name": name.rpartition("/")[2], "path": name, "hash": digest}
        for name, digest in (digests if listed is None else listed).items()
    ]
    package = {"profile": "data-package", "wacz_version": "1.1.1", "resources": resources}
    with ZipFile(path, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
        file.writestr("datapackage.json", json.dumps(package))
    return path
