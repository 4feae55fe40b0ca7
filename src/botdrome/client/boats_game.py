"""TrackedGame: a game of Xterm Boat Sinker as one player sees it: lines in, messages to show out;
no I/O.

No line of a server is an error: lines that do not fit are shown as messages.
"""

from collections.abc import Callable
from enum import Enum
from typing import ClassVar

from msgspec import Struct

from botdrome.client.terminal_text import shown
from botdrome.games.battleship import (
    HIT,
    MISS,
    WATER,
    berths,
    check_fleet,
    check_room,
    random_fleet,
)
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, IllegalMove
from botdrome.games.reading import plural
from botdrome.wire.boats.lines import (
    COLUMNS,
    BadOffer,
    Offer,
    OfferedGame,
    line_of,
    number_in,
    offer_in,
    square_name,
    text_fields,
)

# Squares by their names, and a fleet before the game: laid out by hand, random, or given as text.

DRAFTS = 10
"""Fleets drawn until one has enough free border; after that many the best one is taken."""
MOVES = 200
"""Attempts to improve one of these fleets by moving a boat."""


class NotPossible(Exception):
    """A request of the player that the game does not allow now, with the reason."""


def square_in(text: str, width: int, height: int) -> tuple[int, int]:
    """Return column and row, from 0, of a square like e5, or raise NotPossible."""
    word = text.strip().lower()
    column, row = word[:1], word[1:].strip()
    x = COLUMNS.find(column) if column else -1
    y = int(row) - 1 if row.isascii() and row.isdecimal() and len(row) < 4 else -1
    if 0 <= x < width and 0 <= y < height:
        return x, y
    raise NotPossible(
        f"a square is from a1 to {square_name(width - 1, height - 1)}, not {shown(text)!r}"
    )


class FleetLayout:
    """A fleet that a person lays out boat by boat."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._steps = [WATER * offer.squares]

    def suits(self, game: Offer) -> bool:
        """Return whether that game has the same board size and boats."""
        mine = self._offer
        return (mine.width, mine.height, mine.boats) == (game.width, game.height, game.boats)

    @property
    def squares(self) -> str:
        return self._steps[-1]

    @property
    def next_boat(self) -> str | None:
        names = self._offer.boats.names
        return names[len(self._steps) - 1] if len(self._steps) <= len(names) else None

    def put(self, x: int, y: int, south: bool) -> None:
        """Place the next boat from this square on to the south or to the east, or raise
        NotPossible.
        """
        boat = self.next_boat
        if boat is None:
            raise NotPossible("all boats are placed")
        width, height, length = self._offer.width, self._offer.height, int(boat[1:])
        cells = [(x, y + at) if south else (x + at, y) for at in range(length)]
        if cells[-1][0] >= width or cells[-1][1] >= height:
            raise NotPossible(
                f"{boat} does not fit from {square_name(x, y)} to the "
                f"{'south' if south else 'east'}"
            )
        squares = list(self.squares)
        for column, row in cells:
            if squares[row * width + column] != WATER:
                raise NotPossible(
                    f"{boat} would lie over {squares[row * width + column]} at "
                    f"{square_name(column, row)}"
                )
            squares[row * width + column] = boat[0]
        self._steps.append("".join(squares))

    def undo(self) -> None:
        if len(self._steps) > 1:
            self._steps.pop()


class RandomFleets(Struct, frozen=True):
    """Random fleets with at least `border` percent of their border free (see `border_of`)."""

    offer: Offer
    border: int = 0

    def draw(self, chance: Chance) -> str:
        """Draw a fleet. NotPossible: the boats are too many for the board."""
        width, height, boats = self.offer.width, self.offer.height, self.offer.boats
        try:
            check_room(boats, width, height)
        except BadOption as problem:
            raise NotPossible(str(problem)) from None
        best, best_border = "", -1.0
        for _ in range(DRAFTS):
            squares = self._improved(
                "".join(random_fleet(width, height, boats.names, chance)), chance
            )
            found = border_of(squares, self.offer)
            if found > best_border:
                best, best_border = squares, found
            if best_border >= self.border:
                break
        return best

    def _improved(self, squares: str, chance: Chance) -> str:
        """Move boats one at a time, as long as the border is too small, to where it does not become
        smaller.
        """
        border = border_of(squares, self.offer)
        for _ in range(MOVES):
            if border >= self.border:
                break
            moved = self._moved(squares, chance.choice(self.offer.boats.names), chance)
            found = border_of(moved, self.offer)
            if found >= border:
                squares, border = moved, found
        return squares

    def _moved(self, squares: str, boat: str, chance: Chance) -> str:
        """Move this boat to a random free place."""
        others = squares.replace(boat[0], WATER)
        lying = berths(self.offer.width, self.offer.height, int(boat[1:])).values()
        marks = list(others)
        for square in chance.choice(
            [berth for berth in lying if all(others[square] == WATER for square in berth)]
        ):
            marks[square] = boat[0]
        return "".join(marks)


def border_of(squares: str, offer: Offer) -> float:
    """Return how many percent of their border the boats have free.

    The border of a boat is every square beside it, without corners: at most 2 * length + 2 squares.
    """
    beside: dict[str, set[int]] = {letter: set() for letter in offer.boats.lengths}
    for square, letter in enumerate(squares):
        if letter != WATER:
            beside[letter].update(
                other for other in _beside(square, offer.width, squares) if squares[other] == WATER
            )
    return (
        100
        * sum(map(len, beside.values()))
        / sum(2 * length + 2 for length in offer.boats.lengths.values())
    )


def _beside(square: int, width: int, squares: str) -> list[int]:
    x = square % width
    found = [square - width, square + width]
    found += [square - 1] if x else []
    found += [square + 1] if x < width - 1 else []
    return [other for other in found if 0 <= other < len(squares)]


def given_fleet(squares: str, offer: Offer) -> str:
    """Check a fleet given as one text, or raise NotPossible."""
    if len(squares) != offer.squares:
        raise NotPossible(f"this game's boards have {offer.squares} squares, not {len(squares)}")
    try:
        check_fleet(squares, offer.boats, offer.width)
    except IllegalMove as problem:
        raise NotPossible(str(problem)) from None
    return squares


KEPT_MESSAGES = 1000
NO_VALUES = ("",) * 5
"""In place of values that a line lacks."""
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
        self._said: list[LogMessage] = []
        """The messages of the last line."""
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

    def note(self, text: str, sender: str = SERVER, to: str = "", quiet: bool = False) -> None:
        said = LogMessage(sender, text, to, quiet)
        self._said.append(said)
        if not quiet:
            self.messages.append(said)
            del self.messages[:-KEPT_MESSAGES]

    def forget(self, sender: str | None = None) -> None:
        """Clear all messages, or those of one player."""
        self.messages = [
            said for said in self.messages if sender is not None and said.sender != sender
        ]

    def hear(self, line: bytes) -> list[LogMessage]:
        """Apply a line and return the messages to show."""
        kind, *values = text_fields(line)
        self._said = []
        take = self._TAKE.get(kind)
        if take is None:
            self._words("|".join((kind, *values)))
            return self._said
        self.last_words = ""
        try:
            take(self, *values, *NO_VALUES)
        except BadOffer as problem:
            self._words(str(problem))
        return self._said

    def _words(self, text: str) -> None:
        if text:
            self.last_words = text
            self.note(text)

    # The kinds of lines. Values that a line lacks are empty, and further ones are ignored.

    def _shows_game(self, *values: str) -> None:
        if self.phase in (Phase.CONNECTING, Phase.OFFERED):
            self.offer, self.phase = offer_in(["G", *values]), Phase.OFFERED

    def _joins(self, name: str, *_: str) -> None:
        if self.phase is Phase.JOINING:
            self.me, self.phase = name, Phase.WAITING
        elif not name or name in self.players or not self._has_room():
            return
        self._player(name)
        self.note(f"{name} has joined", quiet=True)

    def _has_room(self) -> bool:
        return self.phase in (Phase.WAITING, Phase.PLAYING) and len(self.players) < MOST_PLAYERS

    def _player(self, name: str) -> TrackedPlayer:
        return self.players.setdefault(name, TrackedPlayer(name, WATER * self.game.squares))

    def _refuses(self, text: str, *_: str) -> None:
        if self.phase is not Phase.JOINING:
            return self._words(text)
        self.refusal, self.phase = text or "the server does not take this name", Phase.OFFERED
        return self.note(self.refusal, quiet=True)

    def _leaves(self, name: str, reason: str, *_: str) -> None:
        if name not in self.players or self.phase is Phase.OVER:
            return
        if self.phase is Phase.PLAYING:
            self.players[name].status = reason or "disconnected"
        else:
            del self.players[name]
        self.note(f"{name} has left" + (f": {reason}" if reason else ""))

    def _shows_board(
        self, name: str, status: str, board: str, score: str, skips: str, *_: str
    ) -> None:
        if not name or (name not in self.players and not self._has_room()):
            return
        player = self._player(name)
        if status and status != player.status:
            self.note(f"{name} is away: {status}")
        player.status, player.score, player.skips = status, number_in(score), number_in(skips)
        if len(board) == len(player.board):
            self._compare(player, board)
            player.board = board

    def _compare(self, player: TrackedPlayer, board: str) -> None:
        """Find the square that was shot.

        Several new squares mean that the player has rejoined the game.
        """
        new = [
            square
            for square, (old, now) in enumerate(zip(player.board, board, strict=True))
            if old != now
        ]
        if len(new) != 1 or self.phase is not Phase.PLAYING or not self.to_move:
            return
        self.last = LastTurn(self.to_move, player.name, new[0], board[new[0]] == HIT)
        y, x = divmod(new[0], self.game.width)
        if not self.last.hit:
            self.note(f"{self.to_move} misses {player.name} at {square_name(x, y)}", quiet=True)

    def _starts(self, *names: str) -> None:
        if self.phase in (Phase.JOINING, Phase.WAITING, Phase.PLAYING):
            order = [name for name in names[:MOST_PLAYERS] if name]
            self.phase, self.players = Phase.PLAYING, {name: self._player(name) for name in order}
            self.note(f"the game has started: {', '.join(order)}")

    def _turns_to(self, name: str, *_: str) -> None:
        self.to_move, self.spent = name, False

    def _hits(self, shooter: str, target: str, where: str, *_: str) -> None:
        self.note(f"{shooter} hits {target} at {where}")

    def _skips(self, name: str, reason: str, *_: str) -> None:
        if name in self.players:
            self.players[name].skips += 1
        self.last = LastTurn(name)
        self.note(f"{name} skips" + (f": {reason}" if reason else ""))

    def _speaks(self, sender: str, text: str, group: str, *_: str) -> None:
        if not sender and self.spent and text.startswith(REFUSALS):
            self.spent = False
            self.refused += 1
        self.note(text, sender or SERVER, group)

    def _gives_fleet(self, squares: str, *_: str) -> None:
        fleet = squares.upper().replace(MISS, WATER)
        if self.phase is Phase.WAITING and len(fleet) == self.game.squares:
            self.fleet = fleet

    def _ends(self, ending: str, rounds: str, places: str, *_: str) -> None:
        self.phase, self.ending, self.rounds = Phase.OVER, ending, number_in(rounds)
        self.places, self.to_move, self.results = number_in(places), "", []
        self.note(f"the game is {ending or 'over'} after {plural(self.rounds, 'round')}")

    def _places(self, name: str, score: str, skips: str, turns: str, status: str, *_: str) -> None:
        if self.phase is Phase.OVER and len(self.results) < MOST_PLAYERS:
            counts = number_in(score), number_in(skips), number_in(turns)
            self.results.append(ResultRow(name, *counts, status))

    def _echoes(self, *_: str) -> None:
        pass

    _TAKE: ClassVar[dict[str, Callable[..., None]]] = {
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


# The lines that a player sends. NotPossible is raised for those that a server would refuse.

NOT_IN_NAMES = "|\r\n"
KINDS = ("hit", "miss")


def join(boats: TrackedGame, name: str, token: str = "") -> bytes:
    """Join with the fleet, or rejoin a started game without one: a server with many games may take
    a fleet as a wish to join the next game.
    """
    if not name.strip() or any(letter in name for letter in NOT_IN_NAMES) or not name.isprintable():
        raise NotPossible("a name is a word of letters that can be printed, without a |")
    if token and not (token.isascii() and token.isalnum()):
        raise NotPossible("a token is made of letters and digits")
    back = boats.returning or boats.game.started
    board = WATER * boats.game.squares if back else boats.fleet
    boats.me, boats.phase, boats.refusal = name.strip(), Phase.JOINING, ""
    if token:
        return line_of("J", name, board, token)
    return line_of("J", name) if back else line_of("J", name, board)


def shoot(boats: TrackedGame, target: TrackedPlayer, x: int, y: int) -> bytes:
    _check_turn(boats)
    if target.name == boats.me:
        raise NotPossible("don't shoot at yourself")
    if target.board[y * boats.game.width + x] != WATER:
        raise NotPossible(f"{square_name(x, y)} of {target.name} has already been shot at")
    boats.spent = True
    return line_of("S", target.name, str(x + 1), str(y + 1))


def skip(boats: TrackedGame, reason: str = "") -> bytes:
    _check_turn(boats)
    boats.spent = True
    return line_of("K", reason) if reason.strip() else line_of("K")


def _check_turn(boats: TrackedGame) -> None:
    if boats.phase is not Phase.PLAYING:
        raise NotPossible(
            "the game has not started" if boats.phase is not Phase.OVER else "the game is over"
        )
    if not boats.my_turn:
        raise NotPossible("it is not your turn")
    if boats.spent:
        raise NotPossible("the server has not answered yet")


def say(boats: TrackedGame, to: TrackedPlayer | None, text: str) -> bytes:
    """Send a message to one player or to all. Servers do not echo it, so it is logged here."""
    if not text.strip():
        raise NotPossible("there is nothing to send")
    if to is not None and to.name == boats.me:
        raise NotPossible("that is you")
    boats.note(text, boats.me, to.name if to else "All")
    return line_of("M", to.name if to else "", text)


def taunt(kind: str, text: str) -> bytes:
    """Add a taunt for a hit or a miss; an empty text clears all taunts of this kind."""
    return line_of("T", kind, text)


def leave() -> bytes:
    return line_of("L")


def taunts_in(text: str) -> list[bytes]:
    """Read a file of `hit=TEXT` and `miss=TEXT` lines, or raise NotPossible."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not key or key[0] in "#;[":
            continue
        if not equals or key.lower() not in KINDS:
            raise NotPossible(f"line {number}: a taunt is hit=TEXT or miss=TEXT")
        if value:
            lines.append(taunt(key.lower(), value))
    return lines
