"""A store that holds back its writes until a test releases them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from botdrome.store.entries import Finish, Note
from botdrome.store.store import Store


class Held:
    """The ends and boards that wait to be written."""

    def __init__(self, write: Callable[[Finish], Awaitable[None]]) -> None:
        self._write = write
        self.came = asyncio.Event()
        """Set when something waits."""
        self.waiting: list[tuple[Finish, asyncio.Future[None]]] = []

    def finish(self, finish: Finish) -> Awaitable[None]:
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((finish, written))
        self.came.set()
        return written

    async def next(self) -> Finish:
        """The oldest held write."""
        await self.came.wait()
        return self.waiting[0][0]

    async def write(self, problem: Exception | None = None) -> None:
        """Release or refuse the oldest held write."""
        finish = await self.next()
        _, written = self.waiting.pop(0)
        if not self.waiting:
            self.came.clear()
        try:
            if problem is not None:
                raise problem
            await self._write(finish)
            written.set_result(None)
        except Exception as refusal:
            written.set_exception(refusal)
        for _ in range(5):
            await asyncio.sleep(0)


def hold_back(store: Store, monkeypatch: pytest.MonkeyPatch) -> Held:
    """From now on."""
    held = Held(store.finish)
    monkeypatch.setattr(store, "finish", held.finish)
    return held


def notes_of(finish: Finish) -> dict[tuple[str, str], dict[str, Any]]:
    return {(note.book, note.name): note.value for note in finish.notes if isinstance(note, Note)}
