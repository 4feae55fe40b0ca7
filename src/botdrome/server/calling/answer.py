"""Answer: what a call to a bot came to."""

from msgspec import Struct


class Answer(Struct, frozen=True):
    status: int
    body: bytes
    """Unpacked, and no longer than a message may be."""


class CallFailed(Exception):
    """There is no answer; the words are for the bot's author."""


class NotAllowed(CallFailed):
    """The address may not be called from here."""


class TooLate(CallFailed):
    """The time for the whole call was over."""


def too_late(limit_seconds: float) -> TooLate:
    return TooLate(f"no whole answer within {limit_seconds * 1000:.0f} ms")
