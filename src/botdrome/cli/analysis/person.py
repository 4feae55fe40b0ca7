"""A person at the terminal: the board, the legal moves, and the moves that are typed."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from rich.text import Text

from botdrome.analysis.move_text import move_text
from botdrome.analysis.questions import refusal
from botdrome.bots.house import MOST_LISTED
from botdrome.cli.pictures.gallery import picture_of
from botdrome.cli.terminal import Terminal
from botdrome.client.terminal_text import shown
from botdrome.games.game import Raw
from botdrome.match.events import Player
from botdrome.match.match import Match

MOST_SHOWN = 8


class Gone(Exception):
    """The person wants to stop."""


class PersonAtTerminal:
    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._console = Terminal()

    def __call__(self, match: Match, player: Player) -> Raw:
        """Show the position and ask until a legal move is typed.

        Raise Gone at the end of the input.
        """
        position, seat, console = match.position, match.seat_of(player), self._console
        bots = tuple(shown(self._names[number]) for number in match.order)
        console.print(Text(f"step {match.steps}: {bots[seat]} moves", "bold"))
        console.print(picture_of(position.name, position.view(seat), bots))
        legal = list(islice(position.moves(seat), MOST_LISTED))
        listed = ", ".join(move_text(raw) for raw in legal[:MOST_SHOWN])
        console.print(Text(f"moves: {listed}{', ...' if len(legal) > MOST_SHOWN else ''}", "dim"))
        while True:
            raw, why = typed_move(self._typed(), legal)
            why = why or refusal(position, seat, raw)
            if not why:
                return raw
            console.print(
                Text(
                    f"{why}; type a move, its last words, or JSON; `quit` ends the match here",
                    "red",
                )
            )

    def _typed(self) -> str:
        try:
            text = self._console.input("your move: ").strip()
        except EOFError:
            raise Gone from None
        if text in ("quit", "q"):
            raise Gone
        return text


def typed_move(text: str, legal: Sequence[Raw]) -> tuple[Raw, str]:
    """Return the move that is meant, and why there is none: JSON, or the last words of exactly one
    legal move.
    """
    if text.startswith(("{", "[")):
        try:
            return msgspec.json.decode(text), ""
        except msgspec.DecodeError as error:
            return None, f"this is not JSON: {error}"
    typed = re.findall(r"[^\s,()]+", text.upper())
    fitting = [raw for raw in legal if typed and _ends_with(list(_words(raw)), typed)]
    if len(fitting) == 1:
        return fitting[0], ""
    return (
        None,
        "no legal move ends like that"
        if not fitting
        else f"{len(fitting)} legal moves end like that",
    )


def _ends_with(words: list[str], typed: list[str]) -> bool:
    last = words[-len(typed) :]
    return len(last) == len(typed) and all(
        one in (word, word.rpartition("_")[2]) for one, word in zip(typed, last, strict=True)
    )


def _words(raw: Any, inner: bool = False) -> Iterator[str]:
    """Yield the values of a move as words; objects within it are named by their keys, too."""
    if isinstance(raw, dict):
        for key, value in raw.items():
            if inner:
                yield key.upper()
            yield from _words(value, inner=True)
    elif isinstance(raw, list | tuple):
        for value in raw:
            yield from _words(value)
    else:
        yield str(raw).upper()
