"""Looking up: from the name of a host to the places that may be called. Done once for a call, and only those are called."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

from botdrome.server.calling.answer import CallFailed, NotAllowed
from botdrome.server.calling.fence import Fence
from botdrome.server.calling.place import Place, Places
from botdrome.server.calling.target import Address, Target, plain_address

KEPT_FOR = 30.0
"""Seconds for which a name need not be looked up again."""
MOST_KEPT = 4000
MOST_AT_ONCE = 32
LOCALHOST = ("127.0.0.1", "::1")

Lookup = Callable[[str], Awaitable[list[str]]]


async def ask_the_system(host: str) -> list[str]:
    """The addresses of a host, as the system gives them."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class AddressBook:
    def __init__(self, fence: Fence, places: Places, lookup: Lookup) -> None:
        self._fence, self._places, self._lookup = fence, places, lookup
        self._known: dict[tuple[str, str, int], tuple[float, list[Place]]] = {}
        self._pending: dict[str, asyncio.Future[list[Address]]] = {}
        self._loop = asyncio.get_running_loop()

    def at_hand(self, target: Target) -> list[Place] | None:
        """The places to call, where they were found and checked a moment ago."""
        known = self._known.get(target.origin)
        return known[1] if known is not None and known[0] > self._loop.time() else None

    async def find(self, target: Target) -> list[Place]:
        """NotAllowed where no address of the host may be called."""
        places = self.at_hand(target)
        if places is None:
            found = [target.address] if target.address else await self._found(target.host)
            places = self._checked(found, target)
            self._keep(target, places)
        return places

    def prefer(self, target: Target, place: Place) -> None:
        """This one answered: try it first from now on."""
        known = self._known.get(target.origin)
        if known is not None and known[1][0] != place:
            known[1].sort(key=lambda other: other != place)

    def forget(self) -> None:
        self._known.clear()

    def _keep(self, target: Target, places: list[Place]) -> None:
        if len(self._known) >= MOST_KEPT:
            self._known.clear()
        self._known[target.origin] = self._loop.time() + KEPT_FOR, places

    def _checked(self, addresses: list[Address], target: Target) -> list[Place]:
        refusal, places = CallFailed(f"there is no host {target.host}"), []
        self._fence.check_port(target.port)
        for address in addresses:
            try:
                self._fence.check(address, target.host, target.port)
            except NotAllowed as problem:
                refusal = problem
            else:
                places.append(self._places.at(str(address), target.port, target.host if target.tls else ""))
        if not places:
            raise refusal
        return places

    async def _found(self, host: str) -> list[Address]:
        """Those who want the same name wait for one look-up."""
        pending = self._pending.get(host)
        if pending is None:
            if len(self._pending) >= MOST_AT_ONCE:
                raise CallFailed("too many hosts are being looked up")
            pending = self._pending[host] = asyncio.ensure_future(self._look_up(host))
            pending.add_done_callback(lambda _: self._pending.pop(host, None))
        return await asyncio.shield(pending)

    async def _look_up(self, host: str) -> list[Address]:
        local = host == "localhost" or host.endswith(".localhost")
        return [plain_address(text) for text in (LOCALHOST if local else await self._lookup(host))]
