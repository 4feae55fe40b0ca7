"""The result of a call to a bot: its answer, with the body decompressed, or the reason of the failure."""

import re
import zlib

from msgspec import Struct

GZIP, ZLIB, RAW_DEFLATE = 31, 15, -15
MOST_MEMBERS = 100
UNSUPPORTED = re.compile(rb"br|zstd|(x-)?compress|exi|pack200-gzip|dcb|dcz|.*,.*")
"""Encodings that the request did not accept. Other words are ignored: some bots send their charset, `utf-8`, here."""


class BotAnswer(Struct, gc=False, eq=False):
    """Answers that say the same are equal, whatever time they took."""

    status: int
    body: bytes
    encoding: bytes = b""
    """The Content-Encoding of the body; empty once it is decompressed."""
    location: bytes | None = None
    network: float = 0.0
    """Seconds that the call was on the way."""
    waited: float = 0.0
    """Seconds that the call waited for others."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BotAnswer) and _said(self) == _said(other)

    def __hash__(self) -> int:
        return hash(_said(self))


def _said(answer: BotAnswer) -> tuple[int, bytes, bytes, bytes | None]:
    return answer.status, answer.body, answer.encoding, answer.location


class CallFailed(Exception):
    """The call got no answer. The text is for the bot's author."""


class NotAllowed(CallFailed):
    """The server may not call this address."""


class TooLate(CallFailed):
    """The call took longer than its time limit."""


def too_late(limit_seconds: float) -> TooLate:
    return TooLate(f"no whole answer within {limit_seconds * 1000:.0f} ms")


def too_large(limit: int) -> CallFailed:
    return CallFailed(f"the answer is larger than {limit} bytes")


def decompressed(answer: BotAnswer, limit: int) -> BotAnswer:
    """Raise CallFailed if the body cannot be decompressed, or would be larger than the limit."""
    body, encoding = answer.body, answer.encoding.strip().lower()
    if body and encoding in (b"gzip", b"x-gzip"):
        body = _decompressed(body, GZIP, limit)
    elif body and encoding == b"deflate":
        body = _decompressed(body, ZLIB if body[0] & 15 == 8 else RAW_DEFLATE, limit)
    elif body and UNSUPPORTED.fullmatch(encoding):
        shown = answer.encoding[:40].decode(errors="replace")
        raise CallFailed(f"the answer is packed by {shown!r}, which was not asked for")
    return BotAnswer(answer.status, body, network=answer.network, waited=answer.waited)


def _decompressed(body: bytes, bits: int, limit: int) -> bytes:
    """gzip allows several members, one after another."""
    whole = b""
    for _ in range(MOST_MEMBERS):
        reader = zlib.decompressobj(bits)
        try:
            whole += reader.decompress(body, limit + 1 - len(whole))
        except zlib.error:
            raise CallFailed("the answer cannot be unpacked") from None
        if len(whole) > limit:
            raise too_large(limit)
        if not reader.eof:
            raise CallFailed("the answer is packed, and not whole")
        body = reader.unused_data
        if not body or bits != GZIP:
            break
    return whole
