"""The columns of the looks to which shared events are fitted, and of their hosts."""

import numpy as np

from freshet.schedule.columns import NOT_FOUND, ColumnSpec

INITIAL_EVENT_RATE = 0.01

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
    "table": ColumnSpec(np.int32, NOT_FOUND),
    "newest": ColumnSpec(np.int32, NOT_FOUND),
    "stored": ColumnSpec(np.int32),
    "new_looks": ColumnSpec(np.int32),
    "has_new_change": ColumnSpec(np.bool_),
    "short_changes": ColumnSpec(np.int32),
}
