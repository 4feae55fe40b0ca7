"""Synthetic bots on the Bomberman API: HTTP requests."""

import json
from random import Random
from urllib.parse import quote

from botdrome.games.bomberman import WORDS
from botdrome.rehearsal.bot_faults import BotFaults
from botdrome.rehearsal.http_messages import ask
from botdrome.rehearsal.synthetic_bot import Registered


class BomberBot:
    """Acts at random, once a round."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    async def visit(self, bot: Registered, faults: BotFaults) -> None:
        """Play one match."""
        base = f"{bot.url}/bomber/rest"
        try:
            answer = await ask(base, {"user_name": bot.name, "password": bot.token})
            number, user = 0, answer.get("user_id")
            faults.begin_match()
            while user is not None:
                state = await ask(f"{base}/state/{quote(str(user))}?after={number}")
                if state.get("phase") not in ("REGISTRATION", "PLAYING") or (
                    state["phase"] == "REGISTRATION" and number
                ):
                    return
                number = state["state_number"]
                if state["phase"] == "PLAYING":
                    await faults.before_move()
                    await ask(
                        base,
                        {
                            "user_id": user,
                            "action": self._random.choice(WORDS),
                            "state_number": number,
                        },
                    )
        except json.JSONDecodeError:
            return
