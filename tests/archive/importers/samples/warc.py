"""A WARC file with one capture."""

import gzip
from pathlib import Path

WARC = (
    b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
    b"WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-0000000000ff>\r\n"
    b"WARC-Target-URI: https://a.org/\r\nContent-Type: text/html\r\n"
    b"Content-Length: 12\r\n\r\n<p>hello</p>\r\n\r\n"
)


def sample(folder: Path) -> Path:
    """Write the input into a folder, and return what to read."""
    path = folder / "a.warc.gz"
    path.write_bytes(gzip.compress(WARC, mtime=0))
    return path
