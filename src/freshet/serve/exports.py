"""Exports as downloads."""

import shutil
import tempfile
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from freshet.collection.exports import EXPORT_WRITERS
from freshet.core.errors import NotFoundError
from freshet.serve.dashboard import Dashboard
from freshet.serve.resources import API_ROOT

EXPORT_PATH = f"{API_ROOT}/exports/{{kind}}"
SUFFIXES = {
    "parquet": "parquet",
    "changes": "parquet",
    "csv": "csv",
    "cdxj": "cdxj",
    "wacz": "wacz",
}


def export_routes(dashboard: Dashboard) -> list[Route]:
    """Return the route that writes an export and sends it."""

    def export(request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in EXPORT_WRITERS:
            raise NotFoundError(
                f"{kind!r:.40} is not a kind of export; choose {', '.join(EXPORT_WRITERS)}"
            )
        folder = Path(tempfile.mkdtemp(prefix="freshet-export-"))
        try:
            file = folder / f"{kind}.{SUFFIXES[kind]}"
            dashboard.collection.export(kind, file)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        cleanup = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
        return FileResponse(
            file,
            media_type="application/octet-stream",
            filename=f"freshet-{file.name}",
            background=cleanup,
        )

    return [Route(EXPORT_PATH, export, methods=["POST"])]
