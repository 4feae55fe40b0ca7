"""Entries: which bots with an address are entered in which contests. Kept in the store."""

from collections.abc import Iterator

import msgspec

from botdrome.store.store import Note, Store

BOOK = "contest entries"

Entry = tuple[str, str, str]
"""Game, contest and bot."""


class Entries:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._bots: dict[tuple[str, str], dict[str, None]] = {}

    async def load(self) -> None:
        for value in (await self._store.notes(BOOK)).values():
            if value["entered"]:
                self._bots.setdefault((value["game"], value["contest"]), {})[value["bot"]] = None

    async def change(self, entry: Entry, entered: bool) -> None:
        game, contest, bot = entry
        value = {"game": game, "contest": contest, "bot": bot, "entered": entered}
        await self._store.keep([Note(BOOK, msgspec.json.encode(entry).decode(), value)])
        bots = self._bots.setdefault((game, contest), {})
        if entered:
            bots[bot] = None
        else:
            bots.pop(bot, None)

    def of(self, game: str, contest: str) -> list[str]:
        return list(self._bots.get((game, contest), {}))

    def __contains__(self, entry: Entry) -> bool:
        return entry[2] in self._bots.get(entry[:2], {})

    def __iter__(self) -> Iterator[Entry]:
        return iter([(game, contest, bot) for (game, contest), bots in self._bots.items() for bot in bots])
