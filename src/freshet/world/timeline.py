"""Timeline of the simulated web: when pages change, and the troubles of pages and hosts.

Times are drawn when they are first needed. A page's times depend only on its own key, not on the
other pages.
"""

from dataclasses import dataclass

import numpy as np

from freshet.core.tables import hash_name
from freshet.core.types import FloatArray
from freshet.world.change_processes import DAY, TimeSpan
from freshet.world.page_kinds import PAGE_KINDS, PageKind, PageTrouble, TroubleSpell
from freshet.world.site_specs import HostSpec, PageSpec

MAX_INITIAL_AGE = 30 * DAY


@dataclass(frozen=True, slots=True)
class TroubleEpisode:
    """A trouble and its duration, in epoch seconds."""

    trouble: PageTrouble
    start: float
    end: float


class WebTimeline:
    """The change times of each page; pages are given by their index."""

    def __init__(
        self, seed: int, span: TimeSpan, hosts: tuple[HostSpec, ...], pages: tuple[PageSpec, ...]
    ) -> None:
        self.seed = seed
        self.span = span
        self.hosts = hosts
        self.pages = pages
        self._indices = {(page.host, page.path): index for index, page in enumerate(pages)}
        self._keys = tuple(self._path_key(page.host, page.path) for page in pages)
        self._pages_of_host: list[list[int]] = [[] for _ in hosts]
        for index, page in enumerate(pages):
            self._pages_of_host[page.host].append(index)
        self._change_times: dict[int, FloatArray] = {}

    def find_page(self, host: int, path: str) -> int | None:
        """Return the index of the page at a path, None if there is none."""
        return self._indices.get((host, path))

    def change_times(self, page: int) -> FloatArray:
        """Return the epoch seconds at which the words of a page changed, without noise."""
        source = self._content_page(page)
        if source not in self._change_times:
            self._change_times[source] = self._draw_times(source)
        return self._change_times[source]

    def version_at(self, page: int, epoch: float) -> int:
        """Return how many times a page had changed by a moment."""
        return int(np.searchsorted(self.change_times(page), epoch, side="right"))

    def last_change_time(self, page: int, epoch: float) -> float:
        """Return the last change of a page by a moment, possibly before the timeline starts."""
        version = self.version_at(page, epoch)
        if version:
            return float(self.change_times(page)[version - 1])
        return self.span.start - self._keys[page] % MAX_INITIAL_AGE

    def episodes(self, page: int) -> tuple[TroubleEpisode, ...]:
        """Return the troubles of a page and of its host."""
        spells = self._kind(page).spells + self.hosts[self.pages[page].host].spells
        return tuple(self._episode(spell) for spell in spells)

    def troubles_at(self, page: int, epoch: float) -> frozenset[PageTrouble]:
        """Return the troubles of a page at a moment."""
        return frozenset(e.trouble for e in self.episodes(page) if e.start <= epoch < e.end)

    def _draw_times(self, page: int) -> FloatArray:
        """Draw a page's own changes and those that it shares with its directory."""
        spec, kind = self.pages[page], self._kind(page)
        rng = np.random.default_rng(self._keys[page])
        directory_rng = np.random.default_rng(self._path_key(spec.host, f"{spec.directory}/*"))
        directory_times = kind.directory_changes(directory_rng, self.span)
        joined_times = directory_times[rng.random(len(directory_times)) < kind.join_probability]
        times = self.span.times_within(
            np.concatenate([kind.own_changes(rng, self.span), joined_times])
        )
        for episode in self.episodes(page):
            if episode.trouble == "gone":
                times = self._move_to_return(times, episode)
        return times

    def _move_to_return(self, times: FloatArray, gone: TroubleEpisode) -> FloatArray:
        """Move all changes of a page during its absence to the moment of its return."""
        is_away = (times >= gone.start) & (times < gone.end)
        return self.span.times_within(np.append(times[~is_away], gone.end))

    def _episode(self, spell: TroubleSpell) -> TroubleEpisode:
        length = self.span.end - self.span.start
        start, end = (self.span.start + share * length for share in (spell.begins, spell.ends))
        return TroubleEpisode(spell.trouble, start, end)

    def _content_page(self, page: int) -> int:
        """Return the page whose changes a feed lists, or the page itself."""
        spec = self.pages[page]
        return self._indices[spec.host, spec.follows] if spec.follows else page

    def _kind(self, page: int) -> PageKind:
        return PAGE_KINDS[self.pages[page].kind]

    def _path_key(self, host: int, path: str) -> int:
        return hash_name(f"{self.seed}/{self.hosts[host].name}{path}")
