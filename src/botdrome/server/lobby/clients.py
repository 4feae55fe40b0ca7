"""Clients: who has logged in, by any protocol. An operator sees and removes them; those with a token end with it."""

from collections.abc import Callable
from itertools import count
from time import time

from botdrome.server.lobby.logins import End
from botdrome.server.network.traffic import Traffic
from botdrome.store.store import Epoch


def no_match() -> str | None:
    return None


class ConnectedClient:
    """One client, from its login to its last message."""

    __slots__ = ("address", "end", "game", "match", "name", "number", "protocol", "remove", "since", "traffic")

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
        """`remove` is told why. `match` tells which one it plays. `end` is called when its token changes; None: it has none."""
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
        """In the order of their logins."""
        return list(self._clients.values())

    def enter(self, client: ConnectedClient) -> End:
        """List a client until the function that this returns is called."""
        number = client.number = next(self._numbers)
        self._clients[number] = client
        return lambda: self._leave(number)

    def _leave(self, number: int) -> None:
        self._clients.pop(number, None)

    def end_logins(self, name: str) -> None:
        """The token of this bot was changed."""
        for client in self.all:
            if client.name == name and client.end is not None:
                self._leave(client.number)
                client.end()
