"""Everything that the policy of a crawl has learned: stored in the catalog for the next start.

The forecasts depend on the moments at which the crawl fitted its policy, so that a policy that
learns the same visits again can choose other pages. It also takes seconds. The crawl therefore
stores the state of its policy every few hours and when it ends. The next start continues from it
and learns the later visits. Pages whose visits do not agree with the state, because they were
measured again or restored since, are learned again from their histories.
"""

import base64
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np

from freshet.archive.catalog.catalog import Catalog
from freshet.core import __version__
from freshet.core.policy import Policy, RefittingPolicy
from freshet.core.tables import PageIdArray, PageTable, VisitTable
from freshet.record.fault_isolation import isolate_faults
from freshet.schedule.page_states import PageStates

POLICY_STATE_NOTE = "state of the policy"
# Increased whenever a policy learns differently, so that states of before are not used.
STATE_FORMAT = 11
STATE_INTERVAL = timedelta(hours=2)
# A policy of more memory is built from its visits; that is about 30,000 pages.
MAX_STATE_BYTES = 8 << 20
COMPRESSION_LEVEL = 1
DIGEST_LETTERS = 32
COMPARED_COLUMNS = ("last_look", "measured_looks", "changes")


@dataclass(frozen=True, slots=True)
class StoredPolicyState:
    """A state, the time at which it was stored, and the greatest id of a visit at that time."""

    time: datetime
    last_visit_id: int
    state: Mapping[str, Any]


class PolicyStateStore:
    """Stores the state of a crawl's policy in the catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._stored: datetime | None = None

    def save_if_due(self, policy: Policy, now: datetime) -> None:
        """Store the state of a policy, unless that was done within the last hours."""
        if self._stored is None:
            self._stored = now
        elif abs(now - self._stored) >= STATE_INTERVAL:
            self.save(policy, now)

    def save(self, policy: Policy, now: datetime) -> None:
        """Store the state of a policy that fits forecasts, unless it is large."""
        self._stored = now
        if not isinstance(policy, RefittingPolicy):
            return
        with isolate_faults("storing its state", f"policy {policy.name}"):
            note = ""
            if policy.nbytes <= MAX_STATE_BYTES:
                stored = StoredPolicyState(now, self._catalog.last_visit_id(), policy.state())
                note = encode_state(policy.name, stored)
            self._catalog.write_note(POLICY_STATE_NOTE, note)


def read_policy_state(catalog: Catalog, policy: str, now: float) -> StoredPolicyState | None:
    """Return the stored state of a policy of that name; None if there is none that can be used.

    A state that was stored after ``now`` shows that the clock was set back; it is not used.
    """
    stored = decode_state(policy, catalog.read_note(POLICY_STATE_NOTE) or "")
    if stored is None or stored.time.timestamp() > now:
        return None
    return stored if stored.last_visit_id <= catalog.last_visit_id() else None


def encode_state(policy: str, stored: StoredPolicyState) -> str:
    """Return a state as text."""
    arrays = {name: item for name, item in stored.state.items() if isinstance(item, np.ndarray)}
    numbers = {name: item for name, item in stored.state.items() if name not in arrays}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    compressed = zlib.compress(buffer.getvalue(), COMPRESSION_LEVEL)
    document = {
        "origin": _origin(policy),
        "time": stored.time.isoformat(),
        "last_visit_id": stored.last_visit_id,
        "numbers": numbers,
        "arrays": base64.b64encode(compressed).decode(),
    }
    text = json.dumps(document, default=_to_number)
    return _digest(text) + text


def decode_state(policy: str, text: str) -> StoredPolicyState | None:
    """Return a state from text; None if it is damaged, of another policy or of another version.

    >>> time, state = datetime(2026, 3, 1), {"looks": np.array([1, 2]), "multiplier": 0.5}
    >>> stored = StoredPolicyState(time, 7, state)
    >>> decode_state("age", encode_state("age", stored)).state
    {'multiplier': 0.5, 'looks': array([1, 2])}
    >>> decode_state("nutch", encode_state("age", stored))
    """
    digest, text = text[:DIGEST_LETTERS], text[DIGEST_LETTERS:]
    if digest != _digest(text):
        return None
    try:
        document = json.loads(text)
        if document["origin"] != _origin(policy):
            return None
        compressed = base64.b64decode(document["arrays"], validate=True)
        buffer = io.BytesIO(zlib.decompress(compressed))
        with np.load(buffer, allow_pickle=False) as arrays:
            state = {**document["numbers"], **arrays}
        time = datetime.fromisoformat(document["time"])
        return StoredPolicyState(time, int(document["last_visit_id"]), state)
    except (ValueError, KeyError, TypeError, OSError, zlib.error, zipfile.BadZipFile):
        return None


def restore_policy(policy: Policy, stored: StoredPolicyState, pages: PageTable) -> None:
    """Continue with a stored state and the present pages; no visit is pending any more."""
    policy.restore(stored.state)
    ids = np.asarray(stored.state["ids"], np.int64)
    policy.release(ids)
    policy.forget(np.setdiff1d(ids, pages.ids))
    policy.add(pages)


def outdated_pages(policy: Policy, pages: PageTable, history: VisitTable) -> PageIdArray:
    """Return the pages whose looks and changes in a policy are not those of the history."""
    expected = PageStates()
    expected.add(pages)
    expected.add_visits(history)
    expected_state, state = expected.state(), policy.state()
    rows = expected.find_rows(np.asarray(state["ids"], np.int64))
    differs = np.zeros(len(rows), np.bool_)
    for name in COMPARED_COLUMNS:
        learned, recorded = state[name], expected_state[name][rows]
        differs |= (learned != recorded) & ~(np.isnan(learned) & np.isnan(recorded))
    outdated: PageIdArray = np.sort(state["ids"][differs])
    return outdated


def _origin(policy: str) -> list[Any]:
    """Return what must be equal for a stored state to be used."""
    return [policy, __version__, STATE_FORMAT]


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=DIGEST_LETTERS // 2).hexdigest()


def _to_number(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    return value.item()
