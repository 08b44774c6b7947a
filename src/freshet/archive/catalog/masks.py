"""Masks of pages: every version is stored, the latest one is used."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from freshet.archive.catalog.database import TableStore, split_chunks
from freshet.archive.catalog.rows import StoredMask
from freshet.archive.catalog.schema import masks
from freshet.core.clock import to_epoch


class MaskTables(TableStore):
    """Table masks: parts of pages excluded from comparisons."""

    def latest_masks(self, page_ids: Sequence[int]) -> dict[int, StoredMask]:
        """Return the latest mask of each page that has one."""
        query = select(masks.c.page_id, masks.c.version, masks.c.body).order_by(masks.c.version)
        latest: dict[int, StoredMask] = {}
        with self._read_engine.begin() as connection:
            for chunk in split_chunks(page_ids):
                rows = connection.execute(query.where(masks.c.page_id.in_(chunk)))
                for page_id, version, body in rows:
                    latest[page_id] = StoredMask(version, json.loads(body))
        return latest

    def add_mask_version(
        self,
        page_id: int,
        body: Mapping[str, Any],
        now: datetime,
        *,
        previous_version: int | None = None,
    ) -> int | None:
        """Give a page a new version of its mask, and return the version's number.

        With ``previous_version`` only if that is still the latest one (0: there is none), else
        return None: two people who edit at the same time do not undo each other's work.
        """
        last = select(func.max(masks.c.version)).where(masks.c.page_id == page_id)
        with self._write_engine.begin() as connection:
            version = (connection.execute(last).scalar() or 0) + 1
            if previous_version is not None and version != previous_version + 1:
                return None
            row = {"page_id": page_id, "version": version, "made": to_epoch(now)}
            connection.execute(masks.insert().values(**row, body=json.dumps(dict(body))))
        return version
