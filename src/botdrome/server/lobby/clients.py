"""Clients that have logged in, by any protocol.

The operator sees and removes them, and they end with their token.
"""

from collections.abc import Callable
from itertools import count
from time import time

from botdrome.server.network.connection import Traffic
from botdrome.store.entries import Epoch

End = Callable[[], None]


def no_match() -> str | None:
    return None


class ConnectedClient:
    """One client, from its login to its last message."""

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
        """`remove` gets the reason.

        `match` returns its match. `end` is called when its token changes; None: no token.
        """
        self.protocol, self.name, self.game, self.address = protocol, name, game, address
        self.traffic, self.remove, self.match, self.end = traffic, remove, match, end
        self.number = 0
        self.since: Epoch = int(time() * 1000)


class ConnectedClients:
    def __init__(self) -> None:
        self._clients: dict[int, ConnectedClient] = {}
        self._numbers = count(1)

    def __len__(self) -> int:
        return len(self._clients)

    def __getitem__(self, number: int) -> ConnectedClient | None:
        return self._clients.get(number)

    @property
    def all(self) -> list[ConnectedClient]:
        """All clients in the order of their logins."""
        return list(self._clients.values())

    def enter(self, client: ConnectedClient) -> End:
        """List a client until the returned function is called."""
        number = client.number = next(self._numbers)
        self._clients[number] = client
        return lambda: self._leave(number)

    def _leave(self, number: int) -> None:
        self._clients.pop(number, None)

    def end_logins(self, name: str) -> None:
        """End the sessions of a bot whose token was changed."""
        for client in self.all:
            if client.name == name and client.end is not None:
                self._leave(client.number)
                client.end()


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
