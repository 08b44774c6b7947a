"""URLs against the cases of web-platform-tests and crawler-commons."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path

from freshet.view.url import LinkResolver, absolute_url, canonical_url, without_credentials

DATA = Path(os.environ["FRESHET_DATA"]) / "conformance"


def cases(name: str) -> list[dict[str, str]]:
    listed = json.loads((DATA / name).read_text())
    return [case for case in listed if isinstance(case, dict)]


def rows(name: str) -> Iterator[list[str]]:
    lines = (DATA / "url" / name).read_text().split("\n")
    data_lines = [line for line in lines if line.strip() and not line.startswith("#")]
    for row in csv.reader(data_lines, skipinitialspace=True):
        yield [column.strip(" ") for column in row]


def web_only(url: str | None) -> str | None:
    return without_credentials(url) if url and url.startswith(("http://", "https://")) else None


def expected(case: dict[str, str]) -> str | None:
    return None if case.get("failure") else case["href"].partition("#")[0]


def test_all_cases_of_the_url_standard_are_there() -> None:
    assert len(cases("urltestdata.json")) == 891


def test_links_resolve_as_the_url_standard_says() -> None:
    based = [case for case in cases("urltestdata.json") if case["base"] is not None]
    wrong = [case for case in based if absolute_url(case["base"], case["input"]) != expected(case)]
    assert wrong == []


def test_links_of_pages_resolve_as_the_url_standard_says() -> None:
    based = [case for case in cases("urltestdata.json") if web_only(case["base"])]
    resolved = [(LinkResolver(case["base"]).resolve(case["input"]), case) for case in based]
    wrong = [
        case
        for resolved_link, case in resolved
        if (resolved_link and resolved_link[0]) != web_only(expected(case))
    ]
    assert wrong == []


def test_pages_have_the_spelling_of_the_url_standard() -> None:
    alone = [case for case in cases("urltestdata.json") if case["base"] is None]
    wrong = [
        case for case in alone if web_only(canonical_url(case["input"])) != web_only(expected(case))
    ]
    assert wrong == []


def test_host_names_are_written_in_ascii_as_the_url_standard_says() -> None:
    wrong = [case for case in cases("url/toascii.json") if not has_expected_form(case)]
    assert wrong == []


def has_expected_form(case: dict[str, str]) -> bool:
    wanted = case["output"] and f"https://{case['output']}/x"
    return canonical_url(f"https://{case['input']}/x") == wanted


def test_links_resolve_as_in_crawler_commons() -> None:
    listed = [row for row in rows("cc_url-resolve.csv") if row[1]]
    wrong = [row for row in listed if absolute_url(row[1], row[0]) != absolute_url(row[2], row[2])]
    assert (len(listed), wrong) == (21, [])


def test_unusable_addresses_of_crawler_commons_are_no_pages() -> None:
    assert [row for row in rows("cc_invalidUrls.csv") if canonical_url(row[0]) is not None] == []


def test_spellings_of_crawler_commons_agree_where_they_follow_the_url_standard() -> None:
    """The others decode percent signs, sort queries or merge slashes, which may be another page."""
    listed = [row for row in rows("cc_weirdToNormalizedUrls.csv") if len(row) == 2]
    agree = sum(canonical_url(written) == wanted for written, wanted in listed)
    assert (len(listed), agree) == (112, 60)
