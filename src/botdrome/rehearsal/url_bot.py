"""Synthetic bots that the server calls at their URLs."""

import asyncio
from typing import Any

from botdrome.bots.house import house_bots
from botdrome.client.rest import RestServer, ServerProblem, segment
from botdrome.games.chance import Chance
from botdrome.rehearsal.bot_faults import BotFaults
from botdrome.rehearsal.http_messages import serve_answers
from botdrome.rehearsal.synthetic_bot import Registered


class UrlBot:
    """Plays like house:random."""

    def __init__(self, seed: int) -> None:
        self._chance = Chance(seed)
        self._server: asyncio.Server | None = None

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Enter the contest with an address, then answer calls as long as the bot plays."""
        matches: set[str] = set()

        async def answer(headers: dict[str, str], message: dict[str, Any]) -> Any:
            if "challenge" in message:
                return {"challenge": message["challenge"]}
            match = headers.get("x-botdrome-match", "")
            if match not in matches:
                matches.add(match)
                faults.begin_match()
            if message["state"].get("result") is not None:
                return {}
            await faults.before_move()
            return self._move(bot, message["state"])

        server = await serve_answers(answer)
        port = server.sockets[0].getsockname()[1]
        try:
            async with server:
                await asyncio.to_thread(_enter, bot, f"http://127.0.0.1:{port}/")
                await server.serve_forever()
        except ServerProblem:
            return
        finally:
            server.close()

    def _move(self, bot: Registered, state: dict[str, Any]) -> Any:
        if "marks" in state:
            mark = "X" if state["marks"]["X"] == bot.name else "O"
            free = [
                [row, column]
                for row in range(3)
                for column in range(3)
                if not state["board"][row][column]
            ]
            return {"mark": mark, "space": self._chance.choice(free)}
        return house_bots(bot.game)["random"](state, self._chance)


def _enter(bot: Registered, url: str) -> None:
    rest = RestServer(bot.url)
    rest.get(f"bots/{segment(bot.name)}", bot.token, {"url": url}, "PUT")
    rest.get(f"contests/{segment(bot.game)}/{segment(bot.contest)}", bot.token, {"bot": bot.name})
