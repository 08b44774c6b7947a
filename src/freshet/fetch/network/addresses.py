"""Special-purpose addresses, which are refused unless ``network.allow`` opens them.

The table follows IANA's special-purpose registries and adds the metadata services of clouds.
Python's ``is_global`` is not used: it treats several of these as public.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from ada_url import URL

from freshet.core.errors import SettingsError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

HIGHEST_PORT = 65_535
DEFAULT_PORTS = {"http:": 80, "https:": 443}
MAPPED_PREFIX = 96
RANGE_FORM = "a range such as 10.0.0.0/8 or 127.0.0.1/32:8000-8010"

_SPECIAL = tuple(
    (ip_network(network), purpose)
    for network, purpose in (
        ("169.254.169.254/32", "a cloud's metadata"),
        ("169.254.170.2/32", "a cloud's metadata"),
        ("100.100.100.200/32", "a cloud's metadata"),
        ("192.0.0.192/32", "a cloud's metadata"),
        ("168.63.129.16/32", "a cloud's metadata"),
        ("fd00:ec2::254/128", "a cloud's metadata"),
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.31.196.0/24", "reserved for name servers"),
        ("192.52.193.0/24", "a multicast relay"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "reserved for name servers"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "an IPv4 address in disguise"),
        ("::ffff:0:0:0/96", "an IPv4 address in disguise"),
        ("64:ff9b:1::/48", "behind a local NAT64"),
        ("100::/64", "for discarding"),
        ("2001::/32", "behind Teredo"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "behind 6to4"),
        ("2620:4f:8000::/48", "reserved for name servers"),
        ("3fff::/20", "for documentation"),
        ("5f00::/16", "for segment routing"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
_LOCAL_NAMES = ("localhost", "local", "localdomain", "internal", "home.arpa")
_LOW_32_BITS = 0xFFFF_FFFF


def special_purpose(address: Address | str) -> str | None:
    """Return the special purpose of an address, None if it is public.

    >>> special_purpose("10.1.2.3"), special_purpose("64:ff9b::7f00:1"), special_purpose("8.8.8.8")
    ('private', 'loopback', None)
    """
    plain = _connected_address(address)
    for network, purpose in _SPECIAL:
        if plain in network:
            return purpose
    if isinstance(plain, IPv4Address):
        return None
    if plain in _NAT64:
        return special_purpose(IPv4Address(int(plain) & _LOW_32_BITS))
    if plain not in _GLOBAL_V6:
        return "not assigned"
    return "behind ISATAP" if int(plain) >> 32 & _LOW_32_BITS in _ISATAP else None


@dataclass(frozen=True, slots=True)
class AddressRange:
    """A network with a range of ports."""

    network: Network
    first_port: int = 0
    last_port: int = HIGHEST_PORT


@dataclass(frozen=True, slots=True)
class AllowedRanges:
    """The special ranges that ``network.allow`` opens.

    >>> allowed = AllowedRanges.parse(["127.0.0.1/32:8000-8010", "fd00::/8"])
    >>> allowed.allows("127.0.0.1", 8003), allowed.allows("127.0.0.1", 80)
    (True, False)
    """

    ranges: tuple[AddressRange, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "AllowedRanges":
        """Parse ranges as written in the settings."""
        return cls(tuple(_parse_range(text) for text in texts))

    def allows(self, address: Address | str, port: int) -> bool:
        """Whether a special address may be connected to at a port."""
        plain = _connected_address(address)
        return any(plain in item.network for item in self._at(port))

    def allows_port(self, port: int) -> bool:
        """Whether any special address may be connected to at a port."""
        return any(self._at(port))

    def _at(self, port: int) -> Iterator[AddressRange]:
        return (item for item in self.ranges if item.first_port <= port <= item.last_port)


def why_address_refused(
    address: Address | str, port: int, allowed: AllowedRanges, *, display_name: str = ""
) -> str | None:
    """Describe why an address is refused at a port, None if it is allowed.

    ``display_name`` replaces the address in the text.

    >>> why_address_refused("127.0.0.1", 80, AllowedRanges())
    '127.0.0.1 is special (loopback); network.allow = ["127.0.0.1/32:80"] would open it'
    """
    purpose = special_purpose(address)
    if purpose is None or allowed.allows(address, port):
        return None
    plain = _connected_address(address)
    opening = f'network.allow = ["{plain}/{plain.max_prefixlen}:{port}"] would open it'
    subject = f"{display_name} is at a special address" if display_name else f"{plain} is special"
    return f"{subject} ({purpose}); {opening}"


def why_url_refused(url: str, allowed: AllowedRanges, *, display_name: str = "") -> str | None:
    """Describe why a URL is refused; None if it is allowed or its name has to be resolved.

    ``display_name`` replaces the host in the text.

    >>> why_url_refused("http://0x7f.1/", AllowedRanges.parse(["127.0.0.0/8"])) is None
    True
    >>> why_url_refused("file:///etc/passwd", AllowedRanges())
    'file: addresses are not fetched, only http: and https:'
    """
    try:
        parsed = URL(url)
    except ValueError:
        return f"{url[:200]!r} is not an address that can be fetched"
    if parsed.protocol not in DEFAULT_PORTS:
        return f"{parsed.protocol} addresses are not fetched, only http: and https:"
    port = int(parsed.port or DEFAULT_PORTS[parsed.protocol])
    address = _literal(parsed.hostname)
    if address is not None:
        return why_address_refused(address, port, allowed, display_name=display_name)
    if is_local_name(parsed.hostname) and not allowed.allows_port(port):
        host = display_name or parsed.hostname
        return f"{host} is a local name; network.allow opens what it resolves to"
    return None


def is_local_name(name: str) -> bool:
    """Whether a name is valid only on this machine or in this network.

    >>> is_local_name("printer"), is_local_name("db.internal."), is_local_name("example.org")
    (True, True, False)
    """
    name = name.rstrip(".").lower()
    return "." not in name or any(name.endswith("." + local) for local in _LOCAL_NAMES)


def _connected_address(address: Address | str) -> Address:
    """Return an address as the system connects to it: mapped IPv6 addresses become IPv4."""
    parsed = ip_address(address) if isinstance(address, str) else address
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return mapped or parsed


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def _parse_range(text: str) -> AddressRange:
    network, ports = _split_ports(text.strip())
    first, _, last = ports.partition("-")
    try:
        low = int(first) if ports else 0
        high = int(last or first) if ports else HIGHEST_PORT
        item = AddressRange(_unmapped(ip_network(network)), low, high)
    except ValueError as error:
        raise SettingsError(
            f"network.allow: {text!r} is none ({error}); give {RANGE_FORM}"
        ) from None
    if not 0 <= low <= high <= HIGHEST_PORT:
        raise SettingsError(f"network.allow: {text!r} has no such ports; give {RANGE_FORM}")
    return item


def _unmapped(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    """Return the IPv4 network that a mapped IPv6 network stands for.

    >>> _unmapped(ip_network("::ffff:10.0.0.0/104"))
    IPv4Network('10.0.0.0/8')
    """
    first = _connected_address(network.network_address)
    if network.version == first.version or network.prefixlen < MAPPED_PREFIX:
        return network
    return ip_network(f"{first}/{network.prefixlen - MAPPED_PREFIX}")


def _split_ports(text: str) -> tuple[str, str]:
    """Split a network from its ports; an IPv6 address with ports has a prefix or brackets."""
    address, slash, suffix = text.partition("/")
    if slash:
        prefix, _, ports = suffix.partition(":")
        return f"{address.strip('[]')}/{prefix}", ports
    if text.startswith("["):
        address, _, ports = text[1:].partition("]")
        return address, ports.removeprefix(":")
    if text.count(":") == 1:
        address, _, ports = text.partition(":")
        return address, ports
    return text, ""
