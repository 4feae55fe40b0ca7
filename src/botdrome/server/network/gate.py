"""Gate: what a connection on light HTTP needs to know of the house."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from botdrome.server.network.exchange import Answer, Exchange


class Limits(Struct, frozen=True):
    head: int = 16 << 10
    """Bytes."""
    body: int = 64 << 10
    sending: float = 10.0
    """Seconds for a request, from its first byte to its last."""
    idle: float = 75.0
    """Seconds between two requests, or for an answer to be read."""
    rate: float = 200.0
    """Requests a second in the long run."""
    burst: int = 400


class Gate(Struct, frozen=True):
    handle: Callable[[Exchange], None]
    refuse: Callable[[int, str, str], Answer]
    """The answer to what is no request: status, word, sentence."""
    ours: Callable[[bytes], bool]
    """Whether a target is served here."""
    elsewhere: Callable[[], asyncio.Protocol]
    """Who takes the connection when it is not."""
    admit: Callable[[str], str]
    """Why an address cannot come in; nothing: it is in."""
    leave: Callable[[str], None]
    limits: Limits = Limits()
    host_refusal: Callable[[bytes | None], str] = lambda _: ""
    """Why a request for this host is refused; empty: it is not."""
