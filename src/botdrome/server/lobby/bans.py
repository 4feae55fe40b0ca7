"""Bans: names and addresses that may not play here, kept in the store."""

from collections.abc import Callable
from datetime import UTC, datetime
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from time import time
from typing import Literal

import msgspec
from msgspec import Struct

from botdrome.server.network.connection import source_of
from botdrome.server.workers.jobs import CLIENT
from botdrome.store.entries import Epoch, Note, look_alike
from botdrome.store.store import Store

BOOK = "bans"
MAPPED = 96
"""Bits of an IPv6 address before the IPv4 address that it holds."""
LONGEST = 500
"""Characters of a name and of a reason.

Each login is compared with the names, and may be told the reason.
"""
Kind = Literal["name", "address"]


class BadBan(Exception):
    """An invalid ban, with the reason."""


class Ban(Struct, frozen=True):
    kind: Kind
    subject: str
    """A name; or an address or a network, as `ipaddress` writes them."""
    reason: str
    made: Epoch
    until: Epoch | None = None
    """None: until it is lifted."""

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.subject}"

    def words(self) -> str:
        whom = self.subject if self.kind == "name" else "your address"
        end = (
            ""
            if self.until is None
            else f", until {datetime.fromtimestamp(self.until // 1000, UTC):%Y-%m-%d %H:%M} UTC"
        )
        return f"{whom} is banned from this server{end}" + (
            f": {self.reason}" if self.reason else ""
        )


class Bans:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._bans: dict[str, Ban] = {}
        self._networks: dict[str, IPv4Network | IPv6Network] = {}
        self.on_change: list[Callable[[Ban | None], None]] = []
        """Called with each new ban, and with None when one is lifted."""

    async def load(self) -> None:
        found = (await self._store.notes(BOOK)).values()
        self._bans.clear()
        self._networks.clear()
        for value in found:
            self._add(msgspec.convert(value, Ban))

    @property
    def all(self) -> list[Ban]:
        """Bans in force, the newest first."""
        now = _now()
        return sorted(
            (ban for ban in self._bans.values() if _holds(ban, now)), key=lambda ban: -ban.made
        )

    def refusal(self, *names: str) -> str:
        """Return why a client may not play under these names from its address; empty if it may."""
        if not self._bans:
            return ""
        return self.address_refusal() or next(
            (words for name in names if (words := self.name_refusal(name))), ""
        )

    def name_refusal(self, name: str) -> str:
        """Return why this name is banned; empty if it is not."""
        ban = self._of_name(name)
        return "" if ban is None else ban.words()

    def address_refusal(self) -> str:
        source = CLIENT.get().source
        if not self._networks or not source:
            return ""
        return next((ban.words() for ban in self._of_source(source)), "")

    def covers_address(self, address: str) -> bool:
        """Whether clients at this address are banned, and bots there are not called."""
        return bool(self._networks) and bool(self._of_source(address))

    def covers(self, ban: Ban, name: str, address: str) -> bool:
        """Whether a ban covers a client with this name at this address."""
        if ban.kind == "name":
            return _same(ban.subject, name)
        return _overlap(ip_network(ban.subject), address)

    async def add(self, kind: Kind, subject: str, reason: str, until: Epoch | None) -> Ban:
        """Add a ban, or raise BadBan if there is no such name or address."""
        for what, text in ((kind, subject), ("reason", reason)):
            if len(text) > LONGEST:
                raise BadBan(f"the {what} has at most {LONGEST} characters, not {len(text)}")
        ban = Ban(kind, checked(kind, subject), reason, _now(), until)
        await self._store.keep([Note(BOOK, ban.key, msgspec.to_builtins(ban))])
        self._add(ban)
        self._tell(ban)
        return ban

    async def lift(self, kind: Kind, subject: str) -> Ban | None:
        """Lift a ban and return it; None if there is no such ban."""
        ban = self._bans.get(f"{kind}:{checked(kind, subject)}")
        if ban is not None:
            await self._store.strike(BOOK, [ban.key])
            self._bans.pop(ban.key, None)
            self._networks.pop(ban.key, None)
            self._tell(None)
        return ban

    def _tell(self, made: Ban | None) -> None:
        for tell in self.on_change:
            tell(made)

    def _add(self, ban: Ban) -> None:
        self._bans[ban.key] = ban
        if ban.kind == "address":
            self._networks[ban.key] = ip_network(ban.subject)

    def _of_name(self, name: str) -> Ban | None:
        now = _now()
        for ban in self._bans.values():
            if ban.kind == "name" and _holds(ban, now) and _same(ban.subject, name):
                return ban
        return None

    def _of_source(self, source: str) -> list[Ban]:
        now = _now()
        found = [
            self._bans[key] for key, network in self._networks.items() if _overlap(network, source)
        ]
        return [ban for ban in found if _holds(ban, now)]


def checked(kind: Kind, subject: str) -> str:
    """Return the subject of a ban in its normal form, or raise BadBan."""
    if kind == "name":
        if not subject.strip():
            raise BadBan("the name is empty")
        return subject
    try:
        if "/" in subject:
            return str(_plain(ip_network(subject.strip(), strict=False)))
        return source_of(str(ip_address(subject.strip())))[0]
    except ValueError:
        raise BadBan(
            f"{subject!r} is neither an address (192.0.2.7) nor a network (192.0.2.0/24)"
        ) from None


def _plain(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    """Return an IPv4 network for IPv4 addresses that are written in IPv6, since clients are known
    by the former.
    """
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    return (
        network
        if mapped is None or network.prefixlen < MAPPED
        else IPv4Network((mapped, network.prefixlen - MAPPED))
    )


def _same(banned: str, name: str) -> bool:
    """Return whether a name looks like the banned one, in capitals or not."""
    one, other = banned.casefold(), name.casefold()
    return one == other or look_alike(one, other)


def _overlap(network: IPv4Network | IPv6Network, source: str) -> bool:
    try:
        found = ip_network(source_of(source)[0])
    except ValueError:
        return False
    return network.overlaps(found) if network.version == found.version else False


def _holds(ban: Ban, now: Epoch) -> bool:
    return ban.until is None or ban.until > now


def _now() -> Epoch:
    return int(time() * 1000)
