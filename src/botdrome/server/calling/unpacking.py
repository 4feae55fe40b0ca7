"""Unpacking: bodies that were packed on their way, never larger than they may be."""

import re
import zlib

from botdrome.server.calling.answer import CallFailed

GZIP, ZLIB, BARE = 31, 15, -15
MOST_MEMBERS = 100
OTHERS = re.compile(rb"br|zstd|(x-)?compress|exi|pack200-gzip|dcb|dcz|.*,.*")
"""Ways to pack that were not asked for. Other words change nothing: not a few say `utf-8` here, and mean the charset."""


def unpacked(body: bytes, encoding: bytes, limit: int) -> bytes:
    """The body by its Content-Encoding; CallFailed where it cannot be unpacked, or would be larger than the limit."""
    kind = encoding.strip().lower()
    if not body or kind in (b"", b"identity"):
        return body
    if kind in (b"gzip", b"x-gzip"):
        return _all_of(body, GZIP, limit)
    if kind == b"deflate":
        return _all_of(body, ZLIB if body[0] & 15 == 8 else BARE, limit)
    if OTHERS.fullmatch(kind):
        raise CallFailed(f"the answer is packed by {encoding[:40].decode(errors='replace')!r}, which was not asked for")
    return body


def _all_of(body: bytes, bits: int, limit: int) -> bytes:
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


def too_large(limit: int) -> CallFailed:
    return CallFailed(f"the answer is larger than {limit} bytes")
