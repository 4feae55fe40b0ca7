"""Lines of a NATS server that are read into values."""

import msgspec


class NatsInfo(msgspec.Struct, frozen=True):
    """The first line of a server."""

    max_payload: int
    auth_required: bool = False
    """False: anyone who reaches the server can connect, as with `no_auth_user`."""
    tls_required: bool = False
    tls_available: bool = False


class NatsError(msgspec.Struct, frozen=True):
    """A complaint of a server, such as `Authorization Violation`."""

    words: str
