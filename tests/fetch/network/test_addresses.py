"""Which addresses are special, which are opened, and what is said of those that are refused."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshet.core.errors import SettingsError
from freshet.fetch.network.addresses import (
    AllowedRanges,
    is_local_name,
    special_purpose,
    why_address_refused,
    why_url_refused,
)

NOTHING = AllowedRanges()


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.255.255.255", "100.64.0.1", "127.1.2.3", "169.254.169.254", "172.31.0.1",
        "192.0.0.192", "192.168.1.1", "198.19.0.1", "203.0.113.9", "224.0.0.1", "255.255.255.255",
        "168.63.129.16", "239.255.255.255", "240.0.0.0", "::", "::1", "::127.0.0.1",
        "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "100::1",
        "2001::1", "2001:1::1", "2001:db8::1", "2002:7f00:1::", "2606:4700::5efe:7f00:1",
        "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1%eth0", "fec0::1", "ff02::1",
        "4000::1",
    ],
)  # fmt: skip
def test_an_address_with_a_special_meaning_is_special(address: str) -> None:
    assert special_purpose(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0",
        "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:200::1", "2606:4700::1",
    ],
)  # fmt: skip
def test_a_public_address_is_not_special(address: str) -> None:
    assert special_purpose(address) is None


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"), ("127.0.0.0", "127.255.255.255"),
        ("168.63.129.16", "168.63.129.16"), ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"), ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"), ("192.31.196.0", "192.31.196.255"),
        ("192.52.193.0", "192.52.193.255"), ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"), ("192.175.48.0", "192.175.48.255"),
        ("198.18.0.0", "198.19.255.255"), ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"), ("224.0.0.0", "255.255.255.255"),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ],
)  # fmt: skip
def test_a_special_range_is_special_from_end_to_end(first: str, last: str) -> None:
    assert special_purpose(first)
    assert special_purpose(last)
    if first != "0.0.0.0":
        assert special_purpose(ip_address(first) - 1) is None
    if last != "255.255.255.255":
        assert special_purpose(ip_address(last) + 1) is None


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_means_the_same_inside_ipv6(address: IPv4Address) -> None:
    mapped = IPv6Address(f"::ffff:{address}")
    translated = IPv6Address(f"64:ff9b::{address}")
    assert special_purpose(mapped) == special_purpose(translated) == special_purpose(address)


@given(st.ip_addresses(), st.integers(0, 65_535))
def test_an_opened_address_is_open_at_its_ports_alone(
    address: IPv4Address | IPv6Address, port: int
) -> None:
    allowed = AllowedRanges.parse([f"{address}/{address.max_prefixlen}:{port}"])
    assert why_address_refused(address, port, allowed) is None
    assert why_address_refused(address, port + 1, allowed) == why_address_refused(
        address, port + 1, NOTHING
    )


@pytest.mark.parametrize(
    ("text", "address", "port"),
    [
        ("10.0.0.0/8", "10.2.3.4", 0),
        ("10.0.0.0/8", "10.2.3.4", 65_535),
        ("127.0.0.1", "127.0.0.1", 65_535),
        ("127.0.0.1:80", "127.0.0.1", 80),
        ("127.0.0.1/32:8000-8010", "127.0.0.1", 8010),
        ("127.0.0.1/32", "::ffff:127.0.0.1", 80),
        ("::1", "::1", 80),
        ("[::1]:80", "::1", 80),
        ("fd00::/8:80-90", "fd12::1", 85),
        ("[fd00::]/8:80", "fd12::1", 80),
        ("::ffff:0:0/96", "10.0.0.1", 80),
    ],
)
def test_ranges_are_read(text: str, address: str, port: int) -> None:
    assert AllowedRanges.parse([text]).allows(address, port)


@pytest.mark.parametrize(
    "text", ["", "example.org", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/8:x", "::1:-", "1.1.1.1:9-1"]
)
def test_what_is_no_range_is_named_with_the_setting(text: str) -> None:
    with pytest.raises(SettingsError, match=r"network\.allow: .*give a range such as"):
        AllowedRanges.parse([text])


@pytest.mark.parametrize("port", ["70000", "1-70000"])
def test_a_port_that_cannot_be_is_an_error(port: str) -> None:
    with pytest.raises(SettingsError, match="no such ports"):
        AllowedRanges.parse([f"10.0.0.0/8:{port}"])


def test_a_refusal_says_what_would_open_it() -> None:
    why = why_url_refused("http://[::1]:8000/", NOTHING)
    assert why == '::1 is special (loopback); network.allow = ["::1/128:8000"] would open it'
    assert why_url_refused("http://[::1]:8000/", AllowedRanges.parse(["::1/128:8000"])) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://0177.1/", "http://2130706433/", "http://①②⑦.0.0.1/", "http://a@127.0.0.1/",
        "http://127.0.0.1\\@public.example/", "https://127.0.0.1./", "http://localhost/",
        "http://db.internal/", "http://intranet/", "file:///etc/passwd", "gopher://public.example/",
        "http://[::1%25lo]/", "no address",
    ],
)  # fmt: skip
def test_a_url_is_refused_however_it_is_spelled(url: str) -> None:
    assert why_url_refused(url, NOTHING)


@pytest.mark.parametrize(
    "url", ["http://8.8.8.8/", "https://example.org:8443/", "http://public.example\\@127.0.0.1/"]
)
def test_a_public_url_passes(url: str) -> None:
    assert why_url_refused(url, NOTHING) is None


def test_a_local_name_is_looked_up_where_something_is_open() -> None:
    allowed = AllowedRanges.parse(["127.0.0.1:8000"])
    assert why_url_refused("http://localhost:8000/", allowed) is None
    assert why_url_refused("http://localhost:8001/", allowed)


def test_local_names_are_known_by_their_ends() -> None:
    assert is_local_name("LOCALHOST.")
    assert is_local_name("printer.local")
    assert not is_local_name("local.example")
