"""Bots in this process that join a server."""

from collections.abc import Callable
from typing import Any

from botdrome.app import RunningServer
from botdrome.catalogue import CATALOGUE
from botdrome.client.join import Join, JoinWish, RemotePlayer
from botdrome.offline.remote_player import FunctionPlayer, remote_player
from botdrome.offline.seats import FunctionSeat
from tests.server.clients import registered

AT_ONCE = (0.0,)


class Shown:
    """What the user would be shown."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.players: list[Any] = []

    def say(self, words: str) -> None:
        self.said.append(words)

    async def show_match(self, player: RemotePlayer) -> None:
        self.players.append(player)


async def joining(
    house: RunningServer,
    bot: Callable[[Any], Any] | FunctionSeat | str,
    game: str = "noughts-and-crosses",
    name: str = "ada",
    games: int | None = 1,
    url: str = "",
    **wanted: Any,
) -> tuple[Join, Shown]:
    """A new bot, ready to join; a text is an entrant."""
    token = (await registered(house, name, game))["password"]
    row, shown, options = CATALOGUE[game], Shown(), wanted.get("options", {})

    def make_player() -> RemotePlayer:
        if isinstance(bot, str):
            return remote_player(bot, row, name, options)
        seat = bot if isinstance(bot, FunctionSeat) else FunctionSeat(bot, trusted=False)
        return FunctionPlayer(seat, row, name, options)

    return Join(
        url or house.url, JoinWish(game, name, token, **wanted), make_player, shown, games, AT_ONCE
    ), shown
