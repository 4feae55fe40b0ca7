"""Bots as GraphQL shows them."""

from collections.abc import Sequence

from botdrome.api.dates import javascript
from botdrome.api.graphql.reading import Info, Reading
from botdrome.store.store import BotEntry


class BotNode:
    """A name is enough; the rest is looked up when it is asked for."""

    def __init__(self, reading: Reading, name: str, game: str, entry: BotEntry | None = None) -> None:
        self._reading, self._entry = reading, entry
        self.name, self.game_type = name, game

    async def owner(self, info: Info) -> str:
        bot = await self._found()
        return bot.owner if bot else ""

    async def date_registered(self, info: Info) -> str | None:
        bot = await self._found()
        return javascript(bot.registered) if bot else None

    async def called(self, info: Info) -> bool:
        bot = await self._found()
        return bot is not None and bot.url is not None

    async def _found(self) -> BotEntry | None:
        return self._entry or await self._reading.bot(self.name)


def bot_node(reading: Reading, bot: BotEntry) -> BotNode:
    return BotNode(reading, bot.name, bot.game, bot)


def bot_nodes(reading: Reading, names: Sequence[str], game: str) -> list[BotNode]:
    return [BotNode(reading, name, game) for name in names]
