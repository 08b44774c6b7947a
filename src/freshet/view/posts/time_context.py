"""Decide what the times of a page have in common, and turn them into moments."""

import itertools
from collections.abc import Sequence

from freshet.view.posts.page_nodes import PageNodes
from freshet.view.posts.time_candidates import TimeCandidate
from freshet.view.posts.time_zone import stated_offset
from freshet.view.posts.written_time import DAY, NumericTime, TimeContext, WrittenTime

# The first year of Usenet; earlier times are placeholders such as 1970-01-01.
EARLIEST = 283_996_800.0
# Clocks and unknown zones can put a post ahead of the visit, by little more than a day.
MAX_AHEAD = DAY + 7_200.0
_EDGE_NODES = 400


def page_context(
    nodes: PageNodes, candidates: Sequence[TimeCandidate], visited: float
) -> TimeContext:
    """Return the zone that a page states, UTC by default, and its order of day and month."""
    texts = [text for text in nodes.texts if text]
    edges = texts[:_EDGE_NODES] + texts[_EDGE_NODES:][-_EDGE_NODES:]
    offset = stated_offset(" ".join(text[:200] for text in edges), visited) or 0.0
    numeric = [item.written for item in candidates if isinstance(item.written, NumericTime)]
    return TimeContext(visited, offset, _is_day_first(numeric, visited, offset))


def plausible_moment(written: WrittenTime, context: TimeContext) -> float | None:
    """Return the moment of a written time, None if no post can be of that time.

    A time ahead of the visit by up to 26 hours (a wrong clock, an unknown zone) becomes the visit's
    moment; later ones and those before 1979 are dropped.
    """
    moment = written.moment(context)
    if moment is None or not EARLIEST <= moment <= context.visited + MAX_AHEAD:
        return None
    return min(moment, context.visited)


def _is_day_first(times: Sequence[NumericTime], visited: float, offset: float) -> bool:
    """Return whether 03-04-2012 is the third of April.

    A number above 12 decides. Otherwise the order with fewer times in the future and fewer steps
    against the direction of the page is right; if both are equal, a 12-hour clock means that the
    month comes first.
    """
    day_first_votes = sum(time.first > 12 for time in times)
    month_first_votes = sum(time.second > 12 for time in times)
    if day_first_votes != month_first_votes:
        return day_first_votes > month_first_votes
    contradictions = {
        day_first: _contradictions(times, TimeContext(visited, offset, day_first))
        for day_first in (True, False)
    }
    if contradictions[True] != contradictions[False]:
        return contradictions[True] < contradictions[False]
    return not any(time.clock.has_half for time in times)


def _contradictions(times: Sequence[NumericTime], context: TimeContext) -> int:
    """Return how many times are in the future or against the order of the page."""
    moments = [moment for time in times if (moment := time.moment(context)) is not None]
    future = sum(moment > context.visited + MAX_AHEAD for moment in moments)
    pairs = list(itertools.pairwise(moments))
    rising = sum(earlier < later for earlier, later in pairs)
    falling = sum(earlier > later for earlier, later in pairs)
    return 2 * future + min(rising, falling)
