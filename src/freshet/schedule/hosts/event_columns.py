"""The columns of the looks to which shared events are fitted, and of their hosts."""

import numpy as np

from freshet.schedule.columns import NOT_FOUND, ColumnSpec

# The initial rate of events counts as much as this many days of looks.
INITIAL_EVENT_RATE, INITIAL_EVENT_DAYS = 0.01, 30.0
# Looks after at most so many days tell at which hours the pages of a host change. So many of them
# with a change are needed.
SHORT_GAP_DAYS, MIN_SHORT_CHANGES = 3.0, 8

LOOK_COLUMNS = {
    "row": ColumnSpec(np.int32),
    "end": ColumnSpec(np.float32),
    "gap": ColumnSpec(np.float32),
    "changed": ColumnSpec(np.bool_),
    "hazard": ColumnSpec(np.float32),
    "previous": ColumnSpec(np.int32, NOT_FOUND),
}
HOST_COLUMNS = {
    "pages": ColumnSpec(np.int32),
    "event_rate": ColumnSpec(np.float32, INITIAL_EVENT_RATE),
    "event_days": ColumnSpec(np.float32, INITIAL_EVENT_DAYS),
    "table": ColumnSpec(np.int32, NOT_FOUND),
    "newest": ColumnSpec(np.int32, NOT_FOUND),
    "stored": ColumnSpec(np.int32),
    "new_looks": ColumnSpec(np.int32),
    "has_new_change": ColumnSpec(np.bool_),
    "short_changes": ColumnSpec(np.int32),
}
