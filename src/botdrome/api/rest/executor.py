"""The executor of REST requests that only read. Its functions are jobs of the worker processes."""

import gzip
from collections import OrderedDict
from collections.abc import Hashable
from importlib import import_module
from math import inf
from time import monotonic

import msgspec

from botdrome.api.requests import ReadContext, in_pieces
from botdrome.api.rest.endpoint import RawRequest, RestRequest, problem_of
from botdrome.api.rest.routes import ENDPOINTS, OPERATOR_ENDPOINTS
from botdrome.server.workers.jobs import PiecewiseResult, ServerCaller
from botdrome.store.entries import Source
from botdrome.store.store import reader

COMPRESSED = 2048
"""Bytes from which on an answer is compressed."""
LEVEL = 5
"""Of compression: films of 1 MB take about 30 ms."""
CACHE = 32 << 20
"""Bytes, in each worker process."""
GRAPHQL = "botdrome.api.graphql.executor"
OTHER_JOBS = ("botdrome.api.replays", "botdrome.server.contests.contest_planner")
READS = {
    endpoint.name: endpoint for endpoint in (*ENDPOINTS, *OPERATOR_ENDPOINTS) if endpoint.in_worker
}


class AnswerCache:
    """Answers that are kept for a time or for ever, the least recently used dropped first.

    When a match ends, all spectators want its film.
    """

    def __init__(self, room: int = CACHE) -> None:
        self._room = self._free = room
        self._kept: OrderedDict[Hashable, tuple[float, PiecewiseResult]] = OrderedDict()

    def find(self, key: Hashable, now: float = 0) -> PiecewiseResult | None:
        until, found = self._kept.get(key, (inf, None))
        if found is not None and until <= now:
            self._kept.move_to_end(key, last=False)
            self._drop()
            return None
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: Hashable, answer: PiecewiseResult, until: float = inf) -> None:
        if _size(answer) > self._room or key in self._kept:
            return
        self._free -= _size(answer)
        self._kept[key] = until, answer
        while self._free < 0:
            self._drop()

    def _drop(self) -> None:
        self._free += _size(self._kept.popitem(last=False)[1][1])


def _size(answer: PiecewiseResult) -> int:
    return sum(map(len, answer.pieces))


_cache = AnswerCache()


def preload() -> None:
    """Import all that the jobs of requests need. That takes a second."""
    for name in OTHER_JOBS:
        import_module(name)
    import_module(GRAPHQL).schema()


async def warm_up(_: ServerCaller, source: Source) -> None:
    preload()
    await reader(source)


async def answer(server: ServerCaller, source: Source, raw: RawRequest) -> PiecewiseResult:
    endpoint = READS[raw.endpoint]
    key = (source, raw.endpoint, tuple(raw.path.items()), raw.gzip)
    if endpoint.keeps and (kept := _cache.find(key, monotonic())) is not None:
        return kept
    try:
        found = await endpoint.handler(
            ReadContext(server, await reader(source)), RestRequest(raw, endpoint.parameters)
        )
    except Exception as error:
        raise problem_of(error) from None
    body = found if isinstance(found, bytes) else msgspec.json.encode(found)
    headers = {"vary": "accept-encoding"}
    if raw.gzip and len(body) >= COMPRESSED and not endpoint.media.startswith("image/"):
        body, headers = gzip.compress(body, LEVEL), headers | {"content-encoding": "gzip"}
    if 0 < endpoint.keeps < inf:
        headers["cache-control"] = f"public, max-age={endpoint.keeps:g}"
    result = in_pieces(body, endpoint.status, endpoint.media, headers)
    if endpoint.keeps:
        _cache.keep(key, result, monotonic() + endpoint.keeps)
    return result
