"""Bodies of writes: JSON from clients of the API, forms from pages of the dashboard."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from freshet.core.errors import UsageError
from freshet.serve.resources import ActionField

FORM_TYPE, JSON_TYPE = "application/x-www-form-urlencoded", "application/json"
BACK_FIELD = "back"
MAX_FORM_FIELDS = 1_000


@dataclass(frozen=True, slots=True)
class ActionBody:
    """The values of a body; ``back`` is the page that a form came from, empty for JSON."""

    values: dict[str, Any]
    back: str = ""


def parse_body(content_type: str, body: bytes, fields: Sequence[ActionField]) -> ActionBody:
    """Return the values of a body; UsageError if they are not those of the action."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == FORM_TYPE:
        return _parse_form(body, fields)
    if media_type != JSON_TYPE and (body or fields):
        raise UsageError(f"the body is {media_type or 'of no type'!r:.60}; send {JSON_TYPE}")
    try:
        document = json.loads(body) if body else {}
    except (ValueError, RecursionError):
        raise UsageError("the body is not JSON") from None
    if not isinstance(document, dict):
        raise UsageError("the body is not a JSON object")
    return ActionBody(_checked(document, fields))


def is_local_path(text: str) -> bool:
    """Whether a text is a path of this server, so that a form may return to it.

    >>> is_local_path("/pages/5"), is_local_path("//evil.example/"), is_local_path("/\\\\evil")
    (True, False, False)
    """
    return text.startswith("/") and text[1:2] not in ("/", "\\") and text.isprintable()


def _parse_form(body: bytes, fields: Sequence[ActionField]) -> ActionBody:
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS
        )
    except ValueError:
        raise UsageError("the form cannot be read") from None
    lists = {field.name for field in fields if field.is_list}
    values: dict[str, Any] = {name: [] for name in lists}
    back = "/"
    for name, text in pairs:
        if name == BACK_FIELD:
            back = text if is_local_path(text) else "/"
        elif name in lists:
            values[name].append(text)
        else:
            values[name] = text
    return ActionBody(_checked(values, fields), back)


def _checked(document: dict[str, Any], fields: Sequence[ActionField]) -> dict[str, Any]:
    known = {field.name: field for field in fields}
    for name, value in document.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise UsageError(f"there is no field {name!r:.40}; this address has: {names}")
        texts = value if known[name].is_list else [value]
        if not isinstance(texts, list) or not all(_is_text(text) for text in texts):
            kind = "a list of texts" if known[name].is_list else "a text"
            raise UsageError(f"{name} is not {kind}")
    for field in fields:
        if field.name not in document and field.is_required:
            raise UsageError(f"{field.name} is missing")
    empty = {field.name: [] if field.is_list else "" for field in fields}
    return {**empty, **document}


def _is_text(value: Any) -> bool:
    """Whether a value is a text that can be stored: without lone surrogates and NUL."""
    if not isinstance(value, str):
        return False
    return "\0" not in value and not any("\ud800" <= char <= "\udfff" for char in value)
