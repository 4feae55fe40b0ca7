"""Clients that have logged in, by any protocol, and the owners of the seats that they take.

The operator sees and removes clients, and they end with their token.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from functools import partial
from itertools import count
from time import time
from typing import Protocol

from botdrome.match.events import Player
from botdrome.server.network.connection import Traffic
from botdrome.store.entries import BotEntry, Epoch, MatchEntry, hashed

End = Callable[[], None]


def no_match() -> str | None:
    return None


class ListedClient(Protocol):
    """One client, from its login to its last message. A session is one itself."""

    number: int
    """Its number in the list."""
    since: Epoch

    @property
    def protocol(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def game(self) -> str: ...

    @property
    def address(self) -> str: ...

    @property
    def traffic(self) -> Traffic: ...

    @property
    def end(self) -> End | None:
        """Called when its token changes; None: it has no token."""

    def match(self) -> str | None:
        """Return the id of its match."""

    def remove(self, words: str, /) -> None:
        """Close its connection for this reason."""


class ConnectedClient:
    """A client that is no session."""

    __slots__ = (
        "address",
        "end",
        "game",
        "match",
        "name",
        "number",
        "protocol",
        "remove",
        "since",
        "traffic",
    )

    def __init__(
        self,
        protocol: str,
        name: str,
        game: str,
        address: str,
        traffic: Traffic,
        remove: Callable[[str], None],
        match: Callable[[], str | None] = no_match,
        end: End | None = None,
    ) -> None:
        self.protocol, self.name, self.game, self.address = protocol, name, game, address
        self.traffic, self.remove, self.match, self.end = traffic, remove, match, end
        self.number = 0
        self.since: Epoch = int(time() * 1000)


class ConnectedClients:
    def __init__(self) -> None:
        self._clients: dict[int, ListedClient] = {}
        self._numbers = count(1)

    def __len__(self) -> int:
        return len(self._clients)

    def __getitem__(self, number: int) -> ListedClient | None:
        return self._clients.get(number)

    @property
    def all(self) -> list[ListedClient]:
        """All clients in the order of their logins."""
        return list(self._clients.values())

    def enter(self, client: ListedClient) -> End:
        """List a client until the returned function is called."""
        self.add(client)
        return partial(self.leave, client.number)

    def add(self, client: ListedClient) -> None:
        """List a client until `leave` is called with its number."""
        number = client.number = next(self._numbers)
        self._clients[number] = client

    def leave(self, number: int) -> None:
        self._clients.pop(number, None)

    def end_logins(self, name: str) -> None:
        """End the sessions of a bot whose token was changed."""
        for client in self.all:
            if client.name == name and (end := client.end) is not None:
                self.leave(client.number)
                end()


class Logins:
    """Sessions under a key, such as the secret of a guest. They can be ended together."""

    def __init__(self) -> None:
        self._ends: dict[str, dict[object, End]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._ends.values()))

    def enter(self, name: str, end: End) -> End:
        """Call `end` when the sessions of this name are ended, until the returned function is
        called.
        """
        key = object()
        self._ends.setdefault(name, {})[key] = end

        def leave() -> None:
            ends = self._ends.get(name, {})
            ends.pop(key, None)
            if not ends:
                self._ends.pop(name, None)

        return leave

    def end(self, name: str) -> None:
        for end in tuple(self._ends.pop(name, {}).values()):
            end()


def no_login() -> None:
    """The end of a session that is in no list."""


# Owners of seats, and of their flight records.
#
# A name proves nothing, because a guest's name may be registered while it plays, or later. So a
# seat belongs to the bot that was registered when the seat was taken, or to a guest that can show
# its secret again, or to nobody.

NOBODY = ""
"""The owner of the seats of house bots, and of guests without a secret."""
BOT, GUEST = "bot", "guest"
OF_GUEST = f"{GUEST} "


def bot_owner(bot: BotEntry) -> str:
    """The time of registration tells a bot from a later one of the same name."""
    return f"{BOT} {bot.registered} {bot.name}"


def guest_owner(*shown: str | None) -> str:
    """Return the owner for a guest with these secrets. Any one of them proves it."""
    salt = secrets.token_hex(8)
    hashes = [_hashed(salt, secret) for secret in shown if secret]
    return " ".join([GUEST, salt, *hashes]) if hashes else NOBODY


def is_guests(owner: str, secret: str) -> bool:
    """Whether this is a secret of the guest that owns the seat."""
    kind, *rest = owner.split(" ")
    if kind != GUEST or not secret:
        return False
    salt, *hashes = rest
    return any(hmac.compare_digest(known, _hashed(salt, secret)) for known in hashes)


def is_of_guest(owner: str) -> bool:
    """Whether the seat belongs to a guest with a secret."""
    return owner.startswith(OF_GUEST)


def is_another_bots(owner: str, other: str) -> bool:
    """Whether `owner` is a registered bot, and not the owner of the other seat."""
    return owner.startswith(f"{BOT} ") and owner != other


def is_bots(entry: MatchEntry, seat: int, bot: BotEntry) -> bool:
    """Whether a seat is this bot's.

    Where an older store names no owners, a bot owns what it played since it registered.
    """
    if entry.owners:
        return entry.owners[seat] == bot_owner(bot)
    return entry.players[seat] == bot.name and bot.registered <= entry.started


def rematch_invite(entry: MatchEntry) -> str:
    """Return the word by which the guests of a match meet again.

    Nobody can guess it, because the owners of guests' seats have secrets.
    """
    return hashed(" ".join(("rematch", entry.id, *entry.owners)))[:32]


def seat_of(entry: MatchEntry, owner: str, secret: str) -> int | None:
    """Return the seat of an owner, or of a guest with this secret."""
    owners = enumerate(entry.owners)
    return next(
        (player for player, seat in owners if (seat and seat == owner) or is_guests(seat, secret)),
        None,
    )


def seat_key(match_id: str, player: Player) -> str:
    return f"{match_id} {player}"


def _hashed(salt: str, secret: str) -> str:
    return hashlib.sha256(f"{salt} {secret}".encode(errors="surrogatepass")).hexdigest()
