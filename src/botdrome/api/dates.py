"""Dates: a moment as the original wrote it, and as everybody else does."""

from datetime import UTC, datetime

from botdrome.store.store import Epoch

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def javascript(epoch: Epoch) -> str:
    """`Sun Nov 15 2026 02:27:15 GMT+0000 (UTC)`, whatever the locale."""
    at = datetime.fromtimestamp(epoch / 1000, UTC)
    return f"{DAYS[at.weekday()]} {MONTHS[at.month - 1]} {at:%d %Y %H:%M:%S} GMT+0000 (UTC)"


def iso(epoch: Epoch) -> str:
    """`2026-11-15T02:27:15.123Z`."""
    return datetime.fromtimestamp(epoch / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def epoch(text: str) -> Epoch:
    """What `iso` wrote, or a date alone. Without an offset it is in UTC. ValueError where it is neither, or in no year of UTC."""
    at = datetime.fromisoformat(text)
    try:
        return int((at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except OverflowError as error:
        raise ValueError(str(error)) from None
