"""Stored pages as they were, on an origin of their own, without scripts and requests."""

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from freshet.analysis.page_study import lifespan_heatmap
from freshet.core.errors import FreshetError
from freshet.core.types import ContentKind, Snapshot
from freshet.serve.access import AccessRules
from freshet.serve.dashboard import Dashboard
from freshet.serve.guard import RequestGuard, refuse
from freshet.view.sniff import kind_of

MAX_SHOWN_BYTES = 5_000_000
# No script, form, request or navigation of the page: a sandbox in the frame and in this header.
STORED_PAGE_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:;"
    " form-action 'none'; base-uri 'none'; frame-ancestors {origin}"
)


def stored_page_app(
    dashboard: Dashboard, rules: AccessRules, origin_of: Callable[[str], str]
) -> RequestGuard:
    """Return the application that shows stored pages in frames of the dashboard.

    ``origin_of`` returns the origin of the dashboard for the Host header of a request.
    """

    def show_version(request: Request) -> Response:
        page = dashboard.page(request.path_params["page_id"])
        return _response(page.snapshot(request.path_params["number"]))

    def show_lifespans(request: Request) -> Response:
        page = dashboard.page(request.path_params["page_id"])
        return HTMLResponse(lifespan_heatmap(page, dashboard.study(page)))

    def report_error(request: Request, error: Exception) -> Response:
        return refuse(request.url.path, 404, str(error))

    app = Starlette(
        routes=[
            Route("/pages/{page_id:int}/versions/{number:int}", show_version),
            Route("/pages/{page_id:int}/lifespans", show_lifespans),
        ],
        exception_handlers={FreshetError: report_error},
    )
    return RequestGuard(
        app,
        rules=rules,
        content_policy=lambda host: STORED_PAGE_POLICY.format(origin=origin_of(host)),
    )


def _response(snapshot: Snapshot) -> Response:
    """Return a stored page; anything but HTML is shown as text."""
    body = snapshot.body[:MAX_SHOWN_BYTES]
    if kind_of(body, snapshot.media_type) is ContentKind.HTML:
        return HTMLResponse(body, media_type=_html_type(snapshot))
    return PlainTextResponse(body)


def _html_type(snapshot: Snapshot) -> str:
    """Return the media type with the declared character set, if it is a plain name."""
    charset = snapshot.header("content-type").partition("charset=")[2].strip(" \"'").lower()
    is_name = charset.isascii() and charset.replace("-", "").replace("_", "").isalnum()
    return f"text/html; charset={charset}" if is_name else "text/html"
