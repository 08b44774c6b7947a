"""The application: routes of the dashboard and of its API, made from the resources and actions."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from freshet.core.errors import FreshetError, NotFoundError, UsageError
from freshet.core.strict_json import to_json_value
from freshet.draw.chart_file import chart_script
from freshet.serve.access import AccessRules, host_name
from freshet.serve.actions import ACTIONS
from freshet.serve.catalogue import CHART_RESOURCE, RESOURCES
from freshet.serve.dashboard import Dashboard
from freshet.serve.events import EventStreams
from freshet.serve.exports import export_routes
from freshet.serve.guard import API_PREFIX, BodyTooLargeError, RequestGuard
from freshet.serve.openapi import openapi_document
from freshet.serve.parameters import QueryParameter, parse_query
from freshet.serve.rendering import render
from freshet.serve.request_body import ActionBody, parse_body
from freshet.serve.resources import API_ROOT, DashboardAction, DashboardResource
from freshet.serve.sessions import session_routes

MAX_ID_DIGITS = 18
STATIC_FILES = {"dashboard.css": "text/css", "dashboard.js": "text/javascript"}
STATIC_HEADERS = {"Cache-Control": "max-age=300"}
EVENT_PARAMETERS = (QueryParameter("after", "The id of the last visit that is known.", -1, low=-1),)
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none';"
    " frame-src {frames}"
)


@dataclass(frozen=True, slots=True)
class ServerPorts:
    """The port of the dashboard, and that of the stored pages."""

    dashboard: int
    stored_pages: int

    def origin(self, host_header: str, port: int) -> str:
        """Return the origin of one of the ports, under the name that a request used."""
        name = host_name(host_header)
        return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


class DashboardApplication:
    """The routes of one collection's dashboard."""

    def __init__(self, dashboard: Dashboard, rules: AccessRules, ports: ServerPorts) -> None:
        self._dashboard = dashboard
        self._rules = rules
        self._ports = ports
        self.streams = EventStreams(dashboard)

    def guarded(self) -> RequestGuard:
        """Return the application behind its guard."""
        app = Starlette(
            routes=self._routes(),
            exception_handlers={
                FreshetError: self._report_error,
                HTTPException: self._report_error,
                BodyTooLargeError: self._report_error,
            },
        )
        return RequestGuard(
            app,
            rules=self._rules,
            content_policy=self._content_policy,
            open_paths=("/session", "/static/dashboard.css"),
        )

    def _content_policy(self, host: str) -> str:
        return CONTENT_POLICY.format(frames=self._ports.origin(host, self._ports.stored_pages))

    def _routes(self) -> list[Route]:
        readable = [*RESOURCES, CHART_RESOURCE]
        pages = [Route(item.path, self._page(item), name=item.name) for item in RESOURCES]
        documents = [Route(item.api_path, self._document(item)) for item in readable]
        writes = [Route(item.api_path, self._write(item), methods=["POST"]) for item in ACTIONS]
        return [
            *pages,
            *documents,
            *writes,
            *export_routes(self._dashboard),
            *session_routes(self._rules),
            Route(f"{API_ROOT}/events", self._events),
            Route(f"{API_ROOT}/openapi.json", self._describe),
            Route("/static/{name}", self._static),
        ]

    def _page(self, resource: DashboardResource) -> Callable[[Request], Response]:
        def show_page(request: Request) -> Response:
            document = self._read(resource, request)
            return self._html(f"{resource.name}.html", request, {"document": document})

        return show_page

    def _document(self, resource: DashboardResource) -> Callable[[Request], Response]:
        def show_document(request: Request) -> Response:
            return json_response(self._read(resource, request))

        return show_document

    def _read(self, resource: DashboardResource, request: Request) -> Any:
        values = parse_query(resource.parameters, request.query_params.multi_items())
        return resource.read(self._dashboard, {**values, **request.path_params})

    def _write(self, action: DashboardAction) -> Callable[[Request], Any]:
        async def write(request: Request) -> Response:
            content_type = request.headers.get("content-type", "")
            body = parse_body(content_type, await request.body(), action.fields)
            values = {**body.values, **request.path_params}
            document = await run_in_threadpool(self._run, action, values)
            if not body.back:
                return json_response(document)
            return await run_in_threadpool(self._form_result, request, body, document)

        return write

    def _run(self, action: DashboardAction, values: Mapping[str, Any]) -> Any:
        try:
            return action.run(self._dashboard, values)
        finally:
            self._dashboard.expire()

    def _form_result(self, request: Request, body: ActionBody, document: Any) -> Response:
        """Return to the page of a form, or show which of its URLs were refused."""
        refused = getattr(document, "refused", ())
        if not refused:
            return RedirectResponse(body.back, status_code=303)
        return self._html("refused.html", request, {"document": document})

    async def _events(self, request: Request) -> Response:
        values = parse_query(EVENT_PARAMETERS, request.query_params.multi_items())
        last = request.headers.get("last-event-id", "")
        is_id = last.isascii() and last.isdecimal() and len(last) <= MAX_ID_DIGITS
        after = int(last) if is_id else values["after"]
        if self.streams.is_full:
            raise HTTPException(429, "too many streams are open")
        events = self.streams.events(request, None if after < 0 else after)
        return StreamingResponse(events, media_type="text/event-stream")

    def _describe(self, request: Request) -> Response:
        return json_response(
            openapi_document(
                [*RESOURCES, CHART_RESOURCE],
                ACTIONS,
                reads_need_token=self._rules.needs_token("GET"),
            )
        )

    def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "vega.js":
            return Response(chart_script(), 200, STATIC_HEADERS, "text/javascript")
        if name not in STATIC_FILES:
            raise HTTPException(404, "there is no such file")
        return Response(_static_file(name), 200, STATIC_HEADERS, STATIC_FILES[name])

    def _html(
        self, template: str, request: Request, values: Mapping[str, Any], status: int = 200
    ) -> Response:
        frames = self._ports.origin(request.headers.get("host", ""), self._ports.stored_pages)
        common = {
            "path": request.url.path,
            "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
            "query": dict(request.query_params),
            "frame_origin": frames,
            "may_write": self._rules.is_authorised(request.headers),
            "collection_name": self._dashboard.collection.path.resolve().name,
        }
        return HTMLResponse(render(template, {**common, **values}), status)

    def _report_error(self, request: Request, error: Exception) -> Response:
        status, message = error_status(error), error_message(error)
        if request.url.path.startswith(API_PREFIX) and "text/html" not in request.headers.get(
            "accept", ""
        ):
            return json_response({"error": message}, status)
        return self._html("error.html", request, {"status": status, "message": message}, status)


def error_status(error: Exception) -> int:
    """Return the status of the answer to a request that failed."""
    if isinstance(error, HTTPException):
        return error.status_code
    if isinstance(error, BodyTooLargeError):
        return 413
    if isinstance(error, NotFoundError):
        return 404
    return 400 if isinstance(error, UsageError) else 503


def error_message(error: Exception) -> str:
    """Return what a person is told of a request that failed."""
    if isinstance(error, HTTPException):
        return error.detail
    return "the body is larger than 1 MiB" if isinstance(error, BodyTooLargeError) else str(error)


def json_response(document: Any, status: int = 200) -> Response:
    """Return a document as JSON; numbers that are not finite become null."""
    text = json.dumps(to_json_value(document), allow_nan=False)
    return Response(text, status, media_type="application/json")


@cache
def _static_file(name: str) -> bytes:
    return (files("freshet.serve") / "static" / name).read_bytes()
