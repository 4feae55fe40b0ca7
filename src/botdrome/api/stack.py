"""The HTTP stack: uvicorn's protocol for an application, inside our own loop."""

import asyncio

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from botdrome.server.door import MakeHttp


def http_stack(app: ASGIApp) -> MakeHttp:
    config = uvicorn.Config(app, http="httptools", ws="websockets-sansio", log_config=None, access_log=False, lifespan="off")
    config.load()
    state, loop = ServerState(), asyncio.get_running_loop()
    return lambda: HttpToolsProtocol(config, state, {}, loop)
