"""The guard against spellings of addresses that others have fallen for."""

import json
import os
from pathlib import Path

from freshet.fetch.network.addresses import AllowedRanges, special_purpose, why_url_refused
from tests.fetch.fetcher import fetch_all

DATA = Path(os.environ["FRESHET_DATA"]) / "conformance"
CASES = json.loads((DATA / "ssrf_spellings.json").read_text("utf-8"))["cases"]


def urls(expected: str) -> list[str]:
    return [case["url"] for case in CASES if case["expected"] == expected]


def test_every_spelling_of_a_special_address_is_refused() -> None:
    let_pass = [url for url in urls("refuse") if why_url_refused(url, AllowedRanges()) is None]
    assert (len(urls("refuse")), let_pass) == (131, [])


def test_public_addresses_are_not_refused() -> None:
    held_up = [url for url in urls("allow") if why_url_refused(url, AllowedRanges()) is not None]
    assert (len(urls("allow")), held_up) == (13, [])


def test_names_are_judged_by_what_they_resolve_to() -> None:
    assert len(urls("resolve")) == 2
    assert all(why_url_refused(url, AllowedRanges()) is None for url in urls("resolve"))
    requests = {str(place): url for place, url in enumerate(urls("resolve"))}
    results = fetch_all(requests, names={"public.example": "192.168.0.1"})
    assert {result.outcome for result in results.values()} == {"refused"}


def test_no_spelling_gets_past_the_handler() -> None:
    refused = urls("refuse")
    requests = {str(place): url for place, url in enumerate(refused) if "://" in url}
    results = fetch_all(requests, names={"httpbin.org": "127.0.0.1"})
    let_pass = [requests[name] for name, result in results.items() if result.outcome != "refused"]
    assert (len(results), let_pass) == (len(requests), [])


def test_the_hosts_of_the_table_are_special_by_themselves() -> None:
    hosts = [case["whatwg_host"].strip("[]") for case in CASES if case["kind"] == "address"]
    assert all(special_purpose(host) for host in hosts)
