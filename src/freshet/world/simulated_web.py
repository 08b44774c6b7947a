"""The living web: every page at every moment as a visitor gets it.

Versions are not kept but made anew from the page's key, the version and the visit's number.
"""

from collections.abc import Sequence
from datetime import datetime
from random import Random

from freshet.core.clock import to_epoch
from freshet.world import documents, responses
from freshet.world.change_processes import DAY, Span
from freshet.world.noise import mixed_in, token
from freshet.world.page_design import DESIGNS, Frame, html
from freshet.world.page_version import Block, Scene
from freshet.world.responses import Rendered
from freshet.world.site_specs import Throttle, WorldHost, WorldPage, cast
from freshet.world.timeline import Chronicle, Episode
from freshet.world.vocabulary import Topic, phrase, topic, vocabulary

__all__ = ["Episode", "LivingWeb", "Rendered", "Throttle", "WorldHost", "WorldPage"]

TAG_LAG = 3 * DAY
MENU = 8


class LivingWeb(Chronicle):
    """A web of ``copies`` casts of eight hosts, alive from ``start`` for so many days."""

    def __init__(self, seed: int, start: datetime, days: float, copies: int = 1) -> None:
        begins = to_epoch(start)
        super().__init__(seed, Span(begins, begins + days * DAY), *cast(copies))
        self.origins = tuple(f"http://{host.name}" for host in self.hosts)
        self._vocabulary = vocabulary(seed)
        self._menus = [
            [_menu_item(self.pages[page]) for page in of_host[:MENU]] for of_host in self._of_host
        ]
        self._topics: dict[int, Topic] = {}
        self._shown: dict[int, tuple[int, list[Block]]] = {}

    def text(self, page: int, epoch: float) -> str:
        """Return the words of a page without any noise, as its visitors should read them."""
        scene = self._scene(page, epoch)
        lines = [f"{block.text} {block.more}".rstrip() for block in self._blocks(page, scene)]
        return "\n".join([scene.title, *lines])

    def render(self, page: int, epoch: float, visit: int, origins: Sequence[str] = ()) -> Rendered:
        """Answer one visit; the noise is that of the visit's number.

        Links to other hosts begin with ``origins``, which are their own names unless given.
        """
        troubles = self.troubles_at(page, epoch)
        version = self.version_at(page, epoch)
        rng = Random(self._keys[page] | visit << 64)
        refused = responses.refusal(troubles, version, rng)
        if refused is not None:
            return refused
        redesigned = "redesigned" in troubles
        host = self.hosts[self.pages[page].host]
        return responses.page(
            self._body(page, epoch, rng, origins or self.origins, redesigned=redesigned),
            self._kind(page).medium,
            version,
            etag=self._etag(page, epoch, redesigned=redesigned),
            last_modified=responses.last_modified(host, self.changed_at(page, epoch), epoch),
        )

    def robots(self, host: int, origins: Sequence[str] = ()) -> str:
        """Return a host's robots.txt."""
        asked = self.hosts[host]
        origin = (origins or self.origins)[host]
        place = "" if asked.sitemap == "none" else f"{origin}/sitemap.xml"
        return documents.robots(asked.crawl_delay, place)

    def sitemap(self, host: int, epoch: float, origins: Sequence[str] = ()) -> str | None:
        """Return a host's sitemap at a moment; None where it has none."""
        claim = self.hosts[host].sitemap
        if claim == "none":
            return None
        origin = (origins or self.origins)[host]
        return documents.sitemap(
            (
                origin + self.pages[page].path,
                epoch if claim == "lying" else self.changed_at(page, epoch),
            )
            for page in self._of_host[host]
        )

    def _body(
        self, page: int, epoch: float, rng: Random, origins: Sequence[str], *, redesigned: bool
    ) -> str:
        asked, kind, scene = self.pages[page], self._kind(page), self._scene(page, epoch)
        host = self.hosts[asked.host]
        secret = token(rng) if kind.token else ""
        frame = Frame(host.title, scene.title, self._menus[asked.host], secret)
        if kind.medium == "script":
            return documents.shell(frame, f"{scene.subject:016x}")
        blocks = self._blocks(page, scene)
        if kind.medium == "feed":
            return documents.rss(frame, blocks, origins[asked.host], self.changed_at(page, epoch))
        blocks = mixed_in(asked.noise, blocks, scene, epoch, rng)
        return html(DESIGNS[(host.design + redesigned) % len(DESIGNS)], frame, blocks, origins)

    def _etag(self, page: int, epoch: float, *, redesigned: bool) -> str | None:
        """Return an entity tag, weak where the bytes differ at every visit."""
        asked = self.pages[page]
        claim = self.hosts[asked.host].etags
        if claim == "none":
            return None
        moment = epoch // TAG_LAG * TAG_LAG if claim == "lying" else epoch
        strength = "W/" if asked.noise or self._kind(page).token else ""
        tag = f"{self._keys[page] % 2**32:08x}-{self.version_at(page, moment)}-{int(redesigned)}"
        return f'{strength}"{tag}"'

    def _blocks(self, page: int, scene: Scene) -> list[Block]:
        """Return the blocks of a version; the last one asked for of each page is kept."""
        source = self._source(page)
        kept = self._shown.get(source)
        if kept is None or kept[0] != scene.version:
            kind = self._kind(source)
            kept = self._shown[source] = scene.version, kind.show(scene, kind.size)
        return kept[1]

    def _scene(self, page: int, epoch: float) -> Scene:
        source = self._source(page)
        shown, key, words = self.pages[source], self._keys[source], self._topic(source)
        return Scene(
            subject=key,
            topic=words,
            path=shown.path,
            title=phrase(Random(key), words, 3),
            version=self.version_at(source, epoch),
            times=self.change_times(source),
            start=self.span.start,
            hosts=len(self.hosts),
        )

    def _topic(self, page: int) -> Topic:
        """Return the words of a page's directory."""
        asked = self.pages[page]
        key = self._place_key(asked.host, f"{asked.directory}/*")
        if key not in self._topics:
            self._topics[key] = topic(self._vocabulary, key)
        return self._topics[key]


def _menu_item(page: WorldPage) -> Block:
    return Block("item", page.path.strip("/") or "home", page.path)
