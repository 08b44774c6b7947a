"""Every resource of the dashboard, in the order in which the API document lists them."""

from freshet.serve.documents.content import (
    ChartDocument,
    ContentDocument,
    read_chart,
    read_content,
)
from freshet.serve.documents.hosts import HOST_PARAMETERS, HostsDocument, read_hosts
from freshet.serve.documents.models import ModelsDocument, read_models
from freshet.serve.documents.overview import OverviewDocument, read_overview
from freshet.serve.documents.page_detail import PageDocument, read_page
from freshet.serve.documents.page_list import (
    PAGE_LIST_PARAMETERS,
    PageListDocument,
    read_page_list,
)
from freshet.serve.documents.queue import QUEUE_PARAMETERS, QueueDocument, read_queue
from freshet.serve.documents.settings import (
    SETTINGS_PARAMETERS,
    AddDocument,
    SettingsDocument,
    read_add_page,
    read_settings_page,
)
from freshet.serve.documents.storage import StorageDocument, read_storage
from freshet.serve.documents.versions import (
    DIFFERENCE_PARAMETERS,
    DifferenceDocument,
    VersionDocument,
    read_difference,
    read_version,
)
from freshet.serve.resources import DashboardResource

RESOURCES = (
    DashboardResource(
        "overview", "/", "The state of the collection.", OverviewDocument, read_overview
    ),
    DashboardResource(
        "pages", "/pages", "The list of pages.", PageListDocument, read_page_list,
        PAGE_LIST_PARAMETERS,
    ),
    DashboardResource(
        "page", "/pages/{page_id:int}", "The detail of a page.", PageDocument, read_page
    ),
    DashboardResource(
        "difference", "/pages/{page_id:int}/difference",
        "The difference between two versions of a page.", DifferenceDocument, read_difference,
        DIFFERENCE_PARAMETERS,
    ),
    DashboardResource(
        "version", "/pages/{page_id:int}/versions/{number:int}", "A stored version of a page.",
        VersionDocument, read_version,
    ),
    DashboardResource(
        "content", "/pages/{page_id:int}/content", "How the content of a page changes.",
        ContentDocument, read_content,
    ),
    DashboardResource(
        "queue", "/queue", "The next visits with their values and reasons.", QueueDocument,
        read_queue, QUEUE_PARAMETERS,
    ),
    DashboardResource(
        "hosts", "/hosts", "Hosts with their delays, robots.txt and back-off.", HostsDocument,
        read_hosts, HOST_PARAMETERS,
    ),
    DashboardResource(
        "models", "/models", "Which forecasts are live, and how well they did.", ModelsDocument,
        read_models,
    ),
    DashboardResource(
        "archive", "/archive", "What the collection stores.", StorageDocument, read_storage
    ),
    DashboardResource(
        "settings", "/settings", "The settings of the collection.", SettingsDocument,
        read_settings_page, SETTINGS_PARAMETERS,
    ),
    DashboardResource(
        "add", "/add", "The form that adds pages.", AddDocument, read_add_page
    ),
)  # fmt: skip
CHART_RESOURCE = DashboardResource(
    "chart", "/pages/{page_id:int}/charts/{name}", "A chart of a page, as Vega-Lite.",
    ChartDocument, read_chart,
)  # fmt: skip
