"""Boats: a game of Xterm Boat Sinker as one player knows it. Lines in, what there is to see out; no I/O.

A server may say anything at any time: what fits is taken in, what does not is shown as its words, and nothing that it says is an
error here.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import ClassVar

from msgspec import Struct

from botdrome.client.boats_lines import (
    Summary,
    Unreadable,
    Unsuited,
    fields_of,
    number_in,
    place,
    square_in,
    summary_in,
    text_in,
)  # fmt: skip
from botdrome.games.fleet import WATER
from botdrome.games.gunnery import HIT, MISS

KEPT_MESSAGES = 1000
MOST_PLAYERS = 99
SERVER = "server"
REFUSALS = (
    "game hasn't started", "game is already finished", "it is not your turn", "invalid target player name",
    "don't shoot at yourself", "that spot has already been shot", "illegal coordinates",
)  # fmt: skip
"""How the answers begin that a server gives to a shot or a skip that does not count."""


class Phase(Enum):
    KNOCKING = "nothing has been heard yet"
    INVITED = "the server has shown its game"
    JOINING = "the name is with the server"
    WAITING = "joined, not started"
    PLAYING = "started"
    OVER = "the result is known"


class Captain(Struct):
    """A player."""

    name: str
    board: str
    """Hits and misses, row by row."""
    status: str = ""
    score: int = 0
    skips: int = 0


class Said(Struct, frozen=True):
    """A line of the message window."""

    sender: str
    text: str
    to: str = ""
    quiet: bool = False
    """For a written account only: the boards show it as well."""


class Turn(Struct, frozen=True):
    """The last turn: a shot at a square, or a skip."""

    shooter: str
    target: str = ""
    square: int = -1
    hit: bool = False


class Place(Struct, frozen=True):
    """A line of the result."""

    name: str
    score: int
    skips: int
    turns: int
    status: str


class Boats:
    def __init__(self) -> None:
        self.phase = Phase.KNOCKING
        self.summary: Summary | None = None
        self.me = ""
        self.returning = False
        """There is a seat in a game that has started."""
        self.fleet = ""
        """The own boats, row by row."""
        self.players: dict[str, Captain] = {}
        """In the order of their turns when the game has started."""
        self.to_move = ""
        self.spent = False
        """A shot or a skip is under way."""
        self.refused = 0
        """How many shots or skips the server has refused."""
        self.last: Turn | None = None
        self.messages: list[Said] = []
        self.refusal = ""
        """Why the name was not taken."""
        self.last_words = ""
        """The last line, if it was outside of the protocol: mostly why the server closes."""
        self.ending = ""
        self.rounds = 0
        self.places = 0
        """How many lines the result will have."""
        self.results: list[Place] = []

    @property
    def game(self) -> Summary:
        if self.summary is None:
            raise Unsuited("the server has not shown its game yet")
        return self.summary

    @property
    def my_turn(self) -> bool:
        return self.phase is Phase.PLAYING and self.to_move == self.me and self.me in self.players

    @property
    def finished(self) -> bool:
        """The game has come to its regular end."""
        return self.phase is Phase.OVER and self.ending.lower() == "finished"

    @property
    def complete(self) -> bool:
        """All of the result has come."""
        return self.phase is Phase.OVER and len(self.results) >= min(self.places, MOST_PLAYERS)

    def begin_again(self) -> None:
        """On a new connection: who I am, my fleet and the messages stay."""
        self.returning = self.returning or self.phase is Phase.PLAYING
        self.phase = Phase.KNOCKING
        self.players = {}
        self.to_move = self.refusal = self.last_words = ""
        self.spent = False

    def note(self, text: str, sender: str = SERVER, to: str = "", quiet: bool = False) -> Said:
        said = Said(sender, text, to, quiet)
        if not quiet:
            self.messages.append(said)
            del self.messages[:-KEPT_MESSAGES]
        return said

    def forget(self, sender: str | None = None) -> None:
        """Clear the messages, all or those of one player."""
        self.messages = [said for said in self.messages if sender is not None and said.sender != sender]

    def hear(self, line: bytes) -> list[Said]:
        """Take in a line; what there is to tell about it."""
        fields = fields_of(line)
        take = self._TAKE.get(fields[0])
        if take is None:
            return self._words("|".join(fields))
        self.last_words = ""
        try:
            return take(self, fields)
        except Unreadable as problem:
            return self._words(str(problem))

    def _words(self, text: str) -> list[Said]:
        if not text:
            return []
        self.last_words = text
        return [self.note(text)]

    def _shows_game(self, fields: Sequence[str]) -> list[Said]:
        if self.phase in (Phase.KNOCKING, Phase.INVITED):
            self.summary, self.phase = summary_in(fields), Phase.INVITED
        return []

    def _joins(self, fields: Sequence[str]) -> list[Said]:
        name = text_in(fields, 1)
        if self.phase is Phase.JOINING:
            self.me, self.phase = name, Phase.WAITING
        elif not name or name in self.players or not self._has_room():
            return []
        self._captain(name)
        return [self.note(f"{name} has joined", quiet=True)]

    def _has_room(self) -> bool:
        return self.phase in (Phase.WAITING, Phase.PLAYING) and len(self.players) < MOST_PLAYERS

    def _captain(self, name: str) -> Captain:
        return self.players.setdefault(name, Captain(name, WATER * self.game.squares))

    def _refuses(self, fields: Sequence[str]) -> list[Said]:
        text = text_in(fields, 1)
        if self.phase is not Phase.JOINING:
            return self._words(text)
        self.refusal, self.phase = text or "the server does not take this name", Phase.INVITED
        return [self.note(self.refusal, quiet=True)]

    def _leaves(self, fields: Sequence[str]) -> list[Said]:
        name, reason = text_in(fields, 1), text_in(fields, 2)
        if name not in self.players or self.phase is Phase.OVER:
            return []
        if self.phase is Phase.PLAYING:
            self.players[name].status = reason or "disconnected"
        else:
            del self.players[name]
        return [self.note(f"{name} has left" + (f": {reason}" if reason else ""))]

    def _shows_board(self, fields: Sequence[str]) -> list[Said]:
        name, status, board = (text_in(fields, at) for at in (1, 2, 3))
        if not name or (name not in self.players and not self._has_room()):
            return []
        captain = self._captain(name)
        said = [self.note(f"{name} is away: {status}")] if status and status != captain.status else []
        captain.status, captain.score, captain.skips = status, number_in(fields, 4), number_in(fields, 5)
        if len(board) == len(captain.board):
            said += self._compared(captain, board)
            captain.board = board
        return said

    def _compared(self, captain: Captain, board: str) -> list[Said]:
        """What was shot since the last time; several squares at once are not news, but a game that was joined again."""
        new = [square for square, (old, now) in enumerate(zip(captain.board, board, strict=True)) if old != now]
        if len(new) != 1 or self.phase is not Phase.PLAYING or not self.to_move:
            return []
        self.last = Turn(self.to_move, captain.name, new[0], board[new[0]] == HIT)
        y, x = divmod(new[0], self.game.width)
        return [] if self.last.hit else [self.note(f"{self.to_move} misses {captain.name} at {place(x, y)}", quiet=True)]

    def _starts(self, fields: Sequence[str]) -> list[Said]:
        if self.phase not in (Phase.JOINING, Phase.WAITING, Phase.PLAYING):
            return []
        order = [name for name in fields[1 : 1 + MOST_PLAYERS] if name]
        self.phase, self.players = Phase.PLAYING, {name: self._captain(name) for name in order}
        return [self.note(f"the game has started: {', '.join(order)}")]

    def _turns_to(self, fields: Sequence[str]) -> list[Said]:
        self.to_move, self.spent = text_in(fields, 1), False
        return []

    def _hits(self, fields: Sequence[str]) -> list[Said]:
        shooter, target, where = (text_in(fields, at) for at in (1, 2, 3))
        return [self.note(f"{shooter} hits {target} at {where}")]

    def _skips(self, fields: Sequence[str]) -> list[Said]:
        name, reason = text_in(fields, 1), text_in(fields, 2)
        if name in self.players:
            self.players[name].skips += 1
        self.last = Turn(name)
        return [self.note(f"{name} skips" + (f": {reason}" if reason else ""))]

    def _speaks(self, fields: Sequence[str]) -> list[Said]:
        sender, text, group = (text_in(fields, at) for at in (1, 2, 3))
        if not sender and self.spent and text.startswith(REFUSALS):
            self.spent = False
            self.refused += 1
        return [self.note(text, sender or SERVER, group)]

    def _gives_fleet(self, fields: Sequence[str]) -> list[Said]:
        fleet = text_in(fields, 1).upper().replace(MISS, WATER)
        if self.phase is Phase.WAITING and len(fleet) == self.game.squares:
            self.fleet = fleet
        return []

    def _ends(self, fields: Sequence[str]) -> list[Said]:
        self.phase, self.ending, self.rounds = Phase.OVER, text_in(fields, 1), number_in(fields, 2)
        self.places, self.to_move, self.results = number_in(fields, 3), "", []
        return [self.note(f"the game is {self.ending or 'over'} after {self.rounds} rounds")]

    def _places(self, fields: Sequence[str]) -> list[Said]:
        if self.phase is Phase.OVER and len(self.results) < MOST_PLAYERS:
            score, skips, turns = (number_in(fields, at) for at in (2, 3, 4))
            self.results.append(Place(text_in(fields, 1), score, skips, turns, text_in(fields, 5)))
        return []

    def _echoes(self, fields: Sequence[str]) -> list[Said]:
        return []

    _TAKE: ClassVar[dict[str, Callable[["Boats", Sequence[str]], list[Said]]]] = {
        "G": _shows_game, "J": _joins, "E": _refuses, "L": _leaves, "B": _shows_board, "S": _starts, "N": _turns_to, "H": _hits,
        "K": _skips, "M": _speaks, "Y": _gives_fleet, "F": _ends, "R": _places, "P": _echoes,
    }  # fmt: skip

    def captain_called(self, text: str) -> Captain:
        """A player by name, by the beginning of the name if only one has it, or by number in the order of turns; or Unsuited."""
        word = text.strip()
        if word in self.players:
            return self.players[word]
        found = [captain for name, captain in self.players.items() if word and name.lower().startswith(word.lower())]
        if len(found) == 1:
            return found[0]
        if not found and word.isascii() and word.isdecimal() and 1 <= int(word[:4]) <= len(self.players):
            return list(self.players.values())[int(word[:4]) - 1]
        raise Unsuited(f"{text!r} is the beginning of several names" if found else f"there is no player {text!r}")

    def square_called(self, text: str) -> tuple[int, int]:
        return square_in(text, self.game.width, self.game.height)
