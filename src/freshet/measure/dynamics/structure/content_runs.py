"""How long content stays at its place (Adar et al. 2009, section 5.3).

The paper takes the first and last version that show a text at a path. Here a text that comes back
after another one begins a new run, so that slots that rotate among a few texts do not look still.
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

_RUN = {
    "first": minimum_of("version"),
    "last": maximum_of("version"),
    "seconds": sum_of("seconds"),
    "looks": sum_of("looks"),
    "came": sum_of("came"),
}
_PATH = {
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
    """Return the runs of stays through which a path was there with one content, path by path.

    ``first`` and ``last`` are stays, ``seconds`` and ``looks`` what is known of them; ``came`` is
    what the column ``moved`` of the rows, if they have one, says where a run begins.
    """
    told = [name for name in ("moved",) if name in rows.columns]
    rows = sort_rows(rows.select("full_path", "version", content, *told), "full_path", "version")
    rows = rows.with_columns(
        breaks=rows["version"] - rank_in_group(rows, "full_path"),
        seconds=timeline.seconds[rows["version"]],
        looks=timeline.looks[rows["version"]].astype(np.int64),
        came=np.zeros(len(rows), np.int64),
    )
    keys = ["full_path", "breaks", content]
    if told:
        begins = group_starts(rows, *keys)
        rows["came"][begins] = rows["moved"][begins]
    return reduce_rows(rows, keys, _RUN)


def path_lifespans(found: ColumnTable) -> ColumnTable:
    """Return, path by path, what its runs of content come to.

    ``lifespan`` is the mean length of a run in seconds, with those still lasting counted as they
    are; ``changes`` how often other content came; ``latest`` the stay at which the last one began.
    """
    paths = reduce_rows(found.with_columns(one=np.ones(len(found), np.int64)), ["full_path"], _PATH)
    lifespan = paths["seconds"] / np.maximum(paths["runs"], 1)
    return paths.with_columns(lifespan=lifespan, changes=paths["runs"] - 1)
