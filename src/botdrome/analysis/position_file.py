"""Position files: a step of a match as a JSON file, with the record up to it, which can be asked
and continued again.

A puzzle is a position file that also has the move that lost the match, and moves that hold better.
"""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.catalogue import restored_game
from botdrome.games.game import Game, Raw, View
from botdrome.match.events import Player, Result
from botdrome.match.inputs import InputLine
from botdrome.match.match import Match
from botdrome.match.questions import Question, questions
from botdrome.match.record import Record, Setup, checked, replay_match

VERSION = 1


class BadPosition(Exception):
    """Raised for a file that is not a position file, and for a step that a match does not have."""


class Estimate(Struct, frozen=True):
    """The expected share of the points, from 0 (last place) to 1 (first place), with its 95 %
    interval.
    """

    share: float
    low: float
    high: float
    playouts: int
    """The number of playouts; 0: the value is exact."""


class RatedMove(Struct, frozen=True):
    move: Raw
    estimate: Estimate


class Puzzle(Struct, frozen=True, kw_only=True):
    """The move that lost a match, and better ones."""

    lost: RatedMove | None
    """The recorded move; None: there was none, or it was refused."""
    better: tuple[RatedMove, ...]
    """Moves that hold better, best first."""
    method: str
    """How the estimates were made, and what was assumed."""


class PositionFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    position: int
    """The version of the format."""
    note: str = ""
    """What happened there."""
    step: int
    player: Player
    view: View
    """What the player saw."""
    setup: Setup
    """The first line of the match file."""
    inputs: tuple[InputLine, ...]
    """The inputs of the match before the step."""
    result: Result | None = None
    """The recorded result of the match."""
    puzzle: Puzzle | None = None

    @property
    def record(self) -> Record:
        return Record(self.setup, self.inputs)


def position_file(
    question: Question, record: Record, note: str = "", puzzle: Puzzle | None = None
) -> PositionFile:
    return PositionFile(
        position=VERSION, note=note, step=question.step, player=question.player, view=question.view,
        setup=record.setup, inputs=record.lines[: question.opened], result=record.result,
        puzzle=puzzle,
    )  # fmt: skip


def encoded(file: PositionFile) -> bytes:
    """Return the file as JSON, with a line for each key."""
    entries = msgspec.to_builtins(file).items()
    return b"{\n%b\n}\n" % b",\n".join(
        b" %b: %b" % (msgspec.json.encode(key), msgspec.json.encode(value))
        for key, value in entries
    )


def is_position_file(data: bytes) -> bool:
    """Return whether it looks like a position file. A match file starts with the key `botdrome`."""
    return data.lstrip()[:100].replace(b" ", b"").replace(b"\n", b"").startswith(b'{"position":')


def read_position(data: bytes) -> tuple[PositionFile, Game[Any]]:
    """Return a position file and its game. Raise BadPosition or BadRecord."""
    try:
        file = msgspec.json.decode(data, type=PositionFile)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadPosition(f"this is not a position file: {error}") from None
    if file.position != VERSION:
        raise BadPosition(
            f"this is a position file of version {file.position}, and this Botdrome reads version "
            f"{VERSION}"
        )
    if not 0 <= file.player < len(file.setup.names):
        raise BadPosition(
            f"there is no player {file.player}; the match has {len(file.setup.names)}"
        )
    return file, restored_game(checked(file.setup))


def last_question(file: PositionFile, game: Game[Any]) -> Question:
    """Return the question of a position file."""
    asked = questions(file.record, game, file.player)
    if not asked or asked[-1].answered:
        raise BadPosition(f"player {file.player} is not asked at step {file.step}")
    return asked[-1]


def match_at(record: Record, game: Game[Any], step: int) -> Match:
    """Return the match in the position after some steps.

    Raise BadPosition if it has no such step.
    """
    last = 0
    for match, _, _ in replay_match(record, game):
        if match.result is None:
            last = match.steps
            if last == step:
                return match
    raise BadPosition(f"there is no step {step} to continue from; the match has steps 0 to {last}")
