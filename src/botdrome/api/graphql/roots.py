"""Root: what can be asked and changed. Each public method is a field of the schema."""

from botdrome.api.graphql.bots import BotNode, bot_node
from botdrome.api.graphql.filters import Filters
from botdrome.api.graphql.matches import ContestNode, LiveNode, MatchNode, games, games_count, match_node
from botdrome.api.graphql.reading import Info, Reading, storable
from botdrome.api.live import live_tables
from botdrome.api.paging import original_limit, original_offset
from botdrome.api.registration import check_contest, check_owner
from botdrome.server.arena import LiveTable

CreatedBot = dict[str, str | BotNode]


class Root:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._ask, self._call, self._store, self._arena = reading.ask, reading.call, reading.store, reading.arena

    # Queries.

    async def bots(
        self, info: Info, game_type: str, owner: str | None = None, limit: int | None = None, offset: int | None = None
    ) -> list[BotNode]:
        owner = None if owner is None else storable(owner)
        entries = await self._ask(self._store.bots(game_type, owner, original_limit(limit), original_offset(offset)))
        return [bot_node(self._reading, bot) for bot in entries]

    async def bots_count(self, info: Info, game_type: str, owner: str | None = None) -> int:
        return await self._ask(self._store.count_bots(game_type, None if owner is None else storable(owner)))

    def contest(self, info: Info, game_type: str, name: str) -> ContestNode:
        return ContestNode(self._reading, game_type, storable(name))

    async def contests(
        self, info: Info, game_type: str, limit: int | None = None, offset: int | None = None
    ) -> list[ContestNode]:
        start = original_offset(offset)
        names = await self._ask(self._store.contests(game_type))
        return [ContestNode(self._reading, game_type, name) for name in names[start : start + original_limit(limit)]]

    async def games(self, info: Info, game_type: str, filters: Filters | None = None) -> list[MatchNode]:
        return await games(self._reading, game_type, filters)

    async def games_count(self, info: Info, game_type: str, filters: Filters | None = None) -> int:
        return await games_count(self._reading, game_type, filters)

    async def game(self, info: Info, game_type: str, id: str) -> MatchNode | None:
        entry = await self._ask(self._store.match(storable(id)))
        return match_node(self._reading, entry) if entry and entry.game == game_type else None

    async def live_tables(self, info: Info, game_type: str | None = None) -> list[LiveNode]:
        async def tables() -> list[LiveTable]:
            return live_tables(self._arena.tables, game_type)

        return [LiveNode(self._reading, table) for table in await self._ask(tables())]

    # Changes.

    async def register_bot(self, info: Info, name: str, owner: str, game_type: str, url: str | None = None) -> CreatedBot:
        check_owner(owner)
        ask = self._ask if url is None else self._call
        bot, token = await ask(self._arena.register(game_type, name, owner, url))
        return {"password": token, "bot": bot_node(self._reading, bot)}

    async def move_bot(self, info: Info, name: str, url: str | None = None) -> BotNode:
        ask, bot = self._ask if url is None else self._call, await self._reading.holder(name)
        return bot_node(self._reading, await ask(self._arena.move(bot, url)))

    async def enter_contest(self, info: Info, contest: str, bot: str) -> ContestNode:
        check_contest(contest)
        entrant = await self._reading.holder(bot)
        await self._call(self._arena.outreach.enter(entrant, contest))
        return ContestNode(self._reading, entrant.game, contest)

    async def withdraw_from_contest(self, info: Info, contest: str, bot: str) -> ContestNode:
        check_contest(contest)
        entrant = await self._reading.holder(bot)
        await self._ask(self._arena.outreach.withdraw(entrant, contest))
        return ContestNode(self._reading, entrant.game, contest)

    async def rotate_token(self, info: Info, name: str) -> CreatedBot:
        bot, token = await self._ask(self._arena.rotate(await self._reading.holder(name)))
        return {"password": token, "bot": bot_node(self._reading, bot)}

    async def revoke_token(self, info: Info, name: str) -> BotNode:
        bot = await self._ask(self._arena.revoke(await self._reading.holder(name)))
        return bot_node(self._reading, bot)
