"""How long content stays at its place (Adar et al. 2009, section 5.3).

The paper takes the first and last version that show a text at a path. Here a text that comes back
after another one begins a new run, so that slots that rotate among a few texts do not look still.
"""

import numpy as np

from freshet.measure.dynamics.structure.column_table import (
    Table,
    least,
    most,
    rank_within,
    reduce,
    sort,
    starts_of,
    total,
)
from freshet.measure.dynamics.structure.dom_history import Timeline

_RUN = {
    "first": least("version"),
    "last": most("version"),
    "seconds": total("seconds"),
    "looks": total("looks"),
    "came": total("came"),
}
_PATH = {
    "runs": total("one"),
    "seconds": total("seconds"),
    "looks": total("looks"),
    "first": least("first"),
    "last": most("last"),
    "latest": most("first"),
    "came": total("came"),
}


def runs(rows: Table, timeline: Timeline, content: str = "subtree_hash") -> Table:
    """Return the runs of stays through which a path was there with one content, path by path.

    ``first`` and ``last`` are stays, ``seconds`` and ``looks`` what is known of them; ``came`` is
    what the column ``moved`` of the rows, if they have one, says where a run begins.
    """
    told = [name for name in ("moved",) if name in rows.columns]
    rows = sort(rows.only("full_path", "version", content, *told), "full_path", "version")
    rows = rows.put(
        breaks=rows["version"] - rank_within(rows, "full_path"),
        seconds=timeline.seconds[rows["version"]],
        looks=timeline.looks[rows["version"]].astype(np.int64),
        came=np.zeros(len(rows), np.int64),
    )
    keys = ["full_path", "breaks", content]
    if told:
        begins = starts_of(rows, *keys)
        rows["came"][begins] = rows["moved"][begins]
    return reduce(rows, keys, _RUN)


def lifespans(found: Table) -> Table:
    """Return, path by path, what its runs of content come to.

    ``lifespan`` is the mean length of a run in seconds, with those still lasting counted as they
    are; ``changes`` how often other content came; ``latest`` the stay at which the last one began.
    """
    paths = reduce(found.put(one=np.ones(len(found), np.int64)), ["full_path"], _PATH)
    lifespan = paths["seconds"] / np.maximum(paths["runs"], 1)
    return paths.put(lifespan=lifespan, changes=paths["runs"] - 1)
