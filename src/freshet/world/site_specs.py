"""Specification of the simulated web: eight hosts with their behaviour, and their pages."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from freshet.world.page_kinds import PAGE_KINDS, TroubleSpell
from freshet.world.thread_markup import WEB_MARKUPS

ValidatorClaim = Literal["none", "honest", "lying"]


@dataclass(frozen=True, slots=True)
class HostThrottle:
    """Rate limit of a host: more than ``requests`` within ``seconds`` are answered with 429."""

    requests: int
    seconds: float
    retry_after: float


@dataclass(frozen=True, slots=True)
class HostSpec:
    """Specification of a host.

    Lying entity tags lag days behind the page. A lying Last-Modified is always the current time. A
    lying sitemap claims that every page changed today. ``crawl_delay`` is in seconds, 0 for none.
    """

    name: str
    title: str
    design: int = 0
    crawl_delay: float = 0.0
    throttle: HostThrottle | None = None
    etags: ValidatorClaim = "none"
    last_modified: ValidatorClaim = "none"
    sitemap: ValidatorClaim = "none"
    spells: tuple[TroubleSpell, ...] = ()


@dataclass(frozen=True, slots=True)
class PageSpec:
    """Specification of a page: its host's index, and its noise sources (``NOISE_SOURCES``).

    ``follows`` is the path of the page whose news a feed lists. ``markup`` is that of the
    posts of a thread (``WEB_MARKUPS``), by default that of the host's design.
    """

    host: int
    path: str
    kind: str
    importance: float = 1.0
    noise: tuple[str, ...] = ()
    follows: str = ""
    markup: str = ""

    @property
    def is_noisy(self) -> bool:
        """Whether two visits at the same moment see different words."""
        return bool(self.noise)

    @property
    def directory(self) -> str:
        """The path without its last segment."""
        return self.path.rpartition("/")[0]


def make_site_specs(copies: int) -> tuple[tuple[HostSpec, ...], tuple[PageSpec, ...]]:
    """Return hosts and pages; each copy of the specification has its own host names."""
    hosts: list[HostSpec] = []
    pages: list[PageSpec] = []
    for copy in range(copies):
        for host, host_pages in _HOSTS:
            name = f"{host.name}{copy + 1 if copy else ''}.example"
            pages += [replace(page, host=len(hosts)) for page in host_pages]
            hosts.append(replace(host, name=name))
    return tuple(hosts), tuple(pages)


def _page(
    path: str, kind: str, importance: float = 1.0, *noise: str, follows: str = ""
) -> PageSpec:
    return PageSpec(0, path, kind, importance, PAGE_KINDS[kind].noise + noise, follows)


def _numbered(folder: str, kind: str, count: int) -> Iterator[PageSpec]:
    return (_page(f"{folder}{number}", kind) for number in range(1, count + 1))


_HERALD = (
    _page("/", "news", 5.0),
    _page("/live", "news", 2.0, "advert-above", "stamp"),
    *(_page(f"/{name}/", "section", 2.0) for name in ("world", "sport", "culture", "science")),
    _page("/feed.xml", "feed", follows="/"),
    _page("/about", "static", 0.5),
)
_JOURNAL = (
    _page("/", "blog", 2.0),
    *(_page(f"/{name}/", "blog") for name in ("recipes", "walks", "letters", "workshop")),
    _page("/walks/feed.xml", "feed", follows="/walks/"),
    _page("/about", "static", 0.5),
)
_FORUM = (
    *(
        replace(page, markup=markup)
        for page, markup in zip(
            _numbered("/t/", "thread", 8), ("", *WEB_MARKUPS, *WEB_MARKUPS), strict=False
        )
    ),
    _page("/t/9", "thread", 1.0, "visitors"),
)
_DOCS = (
    *_numbered("/manual/", "docs", 9),
    _page("/tour", "redesigned"),
    _page("/licence", "static", 0.5),
)
_SHOP = (
    *(_page(f"/{name}/", "shop", 1.5) for name in ("lamps", "tools", "seeds", "books")),
    _page("/offers/", "shop", 2.0, "suggested"),
    _page("/terms", "static", 0.5),
)
_LEAGUE = (*_numbered("/tables/", "table", 9), _page("/rules", "static", 0.5))
_TOWN = (
    _page("/council", "returning"),
    _page("/library", "guarded"),
    _page("/history", "static"),
    _page("/museum", "adverts"),
    _page("/harbour", "adverts"),
)
_CLOUD = (
    _page("/status", "status"),
    _page("/uptime", "status"),
    _page("/console", "script"),
    _page("/pricing", "static"),
)
_HOSTS = (
    (
        HostSpec("herald", "The Valley Herald", 0, last_modified="lying", sitemap="honest"),
        _HERALD,
    ),
    (
        HostSpec("journal", "Orchard Journal", 0, etags="honest", last_modified="honest"),
        _JOURNAL,
    ),
    (HostSpec("forum", "The Long Table", 1, crawl_delay=1800.0), _FORUM),
    (
        HostSpec("docs", "Lantern Manual", 0, etags="honest", sitemap="honest"),
        _DOCS,
    ),
    (
        HostSpec(
            "shop",
            "Meadow Market",
            1,
            throttle=HostThrottle(requests=3, seconds=7200.0, retry_after=1800.0),
            sitemap="lying",
            spells=(TroubleSpell("down", 0.7, 0.74),),
        ),
        _SHOP,
    ),
    (HostSpec("league", "Ferry League", 0, etags="lying", last_modified="honest"), _LEAGUE),
    (HostSpec("town", "Harbour Town", 0, last_modified="honest"), _TOWN),
    (HostSpec("cloud", "Signal Cloud", 1, etags="lying"), _CLOUD),
)
