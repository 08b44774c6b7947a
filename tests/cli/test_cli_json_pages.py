"""Pages of JSON: what differs between versions, and what an older Freshet stored of them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from freshet.collection.collection import Collection
from freshet.core.types import Snapshot
from tests.cli.cli_runs import Run
from tests.record.record_samples import make_collection, observe, record

API = "https://example.org/api/items"
TYPE = (("content-type", "application/json"),)


def items(*names: str, beta: bool = True, owner: str | None = None) -> dict[str, object]:
    listed = [{"name": name, "price": 12.5, "in_stock": True} for name in names]
    return {"flags": {"beta": beta}, "owner": owner, "items": listed}


def look_at(collection: Collection, bodies: Sequence[bytes], *, first_day: int = 0) -> None:
    for day, body in enumerate(bodies, first_day):
        observation = replace(observe(day, body, url=API), snapshot=Snapshot(API, body, 200, TYPE))
        record(collection, [observation])


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collection:
    with make_collection(tmp_path / "c") as page:
        monkeypatch.chdir(tmp_path / "c")
        yield page


def changed(collection: Collection) -> list[bool]:
    return [row.change.changed for row in collection.page(API).history() if row.change]


def test_a_boolean_a_null_and_a_key_that_differ_are_changes_and_are_shown(
    opened: Collection, run: Run
) -> None:
    versions = [items("lamp"), items("lamp", beta=False), items("lamp", beta=False, owner="Ada")]
    versions.append({
        "switches" if key == "flags" else key: versions[-1][key] for key in versions[-1]
    })
    look_at(opened, [json.dumps(version).encode() for version in versions])
    assert changed(opened) == [True, True, True]
    output = [run("diff", API, str(old), str(old + 1)).out for old in (1, 2, 3)]
    assert "flags.beta: [-true-]{+false+}\nowner: null\n" in output[0]
    assert "owner: [-null-]{+Ada+}\n" in output[1]
    assert "[-flags-]{+switches+}.beta: false" in output[2]


def test_a_new_first_item_is_all_that_a_difference_shows(opened: Collection, run: Run) -> None:
    old, new = items("lamp", "tent"), items("boat", "lamp", "tent")
    look_at(opened, [json.dumps(old).encode(), json.dumps(new).encode()])
    output = run("diff", API, "1", "2").out
    assert "{+- items[].name: boat\nitems[].price: 12.5\nitems[].in_stock: true+}\n" in output
    assert "[-" not in output
    assert run("diff", API, "1", "2", "--json").json["change"]["dice"] > 0.9
    assert "items[].name: boat" in run("diff", API, "--since", "1").out


def test_the_first_look_after_an_upgrade_is_no_change_by_itself(
    opened: Collection,
) -> None:
    look_at(opened, [json.dumps(items("lamp"), indent=1).encode()])
    with opened.catalog._read_engine.begin() as connection:
        connection.exec_driver_sql("UPDATE facts SET text_hash = 1, words = 3, distinct_words = 3")
    look_at(opened, [json.dumps(items("lamp"), indent=2).encode()], first_day=1)
    (row,) = [row for row in opened.page(API).history() if row.change]
    assert (row.change.bytes, row.change.text, row.change.changed) == (True, False, False)
