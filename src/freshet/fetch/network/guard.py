"""The name resolver of all connections; it never returns refused addresses.

Twisted also resolves literal addresses here and connects to the result, so the checked address is
the one that is used. Scrapy installs it through ``TWISTED_DNS_RESOLVER``.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
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
RESOLVER_SETTING = "TWISTED_DNS_RESOLVER"
RESOLVER = "freshet.fetch.network.guard.AddressGuard"
CACHE_SECONDS = 60.0
LOOKUP_SECONDS = 10.0
MAX_CACHED_NAMES = 10_000

Types = Sequence[type[IAddress]]

# One guard serves all crawlers of a process, and their collections may allow different ranges.
_ranges_of_crawler: ContextVar[AllowedRanges] = ContextVar("ranges_of_crawler")


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """The addresses of a name from the last lookup, and when they expire."""

    addresses: tuple[IPv4Address | IPv6Address, ...]
    expires: float


@implementer(IHostResolution)
class NameLookup:
    """A name lookup in progress; it cannot be cancelled."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Refuse: a lookup in a thread runs to its end."""
        raise NotImplementedError


@implementer(IResolutionReceiver)
class AddressCollector:
    """Collects the addresses of a lookup, and passes them on when it is complete."""

    def __init__(self, complete: Callable[[list[IAddress]], None]) -> None:
        self._complete = complete
        self._found: list[IAddress] = []

    def resolutionBegan(self, resolutionInProgress: IHostResolution) -> None:
        """Do nothing: the caller knows that the lookup began."""

    def addressResolved(self, address: IAddress) -> None:
        """Add an address."""
        self._found.append(address)

    def resolutionComplete(self) -> None:
        """Pass on all addresses."""
        self._complete(self._found)


@implementer(IHostnameResolver)
class AddressGuard:
    """Resolves names in a thread, and returns only addresses that are allowed at the port."""

    def __init__(
        self, reactor: ReactorBase, allowed: AllowedRanges, lookup: IHostnameResolver
    ) -> None:
        self._allowed = allowed
        self._reactor = reactor
        self._lookup = lookup
        self._cache: dict[str, ResolvedName] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> "AddressGuard":
        """Create the guard with the ranges that the settings allow."""
        return cls(reactor, allowed_ranges(crawler.settings), reactor.nameResolver)

    @property
    def allowed(self) -> AllowedRanges:
        """The ranges of the crawler that makes the current request, else those of the process."""
        return _ranges_of_crawler.get(self._allowed)

    def install_on_reactor(self) -> None:
        """Become the resolver of all connections."""
        self._reactor.installNameResolver(self)

    def resolveHostName(
        self,
        resolutionReceiver: IResolutionReceiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Types | None = None,
        transportSemantics: str = "TCP",
    ) -> IHostResolution:
        """Return the addresses of a name that are allowed at the port."""
        resolution = NameLookup(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        # A lookup ends in another context, so the ranges are read here.
        deliver = partial(self._deliver, resolutionReceiver, self.allowed, portNumber, addressTypes)
        cached_name = self._cache.get(hostName.lower())
        if not is_resolvable_name(hostName):
            deliver(())
        elif cached_name is not None and monotonic_seconds() < cached_name.expires:
            deliver(cached_name.addresses)
        else:
            collector = AddressCollector(
                lambda addresses: deliver(self._cache_addresses(hostName, addresses))
            )
            self._lookup.resolveHostName(collector, hostName, 0)
        return resolution

    async def why_proxied_refused(self, host: str, port: int) -> str | None:
        """Describe why a name is refused for a request through a proxy, None if it is allowed.

        A proxy resolves names itself, so a name with any refused address is refused. A name that
        has no address here is left to the proxy.
        """
        addresses = await self._look_up(host)
        whys = (why_address_refused(address.host, port, self.allowed) for address in addresses)
        return next((f"{host}: {why}" for why in whys if why), None)

    async def _look_up(self, name: str) -> tuple[IPv4Address | IPv6Address, ...]:
        cached_name = self._cache.get(name.lower())
        if cached_name is not None and monotonic_seconds() < cached_name.expires:
            return cached_name.addresses
        future: asyncio.Future[list[IAddress]] = asyncio.get_running_loop().create_future()
        collector = AddressCollector(
            lambda addresses: None if future.done() else future.set_result(addresses)
        )
        self._lookup.resolveHostName(collector, name, 0)
        try:
            return self._cache_addresses(name, await asyncio.wait_for(future, LOOKUP_SECONDS))
        except TimeoutError:
            return ()

    def why_refused(self, host: str, port: int, *, display_name: str = "") -> str | None:
        """Describe why all addresses of a name are refused, None if one is allowed or none exists.

        ``display_name`` replaces the name in the text.
        """
        cached_name = self._cache.get(host.lower())
        whys = (
            [
                why_address_refused(item.host, port, self.allowed, display_name=display_name)
                for item in cached_name.addresses
            ]
            if cached_name
            else []
        )
        if not whys or not all(whys):
            return None
        return whys[0] if display_name else f"{host}: {whys[0]}"

    def _deliver(
        self,
        receiver: IResolutionReceiver,
        allowed: AllowedRanges,
        port: int,
        types: Types | None,
        addresses: Sequence[IPv4Address | IPv6Address],
    ) -> None:
        for address in addresses:
            wanted = types is None or isinstance(address, tuple(types))
            if wanted and why_address_refused(address.host, port, allowed) is None:
                receiver.addressResolved(type(address)("TCP", address.host, port))
        receiver.resolutionComplete()

    def _cache_addresses(
        self, name: str, resolved: Sequence[IAddress]
    ) -> tuple[IPv4Address | IPv6Address, ...]:
        addresses = tuple(item for item in resolved if isinstance(item, IPv4Address | IPv6Address))
        while len(self._cache) >= MAX_CACHED_NAMES:
            del self._cache[next(iter(self._cache))]
        self._cache[name.lower()] = ResolvedName(addresses, monotonic_seconds() + CACHE_SECONDS)
        return addresses


def allowed_ranges(settings: BaseSettings) -> AllowedRanges:
    """Return the special ranges that Scrapy settings allow."""
    return AllowedRanges.parse(settings.getlist(ALLOW))


def use_allowed_ranges(allowed: AllowedRanges) -> None:
    """Let the guard use these ranges in the current task."""
    _ranges_of_crawler.set(allowed)


def is_resolvable_name(host: str) -> bool:
    """Whether a name can be resolved: no label is empty or too long.

    >>> is_resolvable_name("a.example."), is_resolvable_name("::1")
    (True, True)
    >>> is_resolvable_name("a..b"), is_resolvable_name("a" * 64 + ".example")
    (False, False)
    """
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return True


def require_resolver(settings: BaseSettings) -> None:
    """Raise an error if the add-on was enabled after the resolver of the process was chosen."""
    if settings.getpriority(RESOLVER_SETTING) == SETTINGS_PRIORITIES["default"]:
        raise SettingsError(
            "ADDONS: a spider's custom_settings are read too late to install the address guard;"
            " put ADDONS into settings.py, or give it with -s"
        )


def installed_guard(reactor: ReactorBase) -> AddressGuard:
    """Return the guard of a reactor; raise an error if there is none."""
    guard = reactor.nameResolver
    if not isinstance(guard, AddressGuard):
        raise SettingsError(
            f"{RESOLVER_SETTING}: {type(guard).__name__} lets requests reach special addresses;"
            f" leave it to Freshet, or set it to {RESOLVER}"
        )
    return guard
