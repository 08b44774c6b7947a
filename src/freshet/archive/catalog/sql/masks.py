"""Masks of pages: every version is kept, the latest one counts."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from freshet.archive.catalog.rows import StoredMask
from freshet.archive.catalog.schema import masks
from freshet.archive.catalog.sql.store import TableStore, split_chunks
from freshet.core.clock import to_epoch


class MaskTables(TableStore):
    """The table masks."""

    def latest_masks(self, page_ids: Sequence[int]) -> dict[int, StoredMask]:
        """Return the latest mask of each page that has one."""
        query = select(masks.c.page_id, masks.c.version, masks.c.body).order_by(masks.c.version)
        found: dict[int, StoredMask] = {}
        with self._engine.begin() as connection:
            for piece in split_chunks(page_ids):
                rows = connection.execute(query.where(masks.c.page_id.in_(piece)))
                found |= {page_id: StoredMask(version, json.loads(body))
                          for page_id, version, body in rows}  # fmt: skip
        return found

    def add_mask_version(
        self,
        page_id: int,
        body: Mapping[str, Any],
        now: datetime,
        *,
        previous_version: int | None = None,
    ) -> int | None:
        """Give a page a new version of its mask; None where another came after that version."""
        last = select(func.max(masks.c.version)).where(masks.c.page_id == page_id)
        with self._writing.begin() as connection:
            version = (connection.execute(last).scalar() or 0) + 1
            if previous_version is not None and version != previous_version + 1:
                return None
            row = {"page_id": page_id, "version": version, "made": to_epoch(now)}
            connection.execute(masks.insert().values(**row, body=json.dumps(dict(body))))
        return version
