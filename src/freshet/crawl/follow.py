"""Adds new links of pages as pages of their own, by rules per tag and within limits.

A rule is the group of ``follow`` settings of a page. Only links that a later look has found are
followed, not those of the first look. The crawl notes up to which visit it has followed links, in
the transaction that adds the pages, so that a crawl that was killed continues where it was.

A page whose links are replaced at every look is a link farm or another random choice of links, and
is not followed: looks minutes apart have shown mostly new links, or all of the last looks have, and
the page is no feed.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.found_pages import (
    FOLLOWED_VISIT_NOTE,
    FoundPage,
    LinkTurnover,
    NewLinkVisit,
)
from freshet.core.settings import PageSettings, Settings
from freshet.core.types import Page, PageKey
from freshet.record.collection_reader import new_page
from freshet.record.fault_isolation import isolate_faults
from freshet.view.url import canonical_web_url, page_address

# Links of older visits, as an import brings them, are not new.
MAX_VISIT_AGE = timedelta(days=7)
MAX_URL_CHARS = 2_000
# The catalog notes the visits that were followed at the latest after so many.
MAX_UNNOTED_VISITS = 1_000
TURNOVER_LOOKS, MIN_REPLACED_LOOKS = 4, 3
REPLACED_SHARE, QUICK_REPLACED_SHARE, QUICK_SECONDS = 0.9, 0.5, 900.0
MIN_FARM_LINKS = 5
OVER_LIMIT_NOTE = "new links over the limits of their tags"
MAX_COUNTED_LINKS = 10_000


@dataclass(frozen=True, slots=True)
class FollowRule:
    """Which new links of a page are added as pages, and how many."""

    scope: str
    patterns: tuple[str, ...]
    tag: str
    per_day: int
    total: int
    depth: int

    @classmethod
    def of_settings(cls, settings: PageSettings) -> "FollowRule":
        """Return the rule that the settings of a page make."""
        return cls(
            settings.follow, tuple(settings.follow_pattern.split()), settings.follow_tag,
            settings.follow_per_day, settings.follow_total, settings.follow_depth,
        )  # fmt: skip

    def accepts(self, url: str, page: Page, *, is_feed: bool) -> bool:
        """Whether a canonical URL that is new on a page is to be followed."""
        address = page_address(url)
        is_in_scope = {
            "site": address.site == page.site,
            "host": address.host == page.host,
            "feed": is_feed,
            "all": True,
        }.get(self.scope, False)
        if not is_in_scope or len(url) > MAX_URL_CHARS:
            return False
        return not self.patterns or any(matches_pattern(url, text) for text in self.patterns)


def matches_pattern(url: str, pattern: str) -> bool:
    """Whether a URL matches a pattern, in which * stands for any text.

    >>> matches_pattern("https://a.org/news/1", "https://a.org/*/1")
    True
    >>> matches_pattern("https://a.org/news/1", "https://a.org/news")
    False
    """
    start, *middle = pattern.split("*")
    if not middle:
        return url == pattern
    if not url.startswith(start):
        return False
    position = len(start)
    for part in middle[:-1]:
        found = url.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return len(url) - len(middle[-1]) >= position and url.endswith(middle[-1])


def is_link_farm(turnovers: Sequence[LinkTurnover]) -> bool:
    """Whether the last looks at a page, the latest first, show other links every time.

    >>> farm = [LinkTurnover(86_400.0 * day, 20, 20) for day in (3, 2, 1)]
    >>> is_link_farm(farm), is_link_farm(farm[:2])
    (True, False)
    """
    shares = [look.new / look.total for look in turnovers if look.total >= MIN_FARM_LINKS]
    if len(shares) >= MIN_REPLACED_LOOKS and min(shares) >= REPLACED_SHARE:
        return True
    quick = [
        later.new / later.total
        for later, earlier in pairwise(turnovers)
        if later.time - earlier.time <= QUICK_SECONDS and later.total >= MIN_FARM_LINKS
    ]
    return len(quick) > 1 and min(quick) >= QUICK_REPLACED_SHARE


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """The pages found by the rules of one tag, and the links that were over its limits.

    Links over a limit are not followed later. A link that several pages have counts once in
    ``over_limit``, unless it is found again after a restart or after very many others.
    """

    tag: str
    pages: int
    today: int
    over_limit: int


def follow_status(catalog: Catalog, now: datetime) -> list[FollowStatus]:
    """Return how many links were followed, by tag."""
    counts, over_limit = catalog.found_counts_by_tag(_midnight(now)), _read_over_limit(catalog)
    return [
        FollowStatus(tag, total, today, over_limit.get(tag, 0))
        for tag in sorted(counts.keys() | over_limit.keys())
        for today, total in [counts.get(tag, (0, 0))]
    ]


def _read_over_limit(catalog: Catalog) -> Counter[str]:
    """Return the noted numbers of links over the limits of their tags."""
    try:
        document = json.loads(catalog.read_note(OVER_LIMIT_NOTE) or "{}")
        return Counter({str(tag): int(count) for tag, count in document.items()})
    except (ValueError, TypeError, AttributeError):
        return Counter()


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


class LinkFollower:
    """Adds the new links of pages with a ``follow`` setting as pages."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self._catalog = catalog
        self._settings = settings
        self._are_rules_loaded = False
        # The pages whose links are followed; None if all pages may be.
        self._following: list[int] | None = []
        # The last visit whose links were followed, and the last one that the catalog notes.
        self._followed_visit_id: int | None = None
        self._noted_visit_id = 0
        # The last links over a limit that were counted, with their tags.
        self._counted: dict[tuple[str, str], None] = {}

    def reload(self) -> None:
        """Read the rules again at the next call, because pages or settings have changed."""
        self._are_rules_loaded = False

    def follow(self, now: datetime) -> list[int]:
        """Follow the links found since the last call; return the ids of the pages added.

        The first call after a page got a rule follows nothing: only later links are new.
        """
        with isolate_faults("following new links", "collection"):
            return self._follow(now)
        return []

    def _follow(self, now: datetime) -> list[int]:
        if not self._are_rules_loaded:
            self._load_rules()
        if self._following is not None and not self._following:
            return []
        last_visit_id = self._catalog.last_visit_id()
        if self._followed_visit_id is None:
            self._followed_visit_id = last_visit_id
            return self._catalog.add_found_pages([], last_visit_id, now)
        if self._followed_visit_id >= last_visit_id:
            return []
        visits = self._catalog.new_link_visits(
            self._following, after_visit_id=self._followed_visit_id, since=now - MAX_VISIT_AGE
        )
        over_limit: Counter[str] = Counter()
        found = list(self._found_pages(visits, now, over_limit)) if visits else []
        new_pages: list[int] = []
        if over_limit:
            over_limit += _read_over_limit(self._catalog)
            self._catalog.write_note(OVER_LIMIT_NOTE, json.dumps(over_limit))
        if found or over_limit or last_visit_id - self._noted_visit_id >= MAX_UNNOTED_VISITS:
            new_pages = self._catalog.add_found_pages(found, last_visit_id, now)
            self._noted_visit_id = last_visit_id
        self._followed_visit_id = last_visit_id
        return new_pages

    def _load_rules(self) -> None:
        """Find the pages with a rule; if there are none, later rules begin with later links."""
        rules = self._catalog.follow_by_page()
        following = [page for page, scope in rules.items() if scope]
        note = self._catalog.read_note(FOLLOWED_VISIT_NOTE) or ""
        if following or self._settings.page.follow:
            self._noted_visit_id = int(note) if note.isdecimal() else 0
            if self._followed_visit_id is None and note.isdecimal():
                self._followed_visit_id = self._noted_visit_id
        else:
            self._followed_visit_id = None
            if note:
                self._catalog.write_note(FOLLOWED_VISIT_NOTE, "")
        self._following = None if self._settings.page.follow else following
        self._are_rules_loaded = True

    def _found_pages(
        self, visits: Sequence[NewLinkVisit], now: datetime, over_limit: Counter[str]
    ) -> Iterator[FoundPage]:
        """Yield the links of visits that are to be added, and count those over a tag's limits."""
        ids = sorted({visit.page for visit in visits})
        pages, overrides = self._catalog.pages_by_id(ids), self._catalog.setting_overrides(ids)
        depths = self._catalog.find_depths(ids)
        planned: Counter[str] = Counter()
        for visit in visits:
            page, depth = pages[visit.page], depths.get(visit.page, 0) + 1
            with isolate_faults("following its links", page.url):
                settings = self._settings.for_page(*overrides.get(page.id, ()))
                rule = FollowRule.of_settings(settings)
                if depth > rule.depth or self._is_farm(visit):
                    continue
                room = max(0, self._room(rule, now) - planned[rule.tag])
                links = list(self._accepted(rule, visit, page))
                if len(links) > room:
                    over_limit[rule.tag] += self._count_uncounted(rule.tag, links[room:])
                planned[rule.tag] += min(room, len(links))
                for url in links[:room]:
                    yield FoundPage(new_page(PageKey(url)), page.id, rule.tag, depth)

    def _count_uncounted(self, tag: str, links: Sequence[str]) -> int:
        """Return how many links over a limit were not counted of late, on whatever page."""
        uncounted = [(tag, url) for url in links if (tag, url) not in self._counted]
        self._counted.update(dict.fromkeys(uncounted))
        for key in list(islice(self._counted, max(0, len(self._counted) - MAX_COUNTED_LINKS))):
            del self._counted[key]
        return len(uncounted)

    def _accepted(self, rule: FollowRule, visit: NewLinkVisit, page: Page) -> Iterator[str]:
        """Yield the links of a visit that a rule accepts and that are no pages yet."""
        accepted: dict[PageKey, None] = {}
        for link in visit.links:
            try:
                url = canonical_web_url(link)
            except ValueError:
                continue
            if rule.accepts(url, page, is_feed=visit.is_feed):
                accepted[PageKey(url)] = None
        known = self._catalog.page_ids(list(accepted))
        return (key.url for key in accepted if key not in known)

    def _room(self, rule: FollowRule, now: datetime) -> int:
        """Return how many more pages a rule may add today."""
        today, total = self._catalog.found_counts(rule.tag, _midnight(now))
        return max(0, min(rule.per_day - today, rule.total - total))

    def _is_farm(self, visit: NewLinkVisit) -> bool:
        return not visit.is_feed and is_link_farm(
            self._catalog.link_turnovers(visit.page, TURNOVER_LOOKS)
        )
