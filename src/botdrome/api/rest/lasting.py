"""Lasting answers: those that stay the same, kept while there is room. When a match ends, all its spectators want its film."""

from collections import OrderedDict
from collections.abc import Hashable

from botdrome.server.workers.jobs import Reply

ROOM = 32 << 20
"""Bytes, in each worker process."""


class LastingAnswers:
    def __init__(self, room: int = ROOM) -> None:
        self._room = self._free = room
        self._kept: OrderedDict[Hashable, Reply] = OrderedDict()

    def find(self, key: Hashable) -> Reply | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: Hashable, reply: Reply) -> None:
        """Answers that nobody has wanted for longest make room."""
        if _size(reply) > self._room:
            return
        self._free -= _size(reply)
        self._kept[key] = reply
        while self._free < 0:
            self._free += _size(self._kept.popitem(last=False)[1])


def _size(reply: Reply) -> int:
    return sum(map(len, reply.pieces))
