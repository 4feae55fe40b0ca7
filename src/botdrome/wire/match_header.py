"""Match header: what is known of a match before anything happens in it."""

from msgspec import Struct

from botdrome.match.terms import PaceName


class MatchHeader(Struct, frozen=True):
    match: str
    game: str
    players: tuple[str, ...]
    contest: str | None
    started: int
    pace: PaceName = "usual"
