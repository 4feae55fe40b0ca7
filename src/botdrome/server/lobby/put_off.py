"""Clients that asked for a table while no match may begin."""

import asyncio
from typing import TYPE_CHECKING

from botdrome.contest.lobby import Seeker
from botdrome.server.lobby.waiting_client import WaitingClient
from botdrome.server.network.connection import GOING, TRY_LATER

if TYPE_CHECKING:
    from botdrome.server.lobby.desk import Desk

RETRY = 1.0
"""Seconds until a table is tried again if no match could begin."""


class PutOffClients:
    """Most clients are told and closed.

    Clients of the original connect again after any close, at once and for ever.

    So their sockets stay open in silence: until matches may begin again, or until the server has
    stopped.
    """

    def __init__(self, desk: "Desk") -> None:
        self._desk, self._silent = desk, set[WaitingClient]()

    def add(self, client: WaitingClient, seeker: Seeker, words: str, code: int = TRY_LATER) -> None:
        """`seeker` is what the client asked for, and `words` say why no match begins, or none with
        it.
        """
        stopping = self._desk.closing
        client.put_off({"error": words}, GOING if stopping else code)
        if client.present:
            self._silent.add(client)
            if not stopping:
                asyncio.get_running_loop().call_later(RETRY, self._seek_again, client, seeker)

    def _seek_again(self, client: WaitingClient, seeker: Seeker) -> None:
        if not self._desk.closing:
            self._silent.discard(client)
            if client.present:
                self._desk.seek_again(client, seeker)

    def close(self) -> None:
        """The server has stopped."""
        silent, self._silent = self._silent, set()
        for client in silent:
            client.turn_away({})
