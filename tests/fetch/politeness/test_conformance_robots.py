"""robots.txt against the tables of Google, RFC 9309, Protego and crawler-commons."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from freshet.fetch.politeness.robots_rules import ParsedRules, decode_robots, select_rules

DATA = Path(os.environ["FRESHET_DATA"]) / "conformance"


def table(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"robots_{name}.json").read_text("utf-8"))  # type: ignore[no-any-return]


def allows(case: dict[str, Any]) -> bool:
    return ParsedRules().allows(select_rules(case["robots"], case["agent"]), case["url"])


@pytest.mark.parametrize(
    ("name", "undisputed", "met"),
    [
        ("google", 131, 139),
        ("rfc9309", 37, 41),
        ("protego", 245, 296),
        ("crawlercommons", 163, 187),
    ],
)
def test_every_undisputed_case_is_met(name: str, undisputed: int, met: int) -> None:
    cases = table(name)["cases"]
    wrong = [case for case in cases if allows(case) is not case["allowed"]]
    assert sum(case["undisputed"] for case in cases) == undisputed
    assert [case["id"] for case in wrong if case["undisputed"]] == []
    assert len(cases) - len(wrong) >= met


def test_crawl_delays_are_read() -> None:
    cases = table("protego")["crawl_delay"]
    told = [ParsedRules().delay(select_rules(case["robots"], case["agent"])) for case in cases]
    assert told == [case["expected"] for case in cases]


@pytest.mark.parametrize("file", ["utf8", "utf16le", "utf16be"])
def test_files_with_a_byte_order_mark_are_read(file: str) -> None:
    body = (DATA / "robots" / f"robots-with-{file}-bom.txt").read_bytes()
    rules = select_rules(decode_robots(body), "Freshet")
    assert not ParsedRules().allows(rules, "https://example.org/login.aspx")
    assert ParsedRules().allows(rules, "https://example.org/other")


def test_the_longest_product_token_matters_only_when_it_is_ours() -> None:
    text = (DATA / "robots" / "many-user-agents.txt").read_text("latin-1")
    assert select_rules(text, "wget") != select_rules(text, "Freshet")
