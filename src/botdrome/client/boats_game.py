"""TrackedGame: a game of Xterm Boat Sinker as one player sees it: lines in, messages to show out;
no I/O.

No line of a server is an error: lines that do not fit are shown as messages.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import ClassVar

from msgspec import Struct

from botdrome.client.boats_board import NotPossible, square_in
from botdrome.games.battleship import HIT, MISS, WATER
from botdrome.games.reading import plural
from botdrome.wire.boats.lines import (
    BadOffer,
    OfferedGame,
    number_in,
    offer_in,
    square_name,
    text_fields,
    text_in,
)

KEPT_MESSAGES = 1000
MOST_PLAYERS = 99
SERVER = "server"
REFUSALS = (
    "game hasn't started", "game is already finished", "it is not your turn",
    "invalid target player name", "don't shoot at yourself", "that spot has already been shot",
    "illegal coordinates",
)  # fmt: skip
"""Beginnings of the server's answers to a refused shot or skip."""


class Phase(Enum):
    CONNECTING = "no line has come yet"
    OFFERED = "the server has offered its game"
    JOINING = "the server has our name"
    WAITING = "joined, not started"
    PLAYING = "started"
    OVER = "the result is known"


class TrackedPlayer(Struct):
    name: str
    board: str
    """Hits and misses, row by row."""
    status: str = ""
    score: int = 0
    skips: int = 0


class LogMessage(Struct, frozen=True):
    """A line of the message window."""

    sender: str
    text: str
    to: str = ""
    quiet: bool = False
    """For the headless log only: on a screen the boards show it."""


class LastTurn(Struct, frozen=True):
    """The last turn: a shot at a square, or a skip."""

    shooter: str
    target: str = ""
    square: int = -1
    hit: bool = False


class ResultRow(Struct, frozen=True):
    """A row of the result."""

    name: str
    score: int
    skips: int
    turns: int
    status: str


class TrackedGame:
    def __init__(self) -> None:
        self.phase = Phase.CONNECTING
        self.offer: OfferedGame | None = None
        self.me = ""
        self.returning = False
        """The player has a seat in a game that has started."""
        self.fleet = ""
        """The player's boats, row by row."""
        self.players: dict[str, TrackedPlayer] = {}
        """In turn order once the game has started."""
        self.to_move = ""
        self.spent = False
        """A shot or a skip was sent and is not answered yet."""
        self.refused = 0
        """Shots and skips that the server has refused so far."""
        self.last: LastTurn | None = None
        self.messages: list[LogMessage] = []
        self.refusal = ""
        """Why the server refused the name."""
        self.last_words = ""
        """The last line if it was outside the protocol: usually the reason why the server closes.
        """
        self.ending = ""
        self.rounds = 0
        self.places = 0
        """Number of rows that the result will have."""
        self.results: list[ResultRow] = []

    @property
    def game(self) -> OfferedGame:
        if self.offer is None:
            raise NotPossible("the server has not offered its game yet")
        return self.offer

    @property
    def my_turn(self) -> bool:
        return self.phase is Phase.PLAYING and self.to_move == self.me and self.me in self.players

    @property
    def finished(self) -> bool:
        """The game ended regularly."""
        return self.phase is Phase.OVER and self.ending.lower() == "finished"

    @property
    def complete(self) -> bool:
        """All rows of the result have come."""
        return self.phase is Phase.OVER and len(self.results) >= min(self.places, MOST_PLAYERS)

    def begin_again(self) -> None:
        """Prepare for a new connection. Name, fleet and messages stay."""
        self.returning = self.returning or self.phase is Phase.PLAYING
        self.phase = Phase.CONNECTING
        self.players = {}
        self.to_move = self.refusal = self.last_words = ""
        self.spent = False

    def note(
        self, text: str, sender: str = SERVER, to: str = "", quiet: bool = False
    ) -> LogMessage:
        said = LogMessage(sender, text, to, quiet)
        if not quiet:
            self.messages.append(said)
            del self.messages[:-KEPT_MESSAGES]
        return said

    def forget(self, sender: str | None = None) -> None:
        """Clear all messages, or those of one player."""
        self.messages = [
            said for said in self.messages if sender is not None and said.sender != sender
        ]

    def hear(self, line: bytes) -> list[LogMessage]:
        """Apply a line and return the messages to show."""
        fields = text_fields(line)
        take = self._TAKE.get(fields[0])
        if take is None:
            return self._words("|".join(fields))
        self.last_words = ""
        try:
            return take(self, fields)
        except BadOffer as problem:
            return self._words(str(problem))

    def _words(self, text: str) -> list[LogMessage]:
        if not text:
            return []
        self.last_words = text
        return [self.note(text)]

    def _shows_game(self, fields: Sequence[str]) -> list[LogMessage]:
        if self.phase in (Phase.CONNECTING, Phase.OFFERED):
            self.offer, self.phase = offer_in(fields), Phase.OFFERED
        return []

    def _joins(self, fields: Sequence[str]) -> list[LogMessage]:
        name = text_in(fields, 1)
        if self.phase is Phase.JOINING:
            self.me, self.phase = name, Phase.WAITING
        elif not name or name in self.players or not self._has_room():
            return []
        self._player(name)
        return [self.note(f"{name} has joined", quiet=True)]

    def _has_room(self) -> bool:
        return self.phase in (Phase.WAITING, Phase.PLAYING) and len(self.players) < MOST_PLAYERS

    def _player(self, name: str) -> TrackedPlayer:
        return self.players.setdefault(name, TrackedPlayer(name, WATER * self.game.squares))

    def _refuses(self, fields: Sequence[str]) -> list[LogMessage]:
        text = text_in(fields, 1)
        if self.phase is not Phase.JOINING:
            return self._words(text)
        self.refusal, self.phase = text or "the server does not take this name", Phase.OFFERED
        return [self.note(self.refusal, quiet=True)]

    def _leaves(self, fields: Sequence[str]) -> list[LogMessage]:
        name, reason = text_in(fields, 1), text_in(fields, 2)
        if name not in self.players or self.phase is Phase.OVER:
            return []
        if self.phase is Phase.PLAYING:
            self.players[name].status = reason or "disconnected"
        else:
            del self.players[name]
        return [self.note(f"{name} has left" + (f": {reason}" if reason else ""))]

    def _shows_board(self, fields: Sequence[str]) -> list[LogMessage]:
        name, status, board = (text_in(fields, at) for at in (1, 2, 3))
        if not name or (name not in self.players and not self._has_room()):
            return []
        player = self._player(name)
        said = (
            [self.note(f"{name} is away: {status}")] if status and status != player.status else []
        )
        player.status, player.score, player.skips = (
            status,
            number_in(fields, 4),
            number_in(fields, 5),
        )
        if len(board) == len(player.board):
            said += self._compared(player, board)
            player.board = board
        return said

    def _compared(self, player: TrackedPlayer, board: str) -> list[LogMessage]:
        """Find the square that was shot.

        Several new squares mean that the player has rejoined the game.
        """
        new = [
            square
            for square, (old, now) in enumerate(zip(player.board, board, strict=True))
            if old != now
        ]
        if len(new) != 1 or self.phase is not Phase.PLAYING or not self.to_move:
            return []
        self.last = LastTurn(self.to_move, player.name, new[0], board[new[0]] == HIT)
        y, x = divmod(new[0], self.game.width)
        return (
            []
            if self.last.hit
            else [
                self.note(f"{self.to_move} misses {player.name} at {square_name(x, y)}", quiet=True)
            ]
        )

    def _starts(self, fields: Sequence[str]) -> list[LogMessage]:
        if self.phase not in (Phase.JOINING, Phase.WAITING, Phase.PLAYING):
            return []
        order = [name for name in fields[1 : 1 + MOST_PLAYERS] if name]
        self.phase, self.players = Phase.PLAYING, {name: self._player(name) for name in order}
        return [self.note(f"the game has started: {', '.join(order)}")]

    def _turns_to(self, fields: Sequence[str]) -> list[LogMessage]:
        self.to_move, self.spent = text_in(fields, 1), False
        return []

    def _hits(self, fields: Sequence[str]) -> list[LogMessage]:
        shooter, target, where = (text_in(fields, at) for at in (1, 2, 3))
        return [self.note(f"{shooter} hits {target} at {where}")]

    def _skips(self, fields: Sequence[str]) -> list[LogMessage]:
        name, reason = text_in(fields, 1), text_in(fields, 2)
        if name in self.players:
            self.players[name].skips += 1
        self.last = LastTurn(name)
        return [self.note(f"{name} skips" + (f": {reason}" if reason else ""))]

    def _speaks(self, fields: Sequence[str]) -> list[LogMessage]:
        sender, text, group = (text_in(fields, at) for at in (1, 2, 3))
        if not sender and self.spent and text.startswith(REFUSALS):
            self.spent = False
            self.refused += 1
        return [self.note(text, sender or SERVER, group)]

    def _gives_fleet(self, fields: Sequence[str]) -> list[LogMessage]:
        fleet = text_in(fields, 1).upper().replace(MISS, WATER)
        if self.phase is Phase.WAITING and len(fleet) == self.game.squares:
            self.fleet = fleet
        return []

    def _ends(self, fields: Sequence[str]) -> list[LogMessage]:
        self.phase, self.ending, self.rounds = Phase.OVER, text_in(fields, 1), number_in(fields, 2)
        self.places, self.to_move, self.results = number_in(fields, 3), "", []
        return [
            self.note(f"the game is {self.ending or 'over'} after {plural(self.rounds, 'round')}")
        ]

    def _places(self, fields: Sequence[str]) -> list[LogMessage]:
        if self.phase is Phase.OVER and len(self.results) < MOST_PLAYERS:
            score, skips, turns = (number_in(fields, at) for at in (2, 3, 4))
            self.results.append(
                ResultRow(text_in(fields, 1), score, skips, turns, text_in(fields, 5))
            )
        return []

    def _echoes(self, fields: Sequence[str]) -> list[LogMessage]:
        return []

    _TAKE: ClassVar[dict[str, Callable[["TrackedGame", Sequence[str]], list[LogMessage]]]] = {
        "G": _shows_game, "J": _joins, "E": _refuses, "L": _leaves, "B": _shows_board, "S": _starts,
        "N": _turns_to, "H": _hits, "K": _skips, "M": _speaks, "Y": _gives_fleet, "F": _ends,
        "R": _places, "P": _echoes,
    }  # fmt: skip

    def player_called(self, text: str) -> TrackedPlayer:
        """Find a player by name, unique beginning of a name, or number in turn order, or raise
        NotPossible.
        """
        word = text.strip()
        if word in self.players:
            return self.players[word]
        found = [
            player
            for name, player in self.players.items()
            if word and name.lower().startswith(word.lower())
        ]
        if len(found) == 1:
            return found[0]
        if (
            not found
            and word.isascii()
            and word.isdecimal()
            and 1 <= int(word[:4]) <= len(self.players)
        ):
            return list(self.players.values())[int(word[:4]) - 1]
        raise NotPossible(
            f"{text!r} is the beginning of several names"
            if found
            else f"there is no player {text!r}"
        )

    def square_called(self, text: str) -> tuple[int, int]:
        return square_in(text, self.game.width, self.game.height)
