"""Files with one JSON object: models and the like, read strictly and written whole."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from math import isnan, nan
from pathlib import Path
from typing import Any

from freshet.core.errors import BadInputError
from freshet.core.files import PRIVATE_FILE_MODE, atomic_output
from freshet.core.strict_json import load_strict_json


def read_json_object(path: Path, *, max_bytes: int, advice: str) -> dict[str, Any]:
    """Return the JSON object in a file of limited size.

    Any other file is refused with an error that ends with ``advice``, which says what to do.
    """
    # Opening a pipe would block; opening a folder raises an error.
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadInputError(f"{path}: not a file; {advice}")
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}; {advice}") from error
    if len(content) > max_bytes:
        raise BadInputError(f"{path}: larger than {max_bytes:,} bytes; {advice}")
    try:
        document = load_strict_json(content)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"{path}: not readable as JSON: {error}; {advice}") from error
    if not isinstance(document, dict):
        raise BadInputError(f"{path}: not a JSON object; {advice}")
    return document


def write_json_object(path: Path, document: Mapping[str, Any]) -> None:
    """Write a file that only its owner may read; an interruption leaves the file of before."""
    with atomic_output(path, mode=PRIVATE_FILE_MODE) as part:
        part.write_text(json.dumps(to_json(document), indent=1, allow_nan=False) + "\n", "utf-8")


def document_digest(document: Mapping[str, Any]) -> str:
    """Return a digest over everything in a document, whatever the order of its names."""
    text = json.dumps(document, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def to_json(value: Any) -> Any:
    """Return a value as JSON has it: times as text, lists for tuples, None for NaN.

    >>> to_json({"ndcg": float("nan"), "seeds": (1,)})
    {'ndcg': None, 'seeds': [1]}
    """
    if isinstance(value, Mapping):
        return {name: to_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return None if isinstance(value, float) and isnan(value) else value


def with_times(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return values of JSON in which the named ones are times again.

    >>> with_times({"pages": 2, "since": "2026-02-17T09:36:00+00:00"}, "since")["since"].year
    2026
    """
    return {**values, **{name: datetime.fromisoformat(values[name]) for name in names}}


def with_nan(values: Mapping[str, float | None]) -> dict[str, float]:
    """Return numbers of JSON in which None is NaN again.

    >>> with_nan({"auc": None, "deviance": 1})
    {'auc': nan, 'deviance': 1.0}
    """
    return {name: nan if value is None else float(value) for name, value in values.items()}
