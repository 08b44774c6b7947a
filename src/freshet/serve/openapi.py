"""The OpenAPI 3.1 document of the API, derived from the resources and actions."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from freshet.core import __version__
from freshet.serve.json_schema import Schema, SchemaCollector
from freshet.serve.resources import (
    API_ROOT,
    ActionField,
    DashboardAction,
    DashboardResource,
    path_names,
)

PATH_SCHEMAS: Mapping[str, Schema] = {
    "int": {"type": "integer", "minimum": 0, "maximum": (1 << 53) - 1},
    "str": {"type": "string", "minLength": 1, "pattern": r"^[^/\u0000]+$"},
}
REFUSALS = {
    "400": "A parameter or the body is wrong.",
    "403": "The request comes from another site.",
    "404": "There is no such page, version or host.",
    "413": "The body is too large.",
    "429": "Too many requests.",
    "503": "The collection cannot be used now.",
}
ERROR = {"$ref": "#/components/schemas/Error"}


def openapi_document(
    resources: Sequence[DashboardResource],
    actions: Sequence[DashboardAction],
    *,
    reads_need_token: bool,
) -> dict[str, Any]:
    """Return the description of the whole API."""
    collector = SchemaCollector()
    paths: dict[str, dict[str, Any]] = {}
    for resource in resources:
        operation = _read_operation(resource, collector)
        if reads_need_token:
            operation["security"] = [{"token": []}]
            operation["responses"]["401"] = _refusal("The token is missing or wrong.")
        paths.setdefault(_path(resource.api_path), {})["get"] = operation
    for action in actions:
        paths.setdefault(_path(action.api_path), {})["post"] = _write_operation(action, collector)
    paths[f"{API_ROOT}/events"] = {"get": _events_operation()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Freshet",
            "version": __version__,
            "description": "Everything that the dashboard shows and does.",
        },
        "paths": paths,
        "components": {
            "schemas": {**collector.schemas, "Error": _error_schema()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _path(path: str) -> str:
    """Return a path without the types of its parameters.

    >>> _path("/pages/{page_id:int}/versions/{number:int}")
    '/pages/{page_id}/versions/{number}'
    """
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def _read_operation(resource: DashboardResource, collector: SchemaCollector) -> dict[str, Any]:
    query = [
        {
            "name": parameter.name,
            "in": "query",
            "description": parameter.meaning,
            "required": False,
            "schema": parameter.schema(),
        }
        for parameter in resource.parameters
    ]
    return {
        "operationId": f"read_{resource.name}",
        "summary": resource.summary,
        "parameters": [*_path_parameters(resource.api_path), *query],
        "responses": _responses(resource.document, collector),
    }


def _write_operation(action: DashboardAction, collector: SchemaCollector) -> dict[str, Any]:
    body = {
        "type": "object",
        "additionalProperties": False,
        "properties": {field.name: _field_schema(field) for field in action.fields},
        "required": [field.name for field in action.fields if field.is_required],
    }
    responses = _responses(action.document, collector)
    responses["401"] = _refusal("The token is missing or wrong.")
    return {
        "operationId": action.name,
        "summary": action.summary,
        "parameters": _path_parameters(action.api_path),
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": responses,
        "security": [{"token": []}],
    }


def _field_schema(field: ActionField) -> Schema:
    if not field.is_list:
        return {"type": "string", "description": field.meaning}
    return {"type": "array", "items": {"type": "string"}, "description": field.meaning}


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": dict(PATH_SCHEMAS[kind])}
        for name, kind in path_names(path).items()
    ]


def _responses(document: type, collector: SchemaCollector) -> dict[str, Any]:
    content = {"application/json": {"schema": collector.schema(document)}}
    refusals = {status: _refusal(meaning) for status, meaning in REFUSALS.items()}
    return {"200": {"description": "The document.", "content": content}, **refusals}


def _refusal(meaning: str) -> dict[str, Any]:
    return {"description": meaning, "content": {"application/json": {"schema": ERROR}}}


def _error_schema() -> Schema:
    return {
        "type": "object",
        "properties": {"error": {"type": "string"}},
        "required": ["error"],
    }


def _events_operation() -> dict[str, Any]:
    return {
        "operationId": "events",
        "summary": "Visits as they are recorded, as server-sent events.",
        "parameters": [
            {
                "name": "after",
                "in": "query",
                "description": "The id of the last visit that is known; default: the last one.",
                "required": False,
                "schema": {"type": "integer", "minimum": 0, "maximum": (1 << 53) - 1},
            }
        ],
        "responses": {
            "200": {
                "description": "A stream of events named 'visit'.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            },
            "400": _refusal("A parameter is wrong."),
            "429": _refusal("Too many requests or streams."),
        },
    }
