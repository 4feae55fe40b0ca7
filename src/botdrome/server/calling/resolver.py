"""The resolver: from a host name to the endpoints that the address filter allows. Only resolved addresses are called."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

from botdrome.server.calling.address_filter import AddressFilter
from botdrome.server.calling.answer import CallFailed, NotAllowed
from botdrome.server.calling.connection_pool import BotEndpoint, ConnectionPool
from botdrome.server.calling.request import Address, Target, plain_address

CACHE_SECONDS = 30.0
MOST_CACHED = 4000
MOST_LOOKUPS = 32
LOCALHOST = ("127.0.0.1", "::1")

Lookup = Callable[[str], Awaitable[list[str]]]


async def system_lookup(host: str) -> list[str]:
    """The addresses of a host; empty if it is unknown."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Resolver:
    def __init__(self, address_filter: AddressFilter, pool: ConnectionPool, lookup: Lookup) -> None:
        self._filter, self._pool, self._lookup = address_filter, pool, lookup
        self._cache: dict[tuple[str, str, int], tuple[float, list[BotEndpoint]]] = {}
        self._pending: dict[str, asyncio.Future[list[Address]]] = {}
        self._loop = asyncio.get_running_loop()

    def cached(self, target: Target) -> list[BotEndpoint] | None:
        known = self._cache.get(target.origin)
        return known[1] if known is not None and known[0] > self._loop.time() else None

    async def resolve(self, target: Target) -> list[BotEndpoint]:
        """Raise NotAllowed if the filter allows no address of the host."""
        endpoints = self.cached(target)
        if endpoints is None:
            found = [target.address] if target.address else await self._addresses(target.host)
            endpoints = self._allowed(found, target)
            if len(self._cache) >= MOST_CACHED:
                self._cache.clear()
            self._cache[target.origin] = self._loop.time() + CACHE_SECONDS, endpoints
        return endpoints

    def prefer(self, target: Target, endpoint: BotEndpoint) -> None:
        """Try the endpoint that answered first from now on."""
        known = self._cache.get(target.origin)
        if known is not None and known[1][0] != endpoint:
            known[1].sort(key=lambda other: other != endpoint)

    def clear_cache(self) -> None:
        self._cache.clear()

    def _allowed(self, addresses: list[Address], target: Target) -> list[BotEndpoint]:
        refusal, endpoints = CallFailed(f"there is no host {target.host}"), []
        self._filter.check_port(target.port)
        for address in addresses:
            try:
                self._filter.check(address, target.host, target.port)
            except NotAllowed as problem:
                refusal = problem
            else:
                endpoints.append(self._pool.endpoint(str(address), target.port, target.host if target.tls else ""))
        if not endpoints:
            raise refusal
        return endpoints

    async def _addresses(self, host: str) -> list[Address]:
        """Concurrent calls to one host share a lookup."""
        pending = self._pending.get(host)
        if pending is None:
            if len(self._pending) >= MOST_LOOKUPS:
                raise CallFailed("too many hosts are being looked up")
            pending = self._pending[host] = asyncio.ensure_future(self._look_up(host))
            pending.add_done_callback(lambda _: self._pending.pop(host, None))
        return await asyncio.shield(pending)

    async def _look_up(self, host: str) -> list[Address]:
        local = host == "localhost" or host.endswith(".localhost")
        return [plain_address(text) for text in (LOCALHOST if local else await self._lookup(host))]
