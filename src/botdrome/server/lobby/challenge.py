"""Challenge: does the bot of this name answer at this address? It shows so by repeating what it cannot have guessed."""

import secrets
from urllib.parse import quote

import msgspec

from botdrome.games.reading import UNREADABLE
from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.wire.battlebot.messages import game_type

LIMIT = 5.0


async def challenge(callers: BotCaller, url: str, name: str, game: str) -> None:
    """CallFailed unless it does."""
    secret = secrets.token_hex(16)
    question = msgspec.json.encode({"challenge": secret, "name": name, "gameType": game_type(game)})
    answer = await callers.post(url, question, LIMIT, {"x-botdrome-bot": quote(name, safe="")})
    try:
        said = msgspec.json.decode(answer.body)
    except UNREADABLE:
        said = None
    if not 200 <= answer.status < 300 or not isinstance(said, dict) or said.get("challenge") != secret:
        raise CallFailed("the answer does not repeat the challenge")
