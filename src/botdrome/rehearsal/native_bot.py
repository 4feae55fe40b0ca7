"""Synthetic bots on Battlebot's protocol: WebSockets."""

from typing import Any

from websockets.exceptions import WebSocketException

from botdrome.bots.house import house_bots
from botdrome.client.server_link import ConnectionLost, ServerLink, linked
from botdrome.client.server_url import socket_url
from botdrome.games.chance import Chance
from botdrome.rehearsal.bot_faults import BotDropped, BotFaults
from botdrome.rehearsal.synthetic_bot import Registered
from botdrome.wire.battlebot.messages import game_type
from botdrome.wire.conversation import AGAIN, VIEWS


class NativeBot:
    """Plays like house:random. After a lost connection it returns to its match."""

    def __init__(self, seed: int) -> None:
        self._chance, self._match = Chance(seed), ""

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        try:
            async with linked(socket_url(bot.url)) as link:
                await self._play(link, bot, faults)
        except ConnectionLost as lost:
            self._match = self._match if lost.code not in (1000, 1008) else ""
        except BotDropped as dropped:
            self._match = "" if dropped.crashed else self._match
        except WebSocketException:
            return

    async def _play(self, link: ServerLink, bot: Registered, faults: BotFaults) -> None:
        login: dict[str, Any] = {
            "gameType": game_type(bot.game),
            "name": bot.name,
            "password": bot.token,
        }
        login |= {"features": [AGAIN, VIEWS], "contest": bot.contest}
        await link.send(login | ({"match": self._match} if self._match else {}))
        await link.take_one()
        while True:
            await self._heed((await link.take_one()).data, link, bot, faults)

    async def _heed(
        self, frame: dict[str, Any], link: ServerLink, bot: Registered, faults: BotFaults
    ) -> None:
        if "snapshot" in frame and frame["match"] != self._match:
            self._match = frame["match"]
            faults.begin_match()
        view = frame.get("view") or {}
        if frame.get("event", {}).get("event") == "ended":
            self._match = ""
            await link.send({"again": True})
        elif "timeLeft" in frame and view["you"] in view["toMove"]:
            await faults.before_move()
            await link.send({"move": house_bots(bot.game)["random"](view, self._chance)})
