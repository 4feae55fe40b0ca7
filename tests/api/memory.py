"""A store in memory."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any

from msgspec.structs import replace

from botdrome.store.store import BotEntry, ContestLine, Epoch, Finish, MatchEntry, NameTaken, Wanted


class MemoryStore:
    def __init__(self) -> None:
        self._bots: dict[str, BotEntry] = {}
        self._matches: dict[str, MatchEntry] = {}
        self._finishes: dict[str, Finish] = {}

    async def close(self) -> None:
        pass

    async def register(self, bot: BotEntry) -> None:
        if bot.name in self._bots:
            raise NameTaken(bot.name)
        self._bots[bot.name] = bot

    async def bot(self, name: str) -> BotEntry | None:
        return self._bots.get(name)

    async def bots(self, game: str | None = None, owner: str | None = None) -> list[BotEntry]:
        return [bot for bot in self._bots.values() if game in (None, bot.game) and owner in (None, bot.owner)]

    async def change_token(self, name: str, token_hash: str | None) -> None:
        self._bots[name] = replace(self._bots[name], token_hash=token_hash)

    def begin(self, match: MatchEntry) -> None:
        self._matches[match.id] = match

    async def finish(self, finish: Finish) -> None:
        changes: dict[str, Any] = {key: getattr(finish, key) for key in ("status", "ended", "result", "view", "reason")}
        self._matches[finish.id] = replace(self._matches[finish.id], **changes)
        self._finishes[finish.id] = finish

    async def abort_running(self, reason: str, now: Epoch) -> int:
        running = [match for match in self._matches.values() if match.status == "running"]
        for match in running:
            self._matches[match.id] = replace(match, status="aborted", reason=reason, ended=now)
        return len(running)

    async def match(self, match_id: str) -> MatchEntry | None:
        return self._matches.get(match_id)

    async def record(self, match_id: str) -> bytes | None:
        finish = self._finishes.get(match_id)
        return finish.record if finish else None

    async def flight(self, match_id: str, player: int) -> bytes | None:
        finish = self._finishes.get(match_id)
        return finish.flights[player] if finish and player < len(finish.flights) else None

    def _wanted(self, wanted: Wanted) -> list[MatchEntry]:
        def fits(match: MatchEntry) -> bool:
            return (
                wanted.game in (None, match.game)
                and wanted.contest in (None, match.contest)
                and wanted.status in (None, match.status)
                and all(name in match.players for name in wanted.all_of)
                and (not wanted.any_of or any(name in match.players for name in wanted.any_of))
            )

        return sorted((match for match in self._matches.values() if fits(match)), key=lambda match: -match.started)

    async def matches(self, wanted: Wanted) -> list[MatchEntry]:
        found = self._wanted(wanted)[wanted.offset :]
        return found if wanted.limit is None else found[: wanted.limit]

    async def count(self, wanted: Wanted) -> int:
        return len(self._wanted(wanted))

    async def contests(self, game: str) -> list[str]:
        return list(dict.fromkeys(match.contest for match in self._matches.values() if match.game == game and match.contest))

    async def contest_lines(self, game: str, contest: str) -> list[ContestLine]:
        counts: Counter[tuple[str, str]] = Counter()
        names: dict[str, None] = {}
        for match in await self.matches(Wanted(game, contest, status="ended")):
            assert match.result is not None
            for player, name in enumerate(match.players):
                names[name] = None
                how = "draws" if match.result.winner is None else "wins" if match.result.winner == player else "losses"
                counts[name, how] += 1
        return [ContestLine(name, counts[name, "wins"], counts[name, "draws"], counts[name, "losses"]) for name in names]

    async def meetings(self, game: str, contest: str) -> Mapping[tuple[str, ...], int]:
        return {}

    async def export(self) -> AsyncIterator[bytes]:
        yield b""

    async def restore(self, lines: AsyncIterator[bytes]) -> int:
        return 0
