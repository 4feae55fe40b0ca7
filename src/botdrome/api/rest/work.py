"""Work on requests that only read, in a worker process."""

import msgspec

from botdrome.api.pieces import Head, cut
from botdrome.api.rest.endpoint import Asked, Call, problem_of, worded
from botdrome.api.rest.reach import Reach
from botdrome.api.rest.routes import ENDPOINTS
from botdrome.server.jobs import Home, Reply
from botdrome.store.reading import reader
from botdrome.store.store import Source

READS = {endpoint.name: endpoint for endpoint in ENDPOINTS if endpoint.away}


async def respond(home: Home, source: Source, call: Call) -> Reply:
    """The job of a worker."""
    endpoint = READS[call.endpoint]
    try:
        answer = await endpoint.handler(Reach(home, await reader(source)), Asked(call, endpoint.parameters))
    except Exception as error:
        problem = problem_of(error)
        body = worded(problem)
        return Reply(Head(len(body), problem.status, "application/json", problem.headers or {}), [body])
    body = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
    return Reply(Head(len(body), endpoint.status, endpoint.media), cut(body))
