"""Xterm Boat Sinker's lines: one reader and one writer for servers and clients.

Servers keep fields as bytes, since the protocol names no encoding. Clients show text: see
`text_fields`.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from botdrome.games.battleship import (
    WATER,
    Battleship,
    Boats,
    KnownShot,
    Shot,
    Square,
    boats_in,
    check_fleet,
)
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, IllegalMove, Raw
from botdrome.match.events import Ended, Event, Late, Left, Played, Player, Refused, Returned
from botdrome.match.match import News
from botdrome.wire.conversation import Outs, Submit
from botdrome.wire.writers import MatchHeader, MatchStatus, PlayerMessages

LONGEST_LINE = 4094
"""Bytes of a line that a server sends."""
LONGEST_SENT = 4000
"""Bytes of a line that a client sends; the original server cuts at 4095."""
LONGEST_HEARD = 1 << 16
"""Bytes of a line that a client reads."""
COLUMNS = "abcdefghijklmnopqrstuvwxyz"
"""Names of the columns of a board: the first square is a1."""
NEVER_SENT = str.maketrans({"|": "/", "\n": " ", "\r": " "})
BLANKS = " \t\n\r\v\f"
"""Characters trimmed from both ends of a field; other blanks are part of a name."""
RESERVED = frozenset({b"server", b"all", b"you", b"me"})
NOT_IN_NAMES = re.compile(rb"[<>\[\]{}()|\x00-\x1f\x7f]")
NUMBER = re.compile(rb"\+?[0-9]{1,9}")
PLACES = {b"%d" % (place + 1): place for place in range(26)}
"""Coordinates in their most common form."""

PROTOCOL_ERROR = b"protocol error"
FULL = b"game is full"
STARTED = b"game is already started"
BAD_BOARD = b"invalid board"
BOOTED = b"booted"
DISCONNECTED = b"disconnected"
COMM_ERROR = b"comm error"
"""The original's word for a client that it could not write to."""

NOT_STARTED = b"game hasn't started"
FINISHED = b"game is already finished"
NOT_YOUR_TURN = b"it is not your turn!"
NO_TARGET = b"invalid target player name"
YOURSELF = b"don't shoot at yourself stupid!"
SHOT_BEFORE = b"that spot has already been shot"
NO_SQUARE = b"illegal coordinates"


class RefusedShot(Exception):
    """A shot or a skip that is not allowed, with the words of the protocol."""

    def __init__(self, words: bytes) -> None:
        super().__init__(words.decode())
        self.words = words


# Reading.


def fields_of(line: bytes) -> list[bytes]:
    """Return type and values, trimmed, without empty ones at the end and without anything after a
    carriage return.
    """
    blank = line.split() != [line]  # rarely: this saves time for every shot
    fields = (
        [field.strip() for field in line.partition(b"\r")[0].split(b"|")]
        if blank
        else line.split(b"|")
    )
    while len(fields) > 1 and not fields[-1]:
        fields.pop()
    return fields


def value(fields: Sequence[bytes], at: int) -> bytes:
    return fields[at] if at < len(fields) else b""


def text_fields(line: bytes) -> list[str]:
    """The fields as text.

    Bytes that are not UTF-8 come back as they were when `line_of` sends the field.
    """
    return [field.decode("utf-8", "surrogateescape").strip() for field in fields_of(line)]


def number_in(text: str) -> int:
    """A count; anything else counts as 0."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def text_of(name: bytes) -> str:
    """Decode a name as UTF-8 or, if it is not, as Latin-1."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("latin-1")


def name_problem(name: bytes, width: int) -> bytes:
    """Return why this is no valid name on boards of that width; empty: it is valid."""
    first = name[:1]
    if (
        len(name) < 2
        or not (first.isascii() and first.isalpha())
        or name.lower() in RESERVED
        or NOT_IN_NAMES.search(name)
    ):
        return b"invalid name"
    return b"name too long" if len(name) > width else b""


def display_name(name: str, width: int, taken: Collection[bytes]) -> bytes:
    """Return a name that fits lines, for a player from another protocol."""
    raw = name.encode()
    if not name_problem(raw, width) and raw not in taken and raw == raw.strip():
        return raw
    kept = NOT_IN_NAMES.sub(b"", name.encode("ascii", "ignore")).lstrip(
        b"0123456789 !\"#$%&'*+,-./:;=?@\\^_`~"
    )
    base = kept[:width].strip() or b"bot"
    number, shown = 1, base
    while name_problem(shown, width) or shown in taken:
        number += 1
        ending = b"%d" % number
        shown = base[: width - len(ending)].rstrip() + ending
    return shown


def is_fleet(board: bytes, boats: str, width: int, height: int) -> bool:
    """Return whether this is water and every boat once, row by row."""
    try:
        check_fleet(board.decode("latin-1"), boats_in(boats), width)
    except IllegalMove:
        return False
    return len(board) == width * height


def player_called(word: bytes, names: Sequence[bytes]) -> int | None:
    """Find a player by exact name, unique beginning of a name in any case, or number in
    turn order.
    """
    if word in names:
        return names.index(word)
    found = [
        number
        for number, name in enumerate(names)
        if word and name.lower().startswith(word.lower())
    ]
    if len(found) == 1:
        return found[0]
    number = int(word) if NUMBER.fullmatch(word) and word[:1] != b"+" else 0
    return number - 1 if 0 < number <= len(names) else None


def aimed(
    fields: Sequence[bytes], names: Sequence[bytes], shooter: int, position: Battleship
) -> Raw:
    """Read the shot `S|player|x|y` of the player whose turn it is, or raise RefusedShot."""
    _, called, across, down = fields if len(fields) == 4 else (*fields, b"", b"", b"")[:4]
    target = player_called(called, names)
    if target is None:
        raise RefusedShot(NO_TARGET)
    if target == shooter:
        raise RefusedShot(YOURSELF)
    x, y = PLACES.get(across, -1), PLACES.get(down, -1)
    if not (0 <= x < position.width and 0 <= y < position.height):
        x, y = _coordinate(across, position.width), _coordinate(down, position.height)
    if position.boards[target][y * position.width + x] != WATER:
        raise RefusedShot(SHOT_BEFORE)
    return {"target": target, "x": x, "y": y}


@cache
def plain_shots(target: int, width: int, height: int) -> dict[bytes, KnownShot]:
    """All shots at one player, by their coordinates in the most common form."""
    return {
        b"%d|%d" % (x + 1, y + 1): KnownShot(Shot(target, x, y), width)
        for y in range(height)
        for x in range(width)
    }


PlainShot = tuple[int, Square, Outs]
"""The target, the square, and what the conversation asks for."""


@lru_cache(maxsize=64)
def plain_lines(name: bytes, target: int, width: int, height: int) -> dict[bytes, PlainShot]:
    """All shots at one player, by their lines in the most common form.

    Cached, since the same bots play again and again.
    """
    lines: dict[bytes, PlainShot] = {}
    for coordinates, raw in plain_shots(target, width, height).items():
        line = b"S|%b|%b" % (name, coordinates)
        lines[line] = target, raw.square, (Submit(raw, line),)
    return lines


def _coordinate(word: bytes, size: int) -> int:
    place = int(word) - 1 if NUMBER.fullmatch(word) else -1
    if not 0 <= place < size:
        raise RefusedShot(NO_SQUARE)
    return place


def square_name(x: int, y: int) -> str:
    """The square as people and the line H name it: a1 is the first."""
    return f"{COLUMNS[x]}{y + 1}"


# Writing.


def line_of(*fields: str) -> bytes:
    """A client's line with its end.

    No field can contain a separator or a line end, and the line fits every server.
    """
    text = "|".join(field.translate(NEVER_SENT).strip() for field in fields)
    return text.encode("utf-8", "surrogateescape")[:LONGEST_SENT] + b"\n"


def joined(name: bytes) -> bytes:
    return b"J|" + name


def left(name: bytes, reason: bytes) -> bytes:
    return b"L|%b|%b" % (name, reason)


def retry(words: bytes) -> bytes:
    """The name is refused; the client may try another one."""
    return b"E|" + words


def said(sender: bytes, text: bytes, to_all: bool = False) -> bytes:
    """A message; without a sender it is from the server. Long messages are cut."""
    return (b"M|%b|%b%b" % (sender, text, b"|All" if to_all else b""))[:LONGEST_LINE]


@lru_cache(maxsize=1024)
def counts_of(score: int, skips: int) -> bytes:
    """The end of a line B."""
    return b"|%d|%d" % (score, skips)


def results(
    state: bytes, rounds: int, rows: Sequence[tuple[bytes, int, int, int, bytes]]
) -> list[bytes]:
    """F, and for each player a line R with score, skips, turns and status, best first."""
    ranked = sorted(rows, key=lambda row: -row[1])
    return [
        b"F|%b|%d|%d" % (state, rounds, len(rows)),
        *(b"R|%b|%d|%d|%d|%b" % row for row in ranked),
    ]


def plain(text: str) -> bytes:
    """Return text that fits into one field of a line."""
    return " ".join(text.replace("|", "/").split()).encode(errors="replace")


# The line G: the game that a server offers, written by servers and read by clients.

PORT = 7948
"""Default port of the protocol."""
VERSION = "1.2.0"
"""Version of the protocol. Clients want 1.1 at least."""


class BadOffer(Exception):
    """A line G that describes no game, with the reason."""


class Offer(Struct, frozen=True):
    """The game that can be joined."""

    title: str
    least: int
    most: int
    goal: int
    width: int
    height: int
    boats: Boats

    @property
    def squares(self) -> int:
        return self.width * self.height

    def info(self, started: bool, joined: int) -> bytes:
        counts = (
            self.least,
            self.most,
            joined,
            self.goal,
            self.width,
            self.height,
            len(self.boats.names),
        )
        fields = (
            "G",
            VERSION,
            self.title,
            "Y" if started else "N",
            *map(str, counts),
            *self.boats.names,
        )
        return "|".join(fields).encode()


class OfferedGame(Offer, frozen=True, kw_only=True):
    """An offer as a client reads it."""

    version: str
    started: bool
    joined: int


def offer_in(fields: Sequence[str]) -> OfferedGame:
    """Read G|version|title|started|min|max|joined|goal|width|height|count|boat..., or raise
    BadOffer.
    """
    _, version, title, started, *words = (*fields[:11], *[""] * 11)[:11]
    least, most, joined, goal, width, height, count = map(number_in, words)
    if not 1 <= width <= len(COLUMNS) or not 1 <= height <= len(COLUMNS):
        raise BadOffer(f"the server offers a board of {width} by {height}")
    try:
        boats = boats_in(" ".join(fields[11 : 11 + count]))
    except BadOption as problem:
        raise BadOffer(f"the server offers a game with {problem}") from None
    return OfferedGame(
        title, least, most, goal or boats.squares, width, height, boats,
        version=version, started=started.upper() == "Y", joined=joined,
    )  # fmt: skip


# BoatWriter: the lines that the players of a boat game get.

OUT_OF_TIME = b"out of time"
TAUNT_BYTES = 16 << 10
"""All the taunts of one player together."""


class Taunts:
    """Messages of a player for opponents that shoot at it."""

    def __init__(self) -> None:
        self._texts: dict[bytes, list[bytes]] = {b"hit": [], b"miss": []}
        self.any = False

    def set(self, kind: bytes, text: bytes) -> None:
        """Add a taunt; an empty text clears the kind.

        Unknown kinds and taunts beyond 16 KiB are ignored.
        """
        texts = self._texts.get(kind.lower())
        if texts is None:
            return
        if not text:
            texts.clear()
        elif (
            sum(len(one) for many in self._texts.values() for one in many) + len(text)
            <= TAUNT_BYTES
        ):
            texts.append(text)
        self.any = any(self._texts.values())

    def draw(self, hit: bool, chance: Chance) -> bytes | None:
        texts = self._texts[b"hit" if hit else b"miss"]
        return chance.choice(texts) if texts else None


class Roster:
    """The players of one game in turn order: their names on lines, why they are away, and their
    taunts.
    """

    def __init__(self, names: Sequence[bytes], taunts: Sequence[Taunts], chance: Chance) -> None:
        self.names, self.taunts, self.chance = tuple(names), tuple(taunts), chance
        self.statuses = [b""] * len(self.names)
        self.started = False
        """S was sent."""
        self.skip_reason = b""
        """Reason for the next skip."""


class NewsLines:
    """The lines for one batch of news, in order: most are for all, some for one player."""

    __slots__ = ("ends", "lines", "only")

    def __init__(self) -> None:
        self.ends = False
        """The game ends with this event: nobody has the next turn."""
        self.lines: list[bytes] = []
        self.only: dict[int, Player] = {}
        """By the number of the line."""

    def to_one(self, player: Player, *lines: bytes) -> None:
        for line in lines:
            self.only[len(self.lines)] = player
            self.lines.append(line)

    def told(self, players: Collection[Player]) -> PlayerMessages:
        """Return for each player one message of all its lines."""
        if not self.only:
            alike = [b"\n".join(self.lines)]
            return dict.fromkeys(players, alike) if self.lines else {}
        heard = {player: self._heard(player) for player in players}
        return {player: [b"\n".join(lines)] for player, lines in heard.items() if lines}

    def _heard(self, player: Player) -> list[bytes]:
        return [
            line
            for number, line in enumerate(self.lines)
            if self.only.get(number, player) == player
        ]


class BoatWriter:
    """Writes for all players of one match that are on lines, and knows the position that they were
    last told.
    """

    def __init__(self, roster: Roster) -> None:
        self.roster, self._names = roster, roster.names
        self.position: Battleship | None = None
        self.over = False
        self._plain: dict[bytes, PlainShot] = {}
        """The shots by their lines in the most common form, while the game runs."""
        self._heads = [b"B|%b|" % name for name in roster.names]
        self._turns = [b"N|" + name for name in roster.names]
        self._asked = [b"\n" + turn for turn in self._turns]
        self._say: dict[type[Event], Callable[[Any, Any, NewsLines], None]] = {
            Played: self._played,
            Left: self._left,
            Returned: self._returned,
            Late: self._late,
            Refused: self._refused,
            Ended: self._ended,
        }

    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        position: Any
        if len(news) == 1:
            ((event, position),) = news
            shot = position.shot if type(event) is Played else None
            if shot is not None and position.to_move and not self.roster.taunts[shot.target].any:
                self.position = position  # a shot without a taunt, which is most news
                end = self._asked[position.to_move[0]]
                alike = [self.board(shot.target, position, end)]
                if position.hit:
                    alike = [b"\n".join((*self._hit(shot, position), *alike))]
                return dict.fromkeys(players, alike)
        out = NewsLines()
        for at, (event, position) in enumerate(news, 1):
            self.position = position
            out.ends = at < len(news) and type(news[at][0]) is Ended
            say = self._say.get(type(event))
            if say is not None:
                say(event, position, out)
        return out.told(players)

    def board(self, player: Player, position: Battleship, end: bytes = b"") -> bytes:
        counts = counts_of(position.scores[player], position.skips[player])
        status, squares = self.roster.statuses[player], position.boards[player].encode()
        return b"".join((self._heads[player], status, b"|", squares, counts, end))

    # Requests of the conversations.

    def for_match(self, _: MatchHeader) -> "BoatWriter":
        return self

    def turns_of(self, player: Player) -> int:
        return 0 if self.position is None else self.position.turns[player]

    def is_asked(self, player: Player) -> bool:
        position = self.position
        return (
            position is not None
            and self.roster.started
            and not self.over
            and position.to_move == (player,)
        )

    def check_turn(self, player: Player) -> None:
        """Raise RefusedShot unless it is this player's turn."""
        if self.over:
            raise RefusedShot(FINISHED)
        if not self.roster.started:
            raise RefusedShot(NOT_STARTED)
        if not self.is_asked(player):
            raise RefusedShot(NOT_YOUR_TURN)

    def plain_shot(self, player: Player, line: bytes) -> Outs | None:
        """What to do for a shot in its most common form, if it is allowed.

        None: `shot` has to look at it.
        """
        known = self._plain.get(line)
        if known is None:
            return None
        position: Any = self.position
        target, square, outs = known
        if target == player or position.to_move != (player,):
            return None
        return outs if position.boards[target][square] == WATER else None

    def shot(self, player: Player, fields: Sequence[bytes]) -> Raw:
        """The shot in these fields, or raise RefusedShot."""
        self.check_turn(player)
        assert self.position is not None
        return aimed(fields, self._names, player, self.position)

    # The course of a game.

    def _played(self, event: Played, position: Battleship, out: NewsLines) -> None:
        shot = position.shot
        if shot is not None:
            if position.hit:
                line, own = self._hit(shot, position)
                out.lines.append(line)
                self._taunt(shot, position, out)
                out.lines.append(own)
            else:
                self._taunt(shot, position, out)
            out.lines.append(self.board(shot.target, position))
        elif position.turn:
            out.lines.append(self._skip(event, self._shooter(position)))
        else:
            self._start(position, out)
        if position.to_move and not out.ends:
            out.lines.append(self._turns[position.to_move[0]])

    def _hit(self, shot: Shot, position: Battleship) -> tuple[bytes, bytes]:
        shooter, names = self._shooter(position), self._names
        square = square_name(shot.x, shot.y).encode()
        hit = b"|".join((b"H", names[shooter], names[shot.target], square))
        return hit, self.board(shooter, position)

    def _taunt(self, shot: Shot, position: Battleship, out: NewsLines) -> None:
        taunt = self.roster.taunts[shot.target].draw(position.hit, self.roster.chance)
        if taunt is not None:
            out.to_one(self._shooter(position), said(self._names[shot.target], taunt))

    def _shooter(self, position: Battleship) -> Player:
        return (position.turn - 1) % len(self._names)

    def _start(self, position: Battleship, out: NewsLines) -> None:
        """All fleets are placed."""
        self.roster.started = True
        for target, name in enumerate(self._names):
            self._plain |= plain_lines(name, target, position.width, position.height)
        out.lines += [self.board(player, position) for player in range(len(self._names))]
        out.lines.append(self._order())

    def _skip(self, event: Played, player: Player) -> bytes:
        """A player without a move was too late, or away."""
        roster = self.roster
        reason, roster.skip_reason = roster.skip_reason, b""
        if player not in event.moves:
            reason = roster.statuses[player] or OUT_OF_TIME
        return b"K|%b|%b" % (self._names[player], reason)

    def _order(self) -> bytes:
        return b"|".join((b"S", *self._names))

    def _ended(self, event: Ended, position: Battleship, out: NewsLines) -> None:
        self.over, self._plain = True, {}
        rows = list(
            zip(
                self._names,
                position.scores,
                position.skips,
                position.turns,
                self.roster.statuses,
                strict=True,
            )
        )
        out.lines += results(
            b"aborted" if event.result.aborted else b"finished", position.turns[0], rows
        )

    # Coming and going.

    def _left(self, event: Left, position: Battleship, out: NewsLines) -> None:
        statuses = self.roster.statuses
        statuses[event.player] = statuses[event.player] or DISCONNECTED
        if self.roster.started:
            out.lines.append(self.board(event.player, position))

    def _returned(self, event: Returned, position: Battleship, out: NewsLines) -> None:
        back, roster = event.player, self.roster
        roster.statuses[back] = b""
        out.to_one(back, *self._welcome_back(back, position))
        if roster.started:
            out.lines.append(self.board(back, position))
        out.lines.append(said(b"", self._names[back] + b" reconnected", to_all=True))

    def _welcome_back(self, player: Player, position: Battleship) -> list[bytes]:
        """All that a player that rejoins needs: its board with its boats, and the boards of the
        others.
        """
        others = [other for other in range(len(self._names)) if other != player]
        if not self.roster.started:
            return [joined(self._names[player]), *(joined(self._names[other]) for other in others)]
        own = b"Y|" + position.fleets[player].upper().encode()
        company = [
            line
            for other in others
            for line in (joined(self._names[other]), self.board(other, position))
        ]
        return [
            joined(self._names[player]),
            own,
            *company,
            self._order(),
            *(self._turns[seat] for seat in position.to_move),
        ]

    # To one alone.

    def _late(self, event: Late, position: Battleship, out: NewsLines) -> None:
        out.to_one(event.player, said(b"", NOT_YOUR_TURN))

    def _refused(self, event: Refused, position: Battleship, out: NewsLines) -> None:
        out.to_one(event.player, said(b"", event.why.encode()))
