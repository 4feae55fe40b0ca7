"""Frames: a match as a list of positions that can be shown in any order."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from rich.console import Group, RenderableType
from rich.text import Text

from botdrome.cli.pictures.gallery import picture_of
from botdrome.client.terminal_text import shown
from botdrome.games.game import Game, View
from botdrome.match.events import (
    Amended,
    Began,
    BoardEnded,
    Ended,
    Event,
    Late,
    Left,
    Out,
    Played,
    Refused,
    Result,
    Returned,
)
from botdrome.match.match import News
from botdrome.match.record import Record, replay
from botdrome.match.terms import Milliseconds


class Frame(Struct):
    """A position, and the events since the one before."""

    step: int
    time: Milliseconds
    view: View
    bots: tuple[str, ...]
    """The names of the players, by seat."""
    told: list[str]


def frames(record: Record, game: Game[Any]) -> list[Frame]:
    reel: list[Frame] = []
    for time, news in replay(record, game):
        _add(reel, news, time, record.setup.names)
    return reel


def _add(reel: list[Frame], news: News, time: Milliseconds, names: tuple[str, ...]) -> None:
    for event, position in news:
        match event:
            case Began():
                bots = tuple(names[player] for player in event.order)
                step = reel[-1].step if reel else 0
                reel.append(Frame(step, time, position.view(None), bots, []))
            case Played():
                reel.append(Frame(event.step + 1, time, position.view(None), reel[-1].bots, []))
            case _:
                reel[-1].view, reel[-1].time = position.view(None), time
        reel[-1].told += told(event, names)


def told(event: Event, names: Sequence[str]) -> Iterator[str]:
    """Describe an event."""
    match event:
        case Began():
            yield f"board {event.board + 1}: {', '.join(names[player] for player in event.order)}"
        case Played():
            yield from (f"{names[player]}: {_short(raw)}" for player, raw in event.moves.items())
        case Refused() | Late() | Out() | Left() | Returned():
            yield f"{names[event.player]} {_of_one(event)}"
        case Amended():
            yield f"the set-up changes: {_short(event.options)}"
        case BoardEnded():
            yield f"board {event.board + 1} is over"
        case Ended():
            yield outcome(event.result, names)


def _of_one(event: Refused | Late | Out | Left | Returned) -> str:
    match event:
        case Refused():
            return f"sent {_short(event.move)}, refused: {event.why}"
        case Late():
            return f"was late by {event.by} ms"
        case Out():
            return f"is out: {event.cause}" + (f" ({event.detail})" if event.detail else "")
    return "is gone" if isinstance(event, Left) else "is back"


def outcome(result: Result, names: Sequence[str]) -> str:
    if result.aborted:
        return "aborted"
    first = [names[player] for player, place in enumerate(result.places) if place == 1]
    scores = ", ".join(
        f"{name} {score:g}" for name, score in zip(names, result.scores, strict=True)
    )
    return f"{f'{first[0]} wins' if len(first) == 1 else 'a tie'} ({scores})"


def _short(raw: Any) -> str:
    text = msgspec.json.encode(raw).decode()
    return text if len(text) <= 60 else text[:57] + "..."


def drawn(game: str, frame: Frame, told_at_most: int = 6) -> RenderableType:
    """Draw a frame for the terminal."""
    head = Text(f"{shown(game)}  step {frame.step}  {frame.time / 1000:.3f} s", style="bold")
    return Group(
        head,
        picture_of(game, frame.view, tuple(map(shown, frame.bots))),
        *_tail(frame.told, told_at_most),
    )


def _tail(lines: Sequence[str], most: int) -> Iterable[Text]:
    return [
        Text(shown(line), style="dim", no_wrap=True, overflow="ellipsis") for line in lines[-most:]
    ]
