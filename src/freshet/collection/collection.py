"""The collection that ``freshet.open()`` returns, with every operation as a method."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from freshet.analysis.analysis_scope import AnalysisPeriod, AnalysisScope
from freshet.analysis.collection_analysis import (
    CollectionAnalysis,
    analyse_collection,
    default_engine,
)
from freshet.archive.catalog.rows import FailingPage, PageTotals
from freshet.collection.add import AddSummary, add_pages
from freshet.collection.backup import BackupSummary, back_up
from freshet.collection.check import CheckReport, check_collection, repair_collection
from freshet.collection.check_now import CheckNowSummary, check_now
from freshet.collection.doctor import DoctorFinding, run_doctor
from freshet.collection.exports import export_table
from freshet.collection.host_report import HostReport, ReopenedHost, host_report, reopen_host
from freshet.collection.imports import ImportSummary, import_history
from freshet.collection.listing import list_failing_pages, list_page_totals
from freshet.collection.masks import add_mask_rules, remove_mask_rules
from freshet.collection.page import CollectionPage
from freshet.collection.page_overview import PageOverview, page_overview
from freshet.collection.prune import PruneSummary, prune
from freshet.collection.remove import remove_pages
from freshet.collection.settings import (
    ResolvedSetting,
    SettingRow,
    collection_settings,
    resolved_settings,
)
from freshet.collection.status import CollectionStatus, bad_rows_of_import, collection_status
from freshet.core.progress import ProgressCallback, ignore_progress
from freshet.core.types import BadRow, Page, Plan
from freshet.crawl.noise import learn_and_keep_mask
from freshet.crawl.plan import make_plan
from freshet.crawl.why import ScheduleExplanation, explain_page
from freshet.learning.change_model.learn import LearningResult, learn_changes
from freshet.learning.link_model.learn import LinkLearningResult, learn_links
from freshet.learning.post_model.learn import PostLearningResult, learn_posts
from freshet.measure.noise.mask import Mask
from freshet.record.change_criteria import page_mask
from freshet.record.collection_store import CollectionStore, live_page_key
from freshet.record.link_counts import PageLinkCounts, count_new_links_every
from freshet.record.remeasure_pages import remeasure_pages
from freshet.record.stored_page import StoredPage, VersionChoice


class Collection(CollectionStore):
    """A collection whose methods do what the commands do."""

    def add(self, url: str, *, source: str = "", tags: tuple[str, ...] = ()) -> CollectionPage:
        """Add a page, or restore a removed one with its history.

        A live page, one without a source, must have an http(s) URL.
        """
        key = self.page_key(url, source) if source else live_page_key(url)
        self.register_pages([key], tags)
        if not source:
            self.save_credentials(key, url)
        return self.page(key.url, source=source)

    def page(self, url: str, *, source: str | None = None, removed: bool = False) -> CollectionPage:
        """Return a page; without a source, the live page or the only imported one.

        A removed page is found only with ``removed``.
        """
        return CollectionPage(self.find_page(url, source=source, removed=removed), self)

    def pages(
        self, *, tag: str | None = None, source: str | None = None
    ) -> Iterator[CollectionPage]:
        """Yield the pages that were not removed, by id."""
        return (CollectionPage(page, self) for page in self.catalog.pages(tag=tag, source=source))

    def add_many(self, urls: Sequence[str], *, tags: tuple[str, ...] = ()) -> AddSummary:
        """Add live pages, many at once."""
        return add_pages(self, urls, tags=tags)

    def remove(self, pages: Sequence[Page], *, purge: bool = False) -> int:
        """Remove pages; ``purge`` deletes their rows and bytes too; return the bytes freed."""
        return remove_pages(self, pages, purge=purge)

    def pause(self, pages: Iterable[Page]) -> None:
        """Leave pages out of plans until they are resumed."""
        self.catalog.pause_pages([page.id for page in pages])

    def resume(self, pages: Iterable[Page]) -> None:
        """Plan visits of paused pages again."""
        self.catalog.resume_pages([page.id for page in pages])

    def tag(self, name: str, pages: Iterable[Page]) -> None:
        """Add a tag to pages."""
        self.catalog.tag_pages([page.id for page in pages], name)

    def untag(self, name: str, pages: Iterable[Page]) -> None:
        """Remove a tag from pages."""
        self.catalog.untag_pages([page.id for page in pages], name)

    def resolved_settings(self, target: Page | str) -> list[ResolvedSetting]:
        """Return every setting of a page, or of the pages with a tag, and where it was set."""
        return resolved_settings(self, target)

    def setting_rows(self) -> list[SettingRow]:
        """Return every setting of the collection with its value, default and meaning."""
        return collection_settings(self.settings)

    def summaries(
        self,
        *,
        tag: str | None = None,
        source: str | None = None,
        changed: bool = False,
        limit: int | None = None,
    ) -> list[PageTotals]:
        """Return pages with their totals, or the ``changed`` ones, latest change first."""
        return list_page_totals(self, tag=tag, source=source, changed=changed, limit=limit)

    def failing_pages(
        self, *, tag: str | None = None, source: str | None = None, limit: int | None = None
    ) -> list[FailingPage]:
        """Return pages whose last visit showed no content, with its outcome and the reason."""
        return list_failing_pages(self, tag=tag, source=source, limit=limit)

    def show(
        self, page: StoredPage, choice: VersionChoice = -1, *, parts: Iterable[str] = ()
    ) -> PageOverview:
        """Return an overview of a page; ``parts`` may name text, links, terms and dom."""
        return page_overview(self, page, choice, frozenset(parts))

    def import_history(
        self,
        kind: str,
        path: str | Path,
        *,
        progress: ProgressCallback = ignore_progress,
        **options: Any,
    ) -> ImportSummary:
        """Import a history: warc, wacz, git, csv, bing or parquet."""
        return import_history(self, kind, Path(path), progress=progress, **options)

    def bad_rows(self, number: int) -> list[BadRow]:
        """Return every row that an import refused, by the number of the import."""
        return bad_rows_of_import(self, number)

    def export(self, kind: str, path: str | Path, *, source: str | None = None) -> int:
        """Write visits (parquet, cdxj, wacz) or changes (csv, changes); return the row count."""
        return export_table(self, kind, Path(path), source=source)

    def new_links(self, every: timedelta, *, source: str | None = None) -> PageLinkCounts:
        """Count the new links of pages in intervals of equal length, from the first look on."""
        return count_new_links_every(self.catalog, every, self.clock.now(), source=source)

    def status(self, *, days: int = 7) -> CollectionStatus:
        """Return the status of the collection, with its growth on the last days."""
        return collection_status(self, days=days)

    def check_now(self, pages: Sequence[Page]) -> CheckNowSummary:
        """Request visits now, before all others."""
        return check_now(self, pages)

    def plan(
        self, *, budget: str | int = "", objective: str = "", limit: int | None = None
    ) -> Plan:
        """Return the visits that would be made next, by default those of a day's budget."""
        return make_plan(self, budget=budget, objective=objective, limit=limit)

    def why(self, page: Page, *, objective: str = "") -> ScheduleExplanation:
        """Explain when and why a page is visited next."""
        return explain_page(self, page, objective=objective)

    def host(self, name: str) -> HostReport:
        """Return the state of a host, given by its name or by a URL."""
        return host_report(self, name)

    def reopen_host(self, name: str) -> ReopenedHost:
        """Clear a host's back-off and the failure of its robots.txt."""
        return reopen_host(self, name)

    def check(self, *, progress: ProgressCallback = ignore_progress) -> CheckReport:
        """Verify every record and row."""
        return check_collection(self, progress=progress)

    def repair(self, *, progress: ProgressCallback = ignore_progress) -> CheckReport:
        """Repair what can be repaired, then verify."""
        return repair_collection(self, progress=progress)

    def analyse(
        self,
        by: str = "tld",
        *,
        source: str | None = None,
        tag: str | None = None,
        period: tuple[datetime | None, datetime | None] = (None, None),
        processes: int = 0,
        progress: ProgressCallback = ignore_progress,
    ) -> CollectionAnalysis:
        """Measure how pages change, and compare their groups, such as top-level domains.

        ``period`` limits the looks: from the first time to the second, None without a bound.
        """
        engine = default_engine(processes)
        scope = AnalysisScope(tag, source, AnalysisPeriod(*period))
        return analyse_collection(self, by=by, scope=scope, engine=engine, progress=progress)

    def learn(
        self, *, estimators: Sequence[str] = (), progress: ProgressCallback = ignore_progress
    ) -> LearningResult:
        """Learn how to correct the default forecast, validate the model, and store it.

        ``estimators`` are tried instead of those of the settings: ``trees``, or classes of yours.
        """
        return learn_changes(self, estimators=estimators, progress=progress)

    def learn_links(self, *, progress: ProgressCallback = ignore_progress) -> LinkLearningResult:
        """Learn how many new links pages will bring, validate the model, and store it."""
        return learn_links(self, progress=progress)

    def learn_posts(self, *, progress: ProgressCallback = ignore_progress) -> PostLearningResult:
        """Learn when the next posts of threads come, validate the model, and store it."""
        return learn_posts(self, progress=progress)

    def mask(self, page: StoredPage) -> Mask:
        """Return the mask of a page: what is hidden before its versions are compared."""
        return page_mask(self, page)

    def hide(self, page: StoredPage, patterns: Sequence[str]) -> Mask:
        """Add rules to a page's mask: text patterns, or paths of elements."""
        return add_mask_rules(self, page, patterns)

    def unhide(self, page: StoredPage, names: Sequence[str]) -> Mask:
        """Remove rules from a page's mask for good, by number or text."""
        return remove_mask_rules(self, page, names)

    def learn_mask(self, page: StoredPage) -> Mask:
        """Learn the noise of a page from its stored versions; return its mask."""
        return learn_and_keep_mask(self, page) or page_mask(self, page)

    def measure_again(self, pages: Iterable[Page] | None = None) -> int:
        """Compare stored versions again; return the number of visits compared."""
        return remeasure_pages(self, self.pages() if pages is None else pages)

    def prune(
        self,
        older_than: timedelta,
        *,
        keep: str = "month",
        source: str | None = None,
        apply: bool = False,
    ) -> PruneSummary:
        """Drop the bytes of old versions; without ``apply`` only return what would be dropped."""
        return prune(self, older_than=older_than, keep=keep, source=source, apply=apply)

    def back_up(
        self, folder: str | Path, *, progress: ProgressCallback = ignore_progress
    ) -> BackupSummary:
        """Copy the collection into a backup folder, also during a crawl."""
        return back_up(self, Path(folder), progress=progress)

    def doctor(self) -> list[DoctorFinding]:
        """Check the machine and this collection for problems."""
        return run_doctor(self.path)
