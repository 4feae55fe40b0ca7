"""ModelTable: the match of a language model, which goes on between the calls of its tools."""

import asyncio
from contextlib import suppress
from typing import Any

from botdrome.client.join import Join, JoinWish, RemotePlayer, Unwelcome
from botdrome.runner.tool_player import NotNow, ToolPlayer

GONE = "the connection was lost, and there was no return"


class ModelTable:
    def __init__(self, server: str, wish: JoinWish) -> None:
        self._wish, self.player = wish, ToolPlayer(wish.name)
        self._notes: list[str] = []
        self._problem = ""
        self._task = asyncio.create_task(
            self._play(Join(server, wish, lambda: self.player, self, games=1))
        )
        self._task.add_done_callback(lambda _: self.player.notify())

    async def _play(self, join: Join) -> None:
        try:
            await join.run()
        except Unwelcome as problem:
            self._problem = str(problem)

    # The display of Join.

    def say(self, words: str) -> None:
        self._notes.append(words)

    async def show_match(self, player: RemotePlayer) -> None:
        if player.ending is None:
            self._problem = GONE

    # What the tools need.

    @property
    def game(self) -> str:
        return self._wish.game

    @property
    def begun(self) -> bool:
        return bool(self.player.match)

    @property
    def over(self) -> bool:
        return self.player.result is not None or self._task.done()

    async def wait(self, seconds: float, begin: bool = False) -> None:
        """Wait until it is the model's turn or all is over; `begin`: until the match begins."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.player.until(
                    lambda: self.over or (self.begun if begin else self.player.to_act)
                )

    def check_playing(self) -> None:
        """Raise NotNow unless a match goes on."""
        if self.over:
            raise NotNow(f"the match is over: {self._outcome}; join starts another one")
        if not self.begun:
            raise NotNow("the match has not begun; observe waits for it")

    async def leave(self) -> None:
        """Resign, or stop waiting."""
        if self.begun and not self.over:
            with suppress(NotNow):
                await self.player.resign()
        await self.close()
        self._problem = self._problem or (
            "you left the match" if self.begun else "you stopped waiting"
        )

    async def close(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    # What the model sees.

    @property
    def _outcome(self) -> str:
        return self.player.ending.headline if self.player.ending else self._problem

    @property
    def _status(self) -> str:
        if self.over:
            return "over"
        if not self.begun:
            return "waiting for the match to begin"
        if self.player.out:
            return "you are out; the others play on"
        return "your turn" if self.player.to_act else "not your turn"

    def look(self) -> dict[str, Any]:
        """Return the state of the match, with all that has happened since the last look."""
        notes, self._notes = self._notes, []
        seen: dict[str, Any] = {
            "status": self._status,
            "game": self._wish.game,
            "your_name": self._wish.name,
            "notes": notes,
        }
        if self.begun:
            seen |= self._match()
        if self.over:
            seen["headline"] = self._outcome
        return seen

    def _match(self) -> dict[str, Any]:
        player = self.player
        events, dropped = player.take_events()
        seen = {
            "match": player.match,
            "players": player.players,
            "you": player.you,
            "view": player.view,
            "events": events,
        }
        if dropped:
            seen["dropped_events"] = dropped
        if not self.over:
            seen |= {"to_move": player.to_move, "seconds_left": player.seconds_left}
        if player.result is not None:
            result = player.result
            seen["result"] = {
                "places": result.places,
                "scores": result.scores,
                "causes": result.causes,
            }
        return seen
