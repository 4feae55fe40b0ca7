"""Registry: the bots that may log in, kept at hand so that a login need not wait for the store."""

from collections import OrderedDict

from botdrome.store.store import BotEntry, Store

KEPT = 10_000


class Registry:
    """All changes of this process go through `Arena`, which forgets what it changes here."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, BotEntry] = OrderedDict()

    def known(self, name: str) -> BotEntry | None:
        """The bot, if it is at hand."""
        return self._known.get(name)

    async def find(self, name: str) -> BotEntry | None:
        bot = await self._store.bot(name)
        if bot is not None:
            self._known[name] = bot
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
        return bot

    def forget(self, name: str) -> None:
        self._known.pop(name, None)
