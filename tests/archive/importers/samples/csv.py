"""A CSV file with one observation."""

from pathlib import Path


def sample(folder: Path) -> Path:
    """Write the input into a folder, and return what to read."""
    path = folder / "a.csv"
    path.write_text("page,time,changed\nhttps://a.org/,2024-01-01,1\n")
    return path
