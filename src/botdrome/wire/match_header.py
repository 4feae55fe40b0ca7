"""Match header: the facts of a match at its start."""

from msgspec import Struct

from botdrome.match.terms import PaceName


class MatchHeader(Struct, frozen=True):
    match: str
    game: str
    players: tuple[str, ...]
    contest: str | None
    started: int
    pace: PaceName = "usual"
