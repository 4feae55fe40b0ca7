"""Root: what can be asked and changed. Each public method is a field of the schema."""

from botdrome.api.graphql.bots import BotNode, bot_node
from botdrome.api.graphql.filters import Filters
from botdrome.api.graphql.matches import ContestNode, LiveNode, MatchNode, games, games_count, match_node
from botdrome.api.graphql.reading import Info, Reading, storable
from botdrome.api.paging import LONGEST_LIST, original_limit, original_offset
from botdrome.api.registration import check_contest, check_owner

CreatedBot = dict[str, str | BotNode]


class Root:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._ask, self._call, self._store = reading.home.ask, reading.call, reading.store

    # Queries.

    async def bots(
        self, info: Info, game_type: str, owner: str | None = None, limit: int | None = None, offset: int | None = None
    ) -> list[BotNode]:
        owner = None if owner is None else storable(owner)
        start, most = original_offset(offset), original_limit(limit)
        entries = await self._store.bots(game_type, owner, min(most or LONGEST_LIST, LONGEST_LIST), start)
        if most is None or most > LONGEST_LIST:
            left = await self._store.count_bots(game_type, owner) - start
            self._reading.truncate(info, entries, min(left, most or left))
        return [bot_node(self._reading, bot) for bot in entries]

    async def bots_count(self, info: Info, game_type: str, owner: str | None = None) -> int:
        return await self._store.count_bots(game_type, None if owner is None else storable(owner))

    def contest(self, info: Info, game_type: str, name: str) -> ContestNode:
        return ContestNode(self._reading, game_type, storable(name))

    async def contests(
        self, info: Info, game_type: str, limit: int | None = None, offset: int | None = None
    ) -> list[ContestNode]:
        names = (await self._store.contests(game_type))[original_offset(offset) :][: original_limit(limit)]
        self._reading.truncate(info, names[:LONGEST_LIST], len(names))
        return [ContestNode(self._reading, game_type, name) for name in names[:LONGEST_LIST]]

    async def games(self, info: Info, game_type: str, filters: Filters | None = None) -> list[MatchNode]:
        return await games(self._reading, info, game_type, filters)

    async def games_count(self, info: Info, game_type: str, filters: Filters | None = None) -> int:
        return await games_count(self._reading, game_type, filters)

    async def game(self, info: Info, game_type: str, id: str) -> MatchNode | None:
        entry = await self._store.match(storable(id))
        return match_node(self._reading, entry) if entry and entry.game == game_type else None

    async def live_tables(self, info: Info, game_type: str | None = None) -> list[LiveNode]:
        tables, total = await self._reading.live(game_type)
        self._reading.truncate(info, tables, total)
        return [LiveNode(self._reading, table) for table in tables]

    # Changes.

    async def register_bot(self, info: Info, name: str, owner: str, game_type: str, url: str | None = None) -> CreatedBot:
        check_owner(owner)
        ask = self._ask if url is None else self._call
        bot, token = await ask("register", game_type, name, owner, url)
        return {"password": token, "bot": bot_node(self._reading, bot)}

    async def move_bot(self, info: Info, name: str, url: str | None = None) -> BotNode:
        ask, bot = self._ask if url is None else self._call, await self._reading.holder(name)
        return bot_node(self._reading, await ask("move", bot, url))

    async def enter_contest(self, info: Info, contest: str, bot: str) -> ContestNode:
        check_contest(contest)
        entrant = await self._reading.holder(bot)
        await self._call("enter", entrant, contest)
        return ContestNode(self._reading, entrant.game, contest)

    async def withdraw_from_contest(self, info: Info, contest: str, bot: str) -> ContestNode:
        check_contest(contest)
        entrant = await self._reading.holder(bot)
        await self._ask("withdraw", entrant, contest)
        return ContestNode(self._reading, entrant.game, contest)

    async def rotate_token(self, info: Info, name: str) -> CreatedBot:
        bot, token = await self._ask("rotate", await self._reading.holder(name))
        return {"password": token, "bot": bot_node(self._reading, bot)}

    async def revoke_token(self, info: Info, name: str) -> BotNode:
        return bot_node(self._reading, await self._ask("revoke", await self._reading.holder(name)))
