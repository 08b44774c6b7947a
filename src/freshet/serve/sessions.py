"""Sessions of browsers: the token is exchanged for a cookie that scripts cannot read."""

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from freshet.serve.access import AccessRules
from freshet.serve.rendering import render

SESSION_SECONDS = 30 * 86_400
WRONG_TOKEN = "that is not the token of this server"


def session_routes(rules: AccessRules) -> list[Route]:
    """Return the routes that start and end a session."""

    async def sign_in(request: Request) -> Response:
        if request.method == "POST":
            form = parse_qs((await request.body()).decode("utf-8", "replace"))
            token = form.get("token", [""])[0]
        else:
            token = request.query_params.get("token", "")
            if not token:
                return _form("")
        if not rules.is_token(token):
            return _form(WRONG_TOKEN)
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(
            rules.cookie_name,
            rules.session,
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
        )
        return response

    return [Route("/session", sign_in, methods=["GET", "POST"])]


def _form(problem: str) -> Response:
    status = 403 if problem else 200
    return HTMLResponse(render("session.html", {"problem": problem}), status)
