"""Limits: how long socket.io waits, and how much it takes."""

from msgspec import Struct

from botdrome.server.cube.connection import MUCH
from botdrome.server.cube.settings import CubeSection
from botdrome.server.settings import Settings


class Limits(Struct, frozen=True, kw_only=True):
    ping_interval: float = 25.0
    ping_timeout: float = 60.0
    patience: float = 10.0
    """Seconds for what a client has begun: to connect, to send the rest of a body or of an event, to change the transport."""
    longest: int = 100_000
    """Bytes of one message, or of one POST."""
    backlog: int = 16 * MUCH
    """Characters that one client may leave unread before it is cut off. Games wait for their organisers long before that, but
    each may have a whole state of megabytes on its way."""
    rate: float = 200.0
    burst: int = 400
    """Packets a second in the long run, and at once."""

    @property
    def silence(self) -> float:
        """Seconds without a word after which a client is gone."""
        return self.ping_interval + self.ping_timeout


def limits_in(settings: Settings) -> Limits:
    cube = settings.of(CubeSection)
    return Limits(
        ping_interval=cube.ping_interval,
        ping_timeout=cube.ping_timeout,
        longest=cube.longest_message,
        patience=settings.limits.login,
        rate=settings.message.rate,
        burst=settings.message.burst,
    )
