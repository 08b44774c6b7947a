"""A collection with every verb as a method: what ``freshet.open()`` gives."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from freshet.analysis.collection_analysis import Analysis, analyse, usual_engine
from freshet.archive.catalog.rows import FailingPage, Summary
from freshet.collection.add import Added, add_pages
from freshet.collection.backup import BackupSummary, back_up
from freshet.collection.check import Report, check, repair
from freshet.collection.check_now import Asked, check_now
from freshet.collection.doctor import examine
from freshet.collection.exports import export
from freshet.collection.finding import Finding
from freshet.collection.host_report import HostReport, Reopened, host_report, reopen_host
from freshet.collection.imports import Imported, bring
from freshet.collection.listing import failing_pages, summaries
from freshet.collection.masks import hide, show
from freshet.collection.page import CollectionPage
from freshet.collection.page_overview import Portrait, portrait
from freshet.collection.prune import Thinning, prune
from freshet.collection.remove import remove
from freshet.collection.settings import Holding, SettingRow, holdings, setting_rows
from freshet.collection.status import Status, bad_rows, status_of
from freshet.core.progress import Progress, silent
from freshet.core.types import BadRow, Page, Plan
from freshet.crawl.noise import keep_learnt
from freshet.crawl.plan import plan
from freshet.crawl.why import Why, why
from freshet.measure.noise.mask import Mask
from freshet.record.change_criteria import mask_of_page
from freshet.record.remeasure_pages import measure_again
from freshet.record.store import CollectionStore, live_key
from freshet.record.stored_page import StoredPage, Which


class Collection(CollectionStore):
    """A collection whose methods do what the commands do."""

    def add(self, url: str, *, source: str = "", tags: tuple[str, ...] = ()) -> CollectionPage:
        """Add a page to keep fresh; one that was removed comes back with its history.

        A live page, one without a source, must have an http(s) URL.
        """
        key = self.key(url, source) if source else live_key(url)
        self.introduce([key], tags)
        if not source:
            self.keep_credentials(key, url)
        return self.page(key.url, source=source)

    def page(self, url: str, *, source: str | None = None, removed: bool = False) -> CollectionPage:
        """Return a page; without a source, the live one or the only import of it.

        A removed page is not there, unless ``removed`` asks for it too.
        """
        return CollectionPage(self.find_page(url, source=source, removed=removed), self)

    def pages(
        self, *, tag: str | None = None, source: str | None = None
    ) -> Iterator[CollectionPage]:
        """Yield the pages that were not removed, by id."""
        return (CollectionPage(page, self) for page in self.catalog.pages(tag=tag, source=source))

    def add_many(self, urls: Sequence[str], *, tags: tuple[str, ...] = ()) -> Added:
        """Add live pages, many at once."""
        return add_pages(self, urls, tags=tags)

    def remove(self, pages: Sequence[Page], *, purge: bool = False) -> int:
        """Take pages off the live list; ``purge`` deletes rows and bytes; return bytes freed."""
        return remove(self, pages, purge=purge)

    def pause(self, pages: Iterable[Page]) -> None:
        """Leave pages out of plans until they are resumed."""
        self.catalog.pause([page.id for page in pages])

    def resume(self, pages: Iterable[Page]) -> None:
        """Take paused pages into plans again."""
        self.catalog.resume([page.id for page in pages])

    def tag(self, name: str, pages: Iterable[Page]) -> None:
        """Give pages a tag; those that have it keep it."""
        self.catalog.tag([page.id for page in pages], name)

    def untag(self, name: str, pages: Iterable[Page]) -> None:
        """Take a tag off pages."""
        self.catalog.untag([page.id for page in pages], name)

    def holdings(self, target: Page | str) -> list[Holding]:
        """Return every setting of a page, or of the pages with a tag, and what gave it."""
        return holdings(self, target)

    def setting_rows(self) -> list[SettingRow]:
        """Return every setting of the collection with its value, default and meaning."""
        return setting_rows(self.settings)

    def summaries(
        self,
        *,
        tag: str | None = None,
        source: str | None = None,
        changed: bool = False,
        limit: int | None = None,
    ) -> list[Summary]:
        """Return pages with their totals; ``changed`` those that did, latest change first."""
        return summaries(self, tag=tag, source=source, changed=changed, limit=limit)

    def failing_pages(
        self, *, tag: str | None = None, source: str | None = None, limit: int | None = None
    ) -> list[FailingPage]:
        """Return pages whose last visit showed no content, with its outcome and the reason."""
        return failing_pages(self, tag=tag, source=source, limit=limit)

    def show(self, page: StoredPage, which: Which = -1, *, parts: Iterable[str] = ()) -> Portrait:
        """Return what is known of a page; ``parts`` may name text, links, terms and dom."""
        return portrait(self, page, which, frozenset(parts))

    def bring(
        self, kind: str, path: str | Path, *, progress: Progress = silent, **options: Any
    ) -> Imported:
        """Import an outside history: warc, git, csv, bing or parquet."""
        return bring(self, kind, Path(path), progress=progress, **options)

    def bad_rows(self, number: int) -> list[BadRow]:
        """Return every row that the import of that number could not take."""
        return bad_rows(self, number)

    def export(self, kind: str, path: str | Path, *, source: str | None = None) -> int:
        """Write visits (parquet, cdxj) or changes (csv, changes) to a file; return the rows."""
        return export(self, kind, Path(path), source=source)

    def status(self, *, days: int = 7) -> Status:
        """Return what the collection holds, and its visits of the last days."""
        return status_of(self, days=days)

    def check_now(self, pages: Sequence[Page]) -> Asked:
        """Ask for visits now, before all others."""
        return check_now(self, pages)

    def plan(
        self, *, budget: str | int = "", objective: str = "", limit: int | None = None
    ) -> Plan:
        """Return what would be fetched next, when and for what value; else of a day's budget."""
        return plan(self, budget=budget, objective=objective, limit=limit)

    def why(self, page: Page) -> Why:
        """Explain a page's place in the plan."""
        return why(self, page)

    def host(self, name: str) -> HostReport:
        """Return how a host is treated, by its name or by a URL on it."""
        return host_report(self, name)

    def reopen_host(self, name: str) -> Reopened:
        """Clear a host's back-off, and what failed of its robots.txt."""
        return reopen_host(self, name)

    def check(self, *, progress: Progress = silent) -> Report:
        """Verify every record and row."""
        return check(self, progress=progress)

    def repair(self, *, progress: Progress = silent) -> Report:
        """Mend what can be mended, then verify."""
        return repair(self, progress=progress)

    def analyse(
        self,
        by: str = "tld",
        *,
        source: str | None = None,
        tag: str | None = None,
        processes: int = 0,
        progress: Progress = silent,
    ) -> Analysis:
        """Measure how pages change, and compare their groups, such as top-level domains."""
        engine = usual_engine(processes)
        return analyse(self, by=by, source=source, tag=tag, engine=engine, progress=progress)

    def mask(self, page: StoredPage) -> Mask:
        """Return what is left out of a page before its versions are compared."""
        return mask_of_page(self, page)

    def hide(self, page: StoredPage, whats: Sequence[str]) -> Mask:
        """Leave more out of a page: text patterns, or paths of elements."""
        return hide(self, page, whats)

    def unhide(self, page: StoredPage, whats: Sequence[str]) -> Mask:
        """Take rules out of a page's mask for good, by their number or text."""
        return show(self, page, whats)

    def learn_mask(self, page: StoredPage) -> Mask:
        """Learn from the stored versions what of a page is noise, and return its mask then."""
        return keep_learnt(self, page) or mask_of_page(self, page)

    def measure_again(self, pages: Iterable[Page] | None = None) -> int:
        """Compare stored versions anew; return how many visits were measured."""
        return measure_again(self, self.pages() if pages is None else pages)

    def prune(
        self,
        older_than: timedelta,
        *,
        keep: str = "month",
        source: str | None = None,
        apply: bool = False,
    ) -> Thinning:
        """Thin old versions; without ``apply`` only say what would go."""
        return prune(self, older_than=older_than, keep=keep, source=source, apply=apply)

    def back_up(self, folder: str | Path, *, progress: Progress = silent) -> BackupSummary:
        """Copy the collection into a backup folder, also during a crawl."""
        return back_up(self, Path(folder), progress=progress)

    def doctor(self) -> list[Finding]:
        """Look for what is wrong with the machine and with this collection."""
        return examine(self.path)
