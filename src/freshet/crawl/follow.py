"""Adds new links of pages as pages of their own, by rules per tag and within limits.

A rule is the group of ``follow`` settings of a page. Only links that a later look has found are
followed, not those of the first look. The crawl notes up to which visit it has followed links, in
the transaction that adds the pages, so that a crawl that was killed continues where it was.

Links over the limits of their tag wait in the catalog, and are followed when a day starts or when
found pages turn out not to be fetchable: these give their place back. Links found now go first,
then those that wait, the latest first.

A page whose links are replaced at every look is a link farm or another random choice of links, and
is not followed: looks minutes apart have shown mostly new links, or all of the last looks have, and
the page is no feed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from freshet.archive.catalog.catalog import Catalog
from freshet.archive.catalog.found_pages import (
    FOLLOWED_VISIT_NOTE,
    MAX_WAIT,
    FoundCounts,
    FoundPage,
    LinkTurnover,
    NewLinkVisit,
    WaitingLink,
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
# Found pages are counted again, and waiting links tried again, after this time.
COUNT_INTERVAL = timedelta(minutes=1)
MAX_TRIED_LINKS = 1_000
# Pages that cannot be fetched do not count, but so many times a limit are tried at most.
TRIES_PER_PLACE = 10


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

    def accepts_waiting(self, link: WaitingLink, page: Page) -> bool:
        """Whether a link that this rule, or an earlier one of its page, accepted is still wanted.

        Whether the page was a feed then is not known; a rule for feeds accepted only their links.
        """
        is_same = self.tag == link.tag and link.depth <= self.depth
        return is_same and self.accepts(link.url, page, is_feed=True)


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


RuledLink = tuple[FollowRule, WaitingLink]


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """The pages found by the rules of one tag, in total and today, and the links that wait.

    ``unusable`` pages were removed or cannot be fetched; they do not count against the limits.
    """

    tag: str
    pages: int
    today: int
    unusable: int
    waiting: int


def follow_status(catalog: Catalog, now: datetime) -> list[FollowStatus]:
    """Return how many links were followed and how many wait, by tag."""
    counts, waiting = catalog.found_counts(_midnight(now)), catalog.waiting_counts(now - MAX_WAIT)
    return [
        FollowStatus(tag, n.total, n.recent, n.total - n.usable, waiting.get(tag, 0))
        for tag in sorted(counts.keys() | waiting.keys())
        for n in [counts.get(tag, FoundCounts())]
    ]


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(slots=True)
class FollowLimits:
    """How many more pages rules may add; counts the pages of each tag again every minute."""

    catalog: Catalog
    _time: datetime | None = None
    _counts: dict[str, FoundCounts] = field(default_factory=dict)
    _added: Counter[str] = field(default_factory=Counter)

    def is_due(self, now: datetime) -> bool:
        """Whether the pages are to be counted again."""
        return self._time is None or not timedelta() <= now - self._time < COUNT_INTERVAL

    def refresh_if_due(self, now: datetime) -> None:
        """Forget old counts."""
        if self.is_due(now):
            self._time = now
            self._counts.clear()
            self._added.clear()

    def take(self, rule: FollowRule, now: datetime) -> bool:
        """Take a place for a page of a rule; return False if there is none."""
        if rule.tag not in self._counts:
            counts = self.catalog.found_counts(_midnight(now), tag=rule.tag)
            self._counts[rule.tag] = counts.get(rule.tag, FoundCounts())
        found, added = self._counts[rule.tag], self._added[rule.tag]
        has_place = (
            found.usable_recent + added < rule.per_day
            and found.usable + added < rule.total
            and found.recent + added < TRIES_PER_PLACE * rule.per_day
            and found.total + added < TRIES_PER_PLACE * rule.total
        )
        self._added[rule.tag] += has_place
        return has_place


@dataclass(frozen=True, slots=True)
class FollowedPages:
    """The ids of pages that were added as new links, and of found pages that were paused."""

    added: Sequence[int] = ()
    paused: Sequence[int] = ()


class LinkFollower:
    """Adds the new links of pages with a ``follow`` setting as pages.

    Found pages that turn out to be gone are paused, so that they take no budget.
    """

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self._catalog = catalog
        self._settings = settings
        self._are_rules_loaded = False
        # The pages whose links are followed; None if all pages may be.
        self._following: list[int] | None = []
        # The last visit whose links were followed, and the last one that the catalog notes.
        self._followed_visit_id: int | None = None
        self._noted_visit_id = 0
        self._limits = FollowLimits(catalog)
        self._waiting_tags: set[str] = set()

    def reload(self) -> None:
        """Read the rules again at the next call, because pages or settings have changed."""
        self._are_rules_loaded = False

    def follow(self, now: datetime) -> FollowedPages:
        """Follow the links found since the last call; return the pages added and paused.

        The first call after a page got a rule follows nothing: only later links are new.
        """
        with isolate_faults("following new links", "collection"):
            return self._follow(now)
        return FollowedPages()

    def _follow(self, now: datetime) -> FollowedPages:
        if not self._are_rules_loaded:
            self._load_rules(now)
        if self._following is not None and not self._following:
            return FollowedPages()
        last_visit_id = self._catalog.last_visit_id()
        if self._followed_visit_id is None:
            self._followed_visit_id = last_visit_id
            self._catalog.add_found_pages([], last_visit_id, now)
            return FollowedPages()
        tags = sorted(self._waiting_tags) if self._limits.is_due(now) else []
        if self._followed_visit_id >= last_visit_id and not tags:
            return FollowedPages()
        self._limits.refresh_if_due(now)
        if gone_pages := self._catalog.gone_found_pages(self._followed_visit_id):
            self._catalog.pause_pages(gone_pages)
        visits = self._catalog.new_link_visits(
            self._following, after_visit_id=self._followed_visit_id, since=now - MAX_VISIT_AGE
        )
        found, waiting = self._within_limits(self._new_links(visits), now) if visits else ([], [])
        for tag in tags:
            found += self._take_waiting(tag, now)
        new_pages: list[int] = []
        if found or waiting or last_visit_id - self._noted_visit_id >= MAX_UNNOTED_VISITS:
            new_pages = self._catalog.add_found_pages(found, last_visit_id, now, waiting)
            self._waiting_tags.update(link.tag for link in waiting)
            self._noted_visit_id = last_visit_id
        self._followed_visit_id = last_visit_id
        return FollowedPages(new_pages, gone_pages)

    def _load_rules(self, now: datetime) -> None:
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
        self._waiting_tags = set(self._catalog.waiting_counts(now - MAX_WAIT))
        self._are_rules_loaded = True

    def _new_links(self, visits: Sequence[NewLinkVisit]) -> Iterator[RuledLink]:
        """Yield the links of visits that the rules of their pages accept."""
        rules = self._rules_of_pages(visit.page for visit in visits)
        depths = self._catalog.find_depths(list(rules))
        for visit in visits:
            if visit.page not in rules:
                continue
            page, rule = rules[visit.page]
            depth = depths.get(page.id, 0) + 1
            with isolate_faults("following its links", page.url):
                if depth > rule.depth:
                    continue
                if self._is_farm(visit):
                    self._catalog.give_up_waiting_links_of([page.id])
                    continue
                for url in self._accepted(rule, visit, page):
                    yield rule, WaitingLink(url, page.id, rule.tag, depth)

    def _rules_of_pages(self, page_ids: Iterable[int]) -> dict[int, tuple[Page, FollowRule]]:
        """Return pages with their rules, by id."""
        ids = sorted(set(page_ids))
        pages, overrides = self._catalog.pages_by_id(ids), self._catalog.setting_overrides(ids)
        rules: dict[int, tuple[Page, FollowRule]] = {}
        for page in pages.values():
            with isolate_faults("reading its follow settings", page.url):
                settings = self._settings.for_page(*overrides.get(page.id, ()))
                rules[page.id] = page, FollowRule.of_settings(settings)
        return rules

    def _within_limits(
        self, links: Iterable[RuledLink], now: datetime
    ) -> tuple[list[FoundPage], list[WaitingLink]]:
        """Return the links that the limits allow as pages, and those that have to wait."""
        found: dict[str, FoundPage] = {}
        waiting: list[WaitingLink] = []
        for rule, link in links:
            if link.url in found:
                continue
            if self._limits.take(rule, now):
                page = new_page(PageKey(link.url))
                found[link.url] = FoundPage(page, link.found_on, link.tag, link.depth)
            else:
                waiting.append(link)
        return list(found.values()), waiting

    def _take_waiting(self, tag: str, now: datetime) -> list[FoundPage]:
        """Return the waiting links of a tag that the limits allow now, and give up outdated ones.

        These are links that are pages by now, or that the rule of their page no longer accepts.
        """
        links = self._catalog.waiting_links(tag, MAX_TRIED_LINKS)
        rules = self._rules_of_pages(link.found_on for link in links)
        links = [link for link in links if link.found_on in rules]
        known = self._catalog.page_ids([PageKey(link.url) for link in links])
        accepted: list[RuledLink] = []
        outdated: list[WaitingLink] = []
        for link in links:
            page, rule = rules[link.found_on]
            if PageKey(link.url) not in known and rule.accepts_waiting(link, page):
                accepted.append((rule, link))
            else:
                outdated.append(link)
        self._catalog.give_up_waiting_links(outdated, now=now)
        if not accepted:
            self._waiting_tags.discard(tag)
        return self._within_limits(accepted, now)[0]

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

    def _is_farm(self, visit: NewLinkVisit) -> bool:
        return not visit.is_feed and is_link_farm(
            self._catalog.link_turnovers(visit.page, TURNOVER_LOOKS)
        )
