"""Scores a crawl by the log of the servers and the recorded versions, without its collection."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import numpy as np

from experiments.wild.page_history import PageHistory
from freshet.core.tables import DAY_SECONDS

ROUND_ROBIN_ORDERS = 5


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """A request as its server logged it: when, which page, the version served, and the status."""

    time: float
    page: int
    version: int
    status: int = 200


@dataclass(frozen=True, slots=True)
class PageScore:
    """The score of one page: its fresh share of the measured time, changes found, and requests."""

    fresh_share: float
    changes_found: int
    requests: int


@dataclass(frozen=True, slots=True)
class CrawlScore:
    """The score of a crawl; freshness is the mean fresh share of the pages."""

    freshness: float
    changes_found: int
    requests: int


def score_pages(
    histories: Sequence[PageHistory], requests: Sequence[ServedRequest], start: float, end: float
) -> list[PageScore]:
    """Score each page by the requests from ``start`` to ``end``; freshness from the second day.

    A copy is fresh while its text equals the text that the page has now; a page without a copy is
    not fresh. A request finds a change if its text differs from that of the request before.
    """
    requests_by_page: defaultdict[int, list[ServedRequest]] = defaultdict(list)
    for request in sorted(requests, key=lambda request: request.time):
        if start <= request.time < end:
            requests_by_page[request.page].append(request)
    return [
        _score_page(history, requests_by_page[page], start + DAY_SECONDS, end)
        for page, history in enumerate(histories)
    ]


def total_score(page_scores: Sequence[PageScore]) -> CrawlScore:
    """Return the score of the crawl of all pages."""
    return CrawlScore(
        float(np.mean([score.fresh_share for score in page_scores])),
        sum(score.changes_found for score in page_scores),
        sum(score.requests for score in page_scores),
    )


def count_changes(histories: Sequence[PageHistory], start: float, end: float) -> int:
    """Return how often the texts changed, from the second day on."""
    return sum(len(history.text_changes(start + DAY_SECONDS, end)) for history in histories)


def round_robin_requests(
    histories: Sequence[PageHistory], order: Sequence[int], count: int, start: float, end: float
) -> list[ServedRequest]:
    """Return the requests of a crawl that visits pages in turn, evenly from start to end."""
    requests = []
    for number in range(count):
        time, page = start + number * (end - start) / count, order[number % len(order)]
        requests.append(ServedRequest(time, page, histories[page].version_at(time)))
    return requests


def round_robin_score(
    histories: Sequence[PageHistory], count: int, start: float, end: float
) -> CrawlScore:
    """Return the mean score of round-robin in several random orders.

    The order matters: pages of one site change together, and in the order of the sites they would
    be visited together too.
    """
    scores = []
    for seed in range(ROUND_ROBIN_ORDERS):
        order = np.random.default_rng(seed).permutation(len(histories)).tolist()
        requests = round_robin_requests(histories, order, count, start, end)
        scores.append(total_score(score_pages(histories, requests, start, end)))
    return CrawlScore(
        fmean(score.freshness for score in scores),
        round(fmean(score.changes_found for score in scores)),
        count,
    )


def _score_page(
    history: PageHistory, requests: Sequence[ServedRequest], measured_from: float, end: float
) -> PageScore:
    texts = [history.texts[request.version] for request in requests]
    changes_found = sum(before != after for before, after in pairwise(texts))
    times = [request.time for request in requests]
    events = {time for time in (*history.times, *times) if measured_from < time < end}
    moments = [measured_from, *sorted(events), end]
    fresh_seconds = 0.0
    for moment, next_moment in pairwise(moments):
        copies = bisect_right(times, moment)
        if copies and texts[copies - 1] == history.texts[history.version_at(moment)]:
            fresh_seconds += next_moment - moment
    return PageScore(fresh_seconds / (end - measured_from), changes_found, len(requests))
