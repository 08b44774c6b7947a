"""The simulated web: every page at every moment, as a visitor receives it.

Versions are not stored. They are generated from the page's key, the version and the visit's number.
"""

from collections.abc import Sequence
from datetime import datetime
from random import Random

from freshet.core.clock import to_epoch
from freshet.core.content.posts import Post
from freshet.world import documents, responses
from freshet.world.change_processes import DAY, TimeSpan
from freshet.world.noise import insert_noise, random_token
from freshet.world.page_design import DESIGNS, PageFrame, render_html
from freshet.world.page_version import PageBlock, PageVersion
from freshet.world.responses import PageResponse
from freshet.world.site_specs import HostSpec, HostThrottle, PageSpec, make_site_specs
from freshet.world.timeline import TroubleEpisode, WebTimeline
from freshet.world.vocabulary import TopicWords, make_phrase, make_topic, make_vocabulary

__all__ = ["HostSpec", "HostThrottle", "PageResponse", "PageSpec", "SimulatedWeb", "TroubleEpisode"]

ETAG_LAG = 3 * DAY
MENU_SIZE = 8


class SimulatedWeb(WebTimeline):
    """A web of ``copies`` sets of eight hosts, from ``start`` for so many days."""

    def __init__(self, seed: int, start: datetime, days: float, copies: int = 1) -> None:
        start_seconds = to_epoch(start)
        super().__init__(
            seed, TimeSpan(start_seconds, start_seconds + days * DAY), *make_site_specs(copies)
        )
        self.origins = tuple(f"http://{host.name}" for host in self.hosts)
        self._vocabulary = make_vocabulary(seed)
        self._menus = [
            [_menu_item(self.pages[page]) for page in host_pages[:MENU_SIZE]]
            for host_pages in self._pages_of_host
        ]
        self._topics: dict[int, TopicWords] = {}
        self._cached_blocks: dict[int, tuple[int, list[PageBlock]]] = {}

    def text(self, page: int, epoch: float) -> str:
        """Return the words of a page without noise."""
        version = self._page_version(page, epoch)
        lines = [
            f"{block.text} {block.text_after}".rstrip() for block in self._blocks(page, version)
        ]
        return "\n".join([version.title, *lines])

    def posts(self, page: int, epoch: float) -> tuple[Post, ...]:
        """Return the posts that a thread shows at a moment, oldest first."""
        blocks = self._blocks(page, self._page_version(page, epoch))
        return tuple(block.post for block in blocks if block.post is not None)

    def render(
        self, page: int, epoch: float, visit: int, origins: Sequence[str] = ()
    ) -> PageResponse:
        """Return the response to one visit; the visit's number seeds the noise.

        Links to other hosts start with ``origins``, by default their own names.
        """
        troubles = self.troubles_at(page, epoch)
        version = self.version_at(page, epoch)
        rng = Random(self._keys[page] | visit << 64)
        error = responses.error_response(troubles, version, rng)
        if error is not None:
            return error
        redesigned = "redesigned" in troubles
        host = self.hosts[self.pages[page].host]
        return responses.page_response(
            self._body(page, epoch, rng, origins or self.origins, redesigned=redesigned),
            self._kind(page).medium,
            version,
            etag=self._etag(page, epoch, redesigned=redesigned),
            last_modified=responses.claimed_last_modified(
                host, self.last_change_time(page, epoch), epoch
            ),
        )

    def robots(self, host: int, origins: Sequence[str] = ()) -> str:
        """Return a host's robots.txt."""
        host_spec = self.hosts[host]
        origin = (origins or self.origins)[host]
        sitemap_url = "" if host_spec.sitemap == "none" else f"{origin}/sitemap.xml"
        return documents.render_robots(host_spec.crawl_delay, sitemap_url)

    def sitemap(self, host: int, epoch: float, origins: Sequence[str] = ()) -> str | None:
        """Return a host's sitemap at a moment; None if it has none."""
        claim = self.hosts[host].sitemap
        if claim == "none":
            return None
        origin = (origins or self.origins)[host]
        return documents.render_sitemap(
            (
                origin + self.pages[page].path,
                epoch if claim == "lying" else self.last_change_time(page, epoch),
            )
            for page in self._pages_of_host[host]
        )

    def _body(
        self, page: int, epoch: float, rng: Random, origins: Sequence[str], *, redesigned: bool
    ) -> str:
        spec, kind, version = self.pages[page], self._kind(page), self._page_version(page, epoch)
        host = self.hosts[spec.host]
        token_text = random_token(rng) if kind.has_token else ""
        frame = PageFrame(
            host.title, version.title, self._menus[spec.host], token_text, spec.markup
        )
        if kind.medium == "script":
            return documents.render_script_page(frame, f"{version.page_key:016x}")
        blocks = self._blocks(page, version)
        if kind.medium == "feed":
            return documents.render_rss(
                frame, blocks, origins[spec.host], self.last_change_time(page, epoch)
            )
        blocks = insert_noise(spec.noise, blocks, version, epoch, rng)
        return render_html(
            DESIGNS[(host.design + redesigned) % len(DESIGNS)], frame, blocks, origins
        )

    def _etag(self, page: int, epoch: float, *, redesigned: bool) -> str | None:
        """Return an entity tag, weak if the bytes differ at every visit."""
        spec = self.pages[page]
        claim = self.hosts[spec.host].etags
        if claim == "none":
            return None
        moment = epoch // ETAG_LAG * ETAG_LAG if claim == "lying" else epoch
        strength = "W/" if spec.noise or self._kind(page).has_token else ""
        tag = f"{self._keys[page] % 2**32:08x}-{self.version_at(page, moment)}-{int(redesigned)}"
        return f'{strength}"{tag}"'

    def _blocks(self, page: int, version: PageVersion) -> list[PageBlock]:
        """Return the blocks of a version; the last version of each page is cached."""
        source = self._content_page(page)
        cached = self._cached_blocks.get(source)
        if cached is None or cached[0] != version.number:
            kind = self._kind(source)
            cached = self._cached_blocks[source] = (
                version.number,
                kind.write_content(version, kind.size),
            )
        return cached[1]

    def _page_version(self, page: int, epoch: float) -> PageVersion:
        source = self._content_page(page)
        spec, key, words = self.pages[source], self._keys[source], self._topic(source)
        return PageVersion(
            page_key=key,
            topic=words,
            path=spec.path,
            title=make_phrase(Random(key), words, 3),
            number=self.version_at(source, epoch),
            change_times=self.change_times(source),
            start=self.span.start,
            host_count=len(self.hosts),
        )

    def _topic(self, page: int) -> TopicWords:
        """Return the words of a page's directory."""
        spec = self.pages[page]
        key = self._path_key(spec.host, f"{spec.directory}/*")
        if key not in self._topics:
            self._topics[key] = make_topic(self._vocabulary, key)
        return self._topics[key]


def _menu_item(page: PageSpec) -> PageBlock:
    return PageBlock("item", page.path.strip("/") or "home", page.path)
