"""How long content stays at its path (Adar et al. 2009, section 5.3).

The paper uses the first and last version with a text at a path. Here a text that returns after
another one starts a new run, so that slots that rotate among a few texts do not look stable.
"""

import numpy as np

from freshet.measure.dynamics.structure.column_table import (
    ColumnTable,
    group_starts,
    maximum_of,
    minimum_of,
    rank_in_group,
    reduce_rows,
    sort_rows,
    sum_of,
)
from freshet.measure.dynamics.structure.dom_history import VersionTimeline

_RUN_AGGREGATES = {
    "first": minimum_of("version"),
    "last": maximum_of("version"),
    "seconds": sum_of("seconds"),
    "looks": sum_of("looks"),
    "came": sum_of("came"),
}
_PATH_AGGREGATES = {
    "runs": sum_of("one"),
    "seconds": sum_of("seconds"),
    "looks": sum_of("looks"),
    "first": minimum_of("first"),
    "last": maximum_of("last"),
    "latest": maximum_of("first"),
    "came": sum_of("came"),
}


def content_runs(
    rows: ColumnTable, timeline: VersionTimeline, content: str = "subtree_hash"
) -> ColumnTable:
    """Return the runs of stays in which a path had one content, path by path.

    ``first`` and ``last`` are stays, ``seconds`` and ``looks`` their known totals. ``came`` is the
    value of the column ``moved``, if there is one, at the start of a run.
    """
    extra_columns = [name for name in ("moved",) if name in rows.columns]
    rows = sort_rows(
        rows.select("full_path", "version", content, *extra_columns), "full_path", "version"
    )
    rows = rows.with_columns(
        breaks=rows["version"] - rank_in_group(rows, "full_path"),
        seconds=timeline.seconds[rows["version"]],
        looks=timeline.looks[rows["version"]].astype(np.int64),
        came=np.zeros(len(rows), np.int64),
    )
    keys = ["full_path", "breaks", content]
    if extra_columns:
        run_starts = group_starts(rows, *keys)
        rows["came"][run_starts] = rows["moved"][run_starts]
    return reduce_rows(rows, keys, _RUN_AGGREGATES)


def path_lifespans(runs: ColumnTable) -> ColumnTable:
    """Return the totals of the runs of each path.

    ``lifespan`` is the mean length of a run in seconds, including runs that have not ended;
    ``changes`` is the number of content changes; ``latest`` is the stay at which the last run
    starts.
    """
    paths = reduce_rows(
        runs.with_columns(one=np.ones(len(runs), np.int64)), ["full_path"], _PATH_AGGREGATES
    )
    lifespan = paths["seconds"] / np.maximum(paths["runs"], 1)
    return paths.with_columns(lifespan=lifespan, changes=paths["runs"] - 1)
