"""The name resolver that stands before every connection: refused addresses are never handed out.

Twisted asks it for literals too, and connects to what it answers, so the address that was checked
is the address that is used. Scrapy takes it by ``TWISTED_DNS_RESOLVER``.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from scrapy.crawler import Crawler
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.base import ReactorBase
from twisted.internet.interfaces import (
    IAddress,
    IHostnameResolver,
    IHostResolution,
    IResolutionReceiver,
)
from zope.interface import implementer

from freshet.core.clock import monotonic_seconds
from freshet.core.errors import SettingsError
from freshet.fetch.network.addresses import AllowedRanges, why_address_refused

ALLOW = "FRESHET_ALLOW"
RESOLVER = "freshet.fetch.network.guard.AddressGuard"
CACHE_SECONDS = 60.0
LOOKUP_SECONDS = 10.0
MAX_CACHED_NAMES = 10_000

Types = Sequence[type[IAddress]]


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """The addresses that a name had when it was last looked up, and how long that holds."""

    addresses: tuple[IPv4Address | IPv6Address, ...]
    expires: float


@implementer(IHostResolution)
class NameLookup:
    """A name being looked up; it cannot be called off, only left unheard."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Refuse: a lookup in a thread runs to its end."""
        raise NotImplementedError


@implementer(IResolutionReceiver)
class AddressCollector:
    """Collects what a lookup finds, and hands it on when that is all."""

    def __init__(self, complete: Callable[[list[IAddress]], None]) -> None:
        self._complete = complete
        self._found: list[IAddress] = []

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:
        """Note nothing: whoever asked has heard that it began."""

    def addressResolved(self, address: IAddress) -> None:
        """Keep an address."""
        self._found.append(address)

    def resolutionComplete(self) -> None:
        """Hand over all addresses."""
        self._complete(self._found)


@implementer(IHostnameResolver)
class AddressGuard:
    """Looks names up in a thread, and lets pass only addresses that may be asked at the port."""

    def __init__(
        self, reactor: ReactorBase, allowed: AllowedRanges, lookup: IHostnameResolver
    ) -> None:
        self.allowed = allowed
        self._reactor = reactor
        self._lookup = lookup
        self._known: dict[str, ResolvedName] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> "AddressGuard":
        """Make it with the ranges that the settings open."""
        return cls(
            reactor, AllowedRanges.parse(crawler.settings.getlist(ALLOW)), reactor.nameResolver
        )

    def install_on_reactor(self) -> None:
        """Become the resolver of everything that connects."""
        self._reactor.installNameResolver(self)

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Types | None = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        """Hand over the addresses of a name that may be asked at the port."""
        resolution = NameLookup(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        hand_over = partial(self._hand_over, resolutionReceiver, portNumber, addressTypes)
        known = self._known.get(hostName.lower())
        if not is_resolvable_name(hostName):
            hand_over(())
        elif known is not None and monotonic_seconds() < known.expires:
            hand_over(known.addresses)
        else:
            gathering = AddressCollector(lambda found: hand_over(self._remember(hostName, found)))
            self._lookup.resolveHostName(gathering, hostName, 0)
        return resolution

    async def why_proxied_refused(self, host: str, port: int) -> str | None:
        """Say why a name may not be asked for through a proxy, None where it may.

        A proxy resolves names by itself, so that none of a name's addresses may be a refused one. A
        name that has no address here is left to the proxy.
        """
        addresses = await self._look_up(host)
        whys = (why_address_refused(address.host, port, self.allowed) for address in addresses)
        return next((f"{host}: {why}" for why in whys if why), None)

    async def _look_up(self, name: str) -> tuple[IPv4Address | IPv6Address, ...]:
        known = self._known.get(name.lower())
        if known is not None and monotonic_seconds() < known.expires:
            return known.addresses
        found: asyncio.Future[list[IAddress]] = asyncio.get_running_loop().create_future()
        gathering = AddressCollector(
            lambda items: None if found.done() else found.set_result(items)
        )
        self._lookup.resolveHostName(gathering, name, 0)
        try:
            return self._remember(name, await asyncio.wait_for(found, LOOKUP_SECONDS))
        except TimeoutError:
            return ()

    def why_refused(self, host: str, port: int, *, display_name: str = "") -> str | None:
        """Say why none of a name's addresses may be asked, None where it has none or one may.

        ``display_name`` is what the name is called in the text, where not by itself.
        """
        known = self._known.get(host.lower())
        whys = (
            [
                why_address_refused(item.host, port, self.allowed, display_name=display_name)
                for item in known.addresses
            ]
            if known
            else []
        )
        if not whys or not all(whys):
            return None
        return whys[0] if display_name else f"{host}: {whys[0]}"

    def _hand_over(
        self,
        receiver: IResolutionReceiver,
        port: int,
        types: Types | None,
        addresses: Sequence[IPv4Address | IPv6Address],
    ) -> None:
        for address in addresses:
            wanted = types is None or isinstance(address, tuple(types))
            if wanted and why_address_refused(address.host, port, self.allowed) is None:
                receiver.addressResolved(type(address)("TCP", address.host, port))
        receiver.resolutionComplete()

    def _remember(
        self, name: str, found: Sequence[IAddress]
    ) -> tuple[IPv4Address | IPv6Address, ...]:
        addresses = tuple(item for item in found if isinstance(item, IPv4Address | IPv6Address))
        while len(self._known) >= MAX_CACHED_NAMES:
            del self._known[next(iter(self._known))]
        self._known[name.lower()] = ResolvedName(addresses, monotonic_seconds() + CACHE_SECONDS)
        return addresses


def is_resolvable_name(host: str) -> bool:
    """Whether a host's name can be looked up: no label of it is empty or too long.

    >>> is_resolvable_name("a.example."), is_resolvable_name("::1"), is_resolvable_name("a..b"), is_resolvable_name("a" * 64 + ".example")
    (True, True, False, False)
    """
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return True


def installed_guard(reactor: ReactorBase) -> AddressGuard:
    """Return the guard that a reactor connects through; an error where there is none."""
    guard = reactor.nameResolver
    if not isinstance(guard, AddressGuard):
        raise SettingsError(
            f"TWISTED_DNS_RESOLVER: {type(guard).__name__} lets requests reach special addresses;"
            f" leave it to Freshet, or set it to {RESOLVER}"
        )
    return guard
