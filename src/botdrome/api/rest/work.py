"""Work on requests that only read, in a worker process."""

import gzip

import msgspec

from botdrome.api.pieces import Head, cut
from botdrome.api.rest.endpoint import Asked, Call, Endpoint, problem_of, worded
from botdrome.api.rest.lasting import LastingAnswers
from botdrome.api.rest.reach import Reach
from botdrome.api.rest.routes import ENDPOINTS
from botdrome.server.workers.jobs import Home, Reply
from botdrome.store.reading import reader
from botdrome.store.store import Source

WORTH_PACKING = 2048
"""Bytes of an answer that is packed for clients that take it so."""
LEVEL = 5
"""How hard it is tried; films of 1 MB take some 30 ms."""
_LASTING = LastingAnswers()
READS = {endpoint.name: endpoint for endpoint in ENDPOINTS if endpoint.away}


def prepared() -> bool:
    """A job that has nothing left to do: its worker process has read all modules that requests need."""
    return True


async def respond(home: Home, source: Source, call: Call) -> Reply:
    """The job of a worker."""
    endpoint = READS[call.endpoint]
    key = (source, call.endpoint, tuple(call.path.items()), call.packed)
    kept = _LASTING.find(key) if endpoint.lasting else None
    if kept is not None:
        return kept
    try:
        answer = await endpoint.handler(Reach(home, await reader(source)), Asked(call, endpoint.parameters))
    except Exception as error:
        problem = problem_of(error)
        body = worded(problem)
        return Reply(Head(len(body), problem.status, "application/json", problem.headers or {}), [body])
    body = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
    reply = _answer(body, endpoint, call.packed)
    if endpoint.lasting:
        _LASTING.keep(key, reply)
    return reply


def _answer(body: bytes, endpoint: Endpoint, packed: bool) -> Reply:
    headers = {"vary": "accept-encoding"}
    if packed and len(body) >= WORTH_PACKING:
        body = gzip.compress(body, LEVEL)
        headers["content-encoding"] = "gzip"
    return Reply(Head(len(body), endpoint.status, endpoint.media, headers), cut(body))
