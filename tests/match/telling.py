"""News in short, for tests that read like a protocol of the match."""

from typing import Any

from botdrome.games.noughts_and_crosses import MARKS
from botdrome.match.events import Began, BoardEnded, Ended, Event, Late, Out, Played, Refused
from botdrome.match.match import News


def told(news: News) -> list[str]:
    return [_words(event) for event, _ in news]


def _words(event: Event) -> str:
    match event:
        case Began():
            return f"board {event.board} began"
        case Played():
            return f"step {event.step} played by {sorted(event.moves)}"
        case Refused():
            return f"{event.player} refused ({event.strikes}): {event.why}"
        case Late():
            return f"{event.player} late by {event.by}"
        case Out():
            return f"{event.player} out: {event.cause}"
        case BoardEnded():
            return f"board {event.board} ended {event.result.places}"
        case Ended():
            return f"ended {event.result.places} {event.result.causes}"
    return type(event).__name__.lower() + "".join(f" {value}" for value in _fields(event))


def _fields(event: Event) -> list[Any]:
    return [getattr(event, name) for name in event.__struct_fields__]


def mark(player: int, row: int, column: int) -> dict[str, Any]:
    return {"mark": MARKS[player], "space": [row, column]}
