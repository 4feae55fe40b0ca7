"""A body that is delivered while it arrives."""

import asyncio


class BodyStream:
    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.more = True
        self._come = asyncio.Event()

    def add(self, part: bytes, more: bool) -> None:
        self._parts.append(part)
        self.more = more
        self._come.set()

    async def next(self) -> bytes:
        await self._come.wait()
        if self.more:
            self._come.clear()
        part, self._parts = b"".join(self._parts), []
        return part
