"""Battlecube: the requests of organisers over socket.io, the state of play and its events, and the
calls to bots.
"""

import math
import re
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from botdrome.games.battlecube import A_NUMBER, NO_STARTS, TOO_MANY, WRONG_COUNT, Battlecube, Cell
from botdrome.games.game import Game, Raw, View
from botdrome.games.reading import BRIEF, UNREADABLE, bounded, shown
from botdrome.match.events import Began, Ended, Out, Played, Player
from botdrome.match.match import News
from botdrome.match.terms import Milliseconds, Pace, Terms
from botdrome.wire.conversation import LONGEST_VERSION, Command, Outs
from botdrome.wire.framing.socketio import AN_EVENT, SocketIoConversation
from botdrome.wire.writers import MatchHeader, MatchStatus, PlayerMessages

# Checks for the messages of Battlecube's organisers, with the error messages of the original. The
# first fault is reported.

Path = tuple[str | int, ...]
"""The keys that lead to a value."""
Check = Callable[[Any, Path], Any]
"""From a value and its path to the value in its type, or Fault."""
Details = str | list[dict[str, Any]]

INVALID = "INVALID_GAME_CONFIGURATION"
MISSING = object()
LONGEST_ECHO = 400
"""Bytes of a faulty value that are sent back."""
URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*"
)
OURS = re.compile(r"(house|bot|connect):.+", re.DOTALL)
"""Players that are not called by a URL: a name follows."""


class Fault(Exception):
    """The error in an ERROR event."""

    def __init__(self, details: Details, kind: str = INVALID) -> None:
        super().__init__(details)
        self.details, self.kind = details, kind


def fault(path: Path, words: str, kind: str, **context: Any) -> Fault:
    """One element of the original's list of errors."""
    label = path[-1] if path else "value"
    where = {"key": label, "label": label} if path else {"label": label}
    return Fault(
        [
            {
                "message": f'"{label}" {words}',
                "path": list(path),
                "type": kind,
                "context": context | where,
            }
        ]
    )


def echoed(value: Any) -> Any:
    """A value to send back: itself if it is short and can be encoded, else its beginning."""
    try:
        return value if len(msgspec.json.encode(value)) <= LONGEST_ECHO else shown(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return "a value that cannot be shown"


# Single values.


def whole(least: int, most: int) -> Check:
    """An integer, also as text.

    The original reports every number that is too small as not positive.
    """

    def check(value: Any, path: Path) -> int:
        number = _number(value)
        if number is None:
            raise fault(path, "must be a number", "number.base")
        if number != math.floor(number):
            raise fault(path, "must be an integer", "number.integer", value=number)
        if number < least:
            raise fault(path, "must be a positive number", "number.positive", value=number)
        if number > most:
            raise fault(
                path,
                f"must be less than or equal to {most}",
                "number.max",
                limit=most,
                value=number,
            )
        return int(number)

    return check


def _number(value: Any) -> float | None:
    if isinstance(value, str) and A_NUMBER.fullmatch(value):
        value = float(value)
        value = int(value) if value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e300 else None


def text(most: int) -> Check:
    def check(value: Any, path: Path) -> str:
        if not isinstance(value, str) or not _is_unicode(value):
            raise fault(path, "must be a string", "string.base", value=echoed(value))
        if not value:
            raise fault(path, "is not allowed to be empty", "any.empty")
        if len(value) > most:
            words = f"length must be less than or equal to {most} characters long"
            raise fault(path, words, "string.max", limit=most, value=echoed(value))
        return value

    return check


def _is_unicode(value: str) -> bool:
    """A lone surrogate can be neither stored nor sent."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def uri(most: int) -> Check:
    """Any absolute one, of any scheme."""
    plain = text(most)

    def check(value: Any, path: Path) -> str:
        url: str = plain(value, path)
        if not URI.fullmatch(url) and not OURS.fullmatch(url):
            raise fault(path, "must be a valid uri", "string.uri", value=echoed(url))
        return url

    return check


# Values made of others.


def unpacked(value: Any) -> Any:
    """JSON inside a text counts as what it holds."""
    if isinstance(value, str):
        try:
            return msgspec.json.decode(bounded(value.encode()))
        except (ValueError, RecursionError):
            return value
    return value


def listing(item: Check, most: int) -> Check:
    def check(value: Any, path: Path) -> list[Any]:
        items = unpacked(value)
        if not isinstance(items, list):
            raise fault(path, "must be an array", "array.base")
        if len(items) > most:
            raise fault(
                path, f"must contain less than or equal to {most} items", "array.max", limit=most
            )
        return [item(element, (*path, at)) for at, element in enumerate(items)]

    return check


def mapping(needed: Mapping[str, Check], allowed: Mapping[str, Check]) -> Check:
    """An object with all keys of the one kind and perhaps those of the other, in the order of the
    checks, and no more.
    """

    def check(value: Any, path: Path) -> dict[str, Any]:
        given = unpacked(value)
        if value is MISSING:
            raise fault(path, "is required", "any.required")
        if not isinstance(given, dict):
            raise fault(path, "must be an object", "object.base")
        read: dict[str, Any] = {}
        for key, inner in needed.items():
            if key not in given:
                raise fault((*path, key), "is required", "any.required")
            read[key] = inner(given[key], (*path, key))
        read |= {
            key: inner(given[key], (*path, key)) for key, inner in allowed.items() if key in given
        }
        for key in given:
            if key not in read:
                raise fault(
                    (*path, echoed(key)), "is not allowed", "object.allowUnknown", child=echoed(key)
                )
        return read

    return check


NOT_UNIQUE = "All player names must be unique"
SAME_START = "Two players have the same start position"
MOST_EDGE, MOST_TICKS, MOST_TASKS = 1000, 1_000_000, 1000
MOST_PLAYERS = Battlecube.players[-1]
SLOWEST = 60_000
"""Milliseconds between two ticks."""
LONGEST_NAME, LONGEST_URL, LONGEST_ID = 64, 2048, 64


def _version(value: Any, path: Path) -> str:
    version: str = text(LONGEST_VERSION)(value, path)
    if not version.isprintable():
        raise fault(
            path, "must have printable characters only", "string.base", value=echoed(version)
        )
    return version


_CELL = {axis: whole(0, MOST_EDGE) for axis in "xyz"}
_NEEDED = {
    "maxNumOfTicks": whole(1, MOST_TICKS),
    "edgeLength": whole(1, MOST_EDGE),
}
_SPEED = {"speed": whole(0, SLOWEST)}
_TASKS = {"numOfTasksPerTick": whole(1, MOST_TASKS)}
_STARTS = {
    "playerStartPositions": listing(mapping({"name": text(LONGEST_NAME)} | _CELL, {}), MOST_PLAYERS)
}
_PLAYER = mapping(
    {"name": text(LONGEST_NAME), "url": uri(LONGEST_URL)},
    {"token": text(LONGEST_URL), "version": _version},
)
_ID = {"id": text(LONGEST_ID)}
_SETUP = mapping(_NEEDED | _TASKS, _SPEED | _STARTS)
_UPDATE = mapping(_NEEDED | _TASKS, _SPEED | _STARTS | _ID)
_NEW_GAME = mapping({"setup": _SETUP, "players": listing(_PLAYER, MOST_PLAYERS)}, {})
_ONE_GAME = mapping({}, _ID)
_CLAIM = mapping(_ID | {"key": text(LONGEST_ID)}, {})


class CubePlayer(Struct, frozen=True):
    name: str
    url: str
    token: str | None = None
    """The bot's token, if the name is that of a registered bot."""
    version: str = ""


class CubeSetup(Struct, frozen=True):
    ticks: int
    edge: int
    tasks: int
    speed: int = 0
    """Milliseconds of pause after each tick."""
    starts: tuple[tuple[str, Cell], ...] | None = None
    """None: random."""

    @property
    def options(self) -> dict[str, int]:
        """The options that may change while the game runs."""
        return {"edge": self.edge, "ticks": self.ticks, "tasks": self.tasks}

    @property
    def game(self) -> Battlecube:
        return Battlecube(
            self.edge, self.ticks, self.tasks, tuple(cell for _, cell in self.starts or ())
        )

    @property
    def pause(self) -> Milliseconds:
        """At least 1 ms where several ticks need one answer, so that other games get their turn
        between them.
        """
        return self.speed or int(self.tasks > 1)

    def terms(self, limit: Milliseconds) -> Terms:
        """`limit` is the time limit of a call."""
        return Terms(Pace(limit, pause=self.pause), strikes=1)


class NewGame(Struct, frozen=True):
    setup: CubeSetup
    players: tuple[CubePlayer, ...]
    """In the order of their seats: that of the start positions, if these are given."""


def new_game_in(args: list[Any]) -> NewGame:
    """Read NEW_GAME, or raise Fault."""
    read = _NEW_GAME(_first(args), ())
    setup = _setup(read["setup"])
    players = {player["name"]: CubePlayer(**player) for player in read["players"]}
    if len(players) != len(read["players"]):
        raise Fault(NOT_UNIQUE)
    if setup.starts is not None:
        names = [name for name, _ in setup.starts]
        if len(names) != len(players) or set(names) != set(players):
            raise Fault(NO_STARTS)
        players = {name: players[name] for name in names}
    if len(players) > setup.edge**3:
        raise Fault(TOO_MANY)
    _check_cells(setup)
    return NewGame(setup, tuple(players.values()))


def _first(args: list[Any]) -> Any:
    return args[0] if args else MISSING


def _setup(read: dict[str, Any]) -> CubeSetup:
    starts = read.get("playerStartPositions")
    return CubeSetup(
        read["maxNumOfTicks"],
        read["edgeLength"],
        read["numOfTasksPerTick"],
        read.get("speed", 0),
        None
        if starts is None
        else tuple((start["name"], (start["x"], start["y"], start["z"])) for start in starts),
    )


def _check_cells(setup: CubeSetup) -> None:
    seen: set[Cell] = set()
    for at, (_, cell) in enumerate(setup.starts or ()):
        for axis, value in zip("xyz", cell, strict=True):
            if value >= setup.edge:
                path = ("setup", "playerStartPositions", at, axis)
                raise fault(
                    path,
                    f"must be less than {setup.edge}",
                    "number.less",
                    limit=setup.edge,
                    value=value,
                )
        if cell in seen:
            raise Fault(SAME_START)
        seen.add(cell)


def update_in(args: list[Any]) -> tuple[str | None, CubeSetup]:
    """Read GAME_SETUP_UPDATE: the id of the game (None: all games of the sender) and
    its new setup.
    """
    read = _UPDATE(_first(args), ())
    return read.get("id"), _setup(read)


def game_id_in(args: list[Any]) -> str | None:
    """The game id in an event: in an object, or alone; None: no id."""
    given = args[0] if args and args[0] is not None else {}
    found: str | None = _ONE_GAME({"id": given} if isinstance(given, str) else given, ()).get("id")
    return found


def claim_in(args: list[Any]) -> tuple[str, str]:
    """Read RECLAIM_GAME: the id of the game and its key."""
    read = _CLAIM(_first(args), ())
    return read["id"], read["key"]


# The bombs in Battlecube's state of play, as JSON.
#
# A bomb lies until a bot steps on it, and every tick shows all bombs. There may be a hundred
# thousand of them, so a pile remembers their JSON and encodes only the new ones.

MOST_OUTSIDE = 1000
"""Bombs outside the cube that are shown: they harm nobody, and bots can place any number of them.
"""
A_BOMB = b'{"x":%d,"y":%d,"z":%d,"type":"BOMB"}'


def shown_bombs(bombs: Sequence[Cell], edge: int) -> Sequence[Cell]:
    """All bombs in the cube, and the last of those outside."""
    if len(bombs) <= MOST_OUTSIDE:
        return bombs
    outside = [cell for cell in bombs if max(cell) >= edge]
    forgotten = set(outside[:-MOST_OUTSIDE])
    return [cell for cell in bombs if cell not in forgotten] if forgotten else bombs


class BombPile:
    """The bombs of one game as JSON.

    Nearly always these are the bombs of the last tick and a few more.
    """

    def __init__(self) -> None:
        self._bombs: tuple[Cell, ...] = ()
        self._edge = 0
        self._texts: dict[Cell, bytes] = {}
        self._outside: deque[Cell] = deque()

    def written(self, bombs: tuple[Cell, ...], edge: int) -> msgspec.Raw:
        known = len(self._bombs)
        if edge == self._edge and bombs[:known] == self._bombs:
            self._add(bombs[known:], edge)
        else:
            self._texts.clear()
            self._outside.clear()
            self._add(shown_bombs(bombs, edge), edge)
        self._bombs, self._edge = bombs, edge
        return msgspec.Raw(b"[" + b",".join(self._texts.values()) + b"]")

    def _add(self, bombs: Sequence[Cell], edge: int) -> None:
        texts, outside = self._texts, self._outside
        for cell in bombs:
            texts[cell] = A_BOMB % cell
            if max(cell) >= edge:
                outside.append(cell)
                if len(outside) > MOST_OUTSIDE:
                    del texts[outside.popleft()]


Payload = dict[str, Any]

ENCODER, DECODER = msgspec.json.Encoder(), msgspec.json.Decoder()
NO_ANSWER = "CONNECTION_ERROR"
BAD_ANSWER = "VALIDATION_ERROR"
A_POSITION = re.compile(r"task at position (\d+):")
QUOTES = ", not "
"""After this, the words about an illegal answer quote it."""
DID = {"move": "PLAYER_MOVE_ATTEMPT", "bomb": "PLAYER_PLACED_BOMB", "nothing": "PLAYER_DID_NOTHING"}
ASKING = (Began, Played, Out)
"""News after which the bots may be asked."""
LARGE = 1 << 16
"""Bytes of a state that is not copied for each bot: with many bombs it has megabytes, and there may
be 64 bots.
"""


MOST_EVENTS = 256
"""Maximum number of events that a game caches for later ticks."""


class CubeEvent(Struct, eq=False):
    """An event of socket.io. It is encoded once, when the first client needs it."""

    name: str
    payload: Payload
    _packet: bytes = b""

    @property
    def packet(self) -> bytes:
        if not self._packet:
            self._packet = AN_EVENT + ENCODER.encode((self.name, self.payload))
        return self._packet


class FinalScores(Struct, frozen=True):
    """The result, and the players with their scores: losers first, in the order in
    which they lost.
    """

    result: str
    scores: tuple[tuple[Player, int], ...]
    winner: tuple[Player, int] | None = None


class CubeWriter:
    """One game, from the given position on."""

    def __init__(
        self, game_id: str, names: tuple[str, ...], urls: tuple[str, ...], position: Game[Any]
    ) -> None:
        """`urls` may be empty if no bot is called."""
        self.game_id, self.names, self._urls = game_id, names, urls
        self.final: FinalScores | None = None
        """Set when the game is over."""
        self.reasons: dict[Player, str] = {}
        """Why the calls to players failed, in words for the organiser."""
        self._bodies = [_first_part(name, url) for name, url in zip(names, urls, strict=False)]
        self._position = position
        self._shown = False
        """Whether NEXT_TICK was sent for this tick."""
        self._viewed: Game[Any] | None = None
        self._view: View = {}
        self._state: Payload | None = None
        self._encoded = b""
        """The state as JSON, if bots were called with it."""
        self._pile = BombPile()
        self._events: dict[tuple[Any, ...], CubeEvent] = {}
        """A cache of events: a bot that stands still causes the same one again."""

    # The state of play.

    def view(self, position: Game[Any]) -> View:
        if position is not self._viewed:
            self._viewed, self._view = position, position.view(None)
            self._state, self._encoded = None, b""
        return self._view

    def state(self, position: Game[Any]) -> Payload:
        """The payload of NEXT_TICK."""
        view = self.view(position)
        if self._state is None:
            self._state = self._write_state(view)
        return self._state

    def _write_state(self, view: View) -> Payload:
        names, bombs = self.names, view["bombs"]
        players = [
            {"name": names[one["seat"]], "x": one["x"], "y": one["y"], "z": one["z"]}
            for one in view["players"]
        ]
        if len(bombs) > MOST_OUTSIDE:
            items: Any = self._pile.written(bombs, view["edge"])
        else:
            items = [{"x": x, "y": y, "z": z, "type": "BOMB"} for x, y, z in bombs]
        return {
            "gameInfo": {
                "id": self.game_id,
                "edgeLength": view["edge"],
                "numOfTasksPerTick": view["tasks"],
                "numOfBotsInPlay": len(players),
                "currentTick": view["tick"],
            },
            "players": players,
            "items": items,
        }

    # Calls to bots.

    def for_match(self, header: MatchHeader) -> "CubeWriter":
        """All bots of the game share this writer."""
        return self

    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        """For each bot that is to move, the body of its call: in two parts if the second is large
        and shared by all.
        """
        event, position = news[-1]
        if isinstance(event, Ended) or not any(isinstance(event, ASKING) for event, _ in news):
            return {}
        asked = [player for player in position.to_move if player in players]
        if not asked:
            return {}
        state = self.state(position)
        self._encoded = self._encoded or ENCODER.encode(state)
        rest = self._encoded[1:]
        if len(rest) > LARGE:
            return {player: [self._bodies[player], rest] for player in asked}
        return {player: [self._bodies[player] + rest] for player in asked}

    # Events.

    def events(self, news: News) -> list[CubeEvent]:
        """The state of a tick comes before its events."""
        told: list[CubeEvent] = []
        for event, position in news:
            match event:
                case Played():
                    if not self._shown:
                        told += self.next_tick()
                    told += self._happened(self.view(position))
                    self._shown = False
                case Out():
                    told.append(self._lost(event))
                case Ended():
                    self.final = final_scores(self.view(position), event.result.aborted)
            self._position = position
        return told

    def next_tick(self) -> list[CubeEvent]:
        """A tick begins: its state, unless it was sent before."""
        if self._shown:
            return []
        self._shown = True
        return [self.tick(self._position)]

    def tick(self, position: Game[Any]) -> CubeEvent:
        """NEXT_TICK with the state, which is encoded once for bots and watchers."""
        state = self.state(position)
        packet = self._encoded and b'%b["NEXT_TICK",%b]' % (AN_EVENT, self._encoded)
        return CubeEvent("NEXT_TICK", state, packet)

    def _happened(self, view: View) -> list[CubeEvent]:
        told: list[CubeEvent] = []
        for one in view["happened"]:
            key = tuple(one.values())
            event = self._events.get(key)
            if event is None:
                if len(self._events) >= MOST_EVENTS:
                    self._events.clear()
                event = self._events[key] = self._event(one)
            told.append(event)
        return told

    def _event(self, one: View) -> CubeEvent:
        name, did, game_id = self.names[one["seat"]], one.get("did"), self.game_id
        if did is None:
            return CubeEvent("PLAYER_LOST", {"cause": one["lost"], "name": name, "id": game_id})
        cell = {"x": one["x"], "y": one["y"], "z": one["z"]}
        if did == "move":
            payload = {"name": name} | cell | {"direction": one["direction"], "id": game_id}
            return CubeEvent(DID[did], payload)
        return CubeEvent(DID[did], cell | {"name": name, "id": game_id})

    def _lost(self, event: Out) -> CubeEvent:
        """The match put a player out: the cause in the form of the original, and plain words beside
        it.
        """
        player, words = event.player, self.reasons.get(event.player) or event.detail or event.cause
        cause: Any = NO_ANSWER
        if event.cause == "illegal moves":
            words = words.partition(QUOTES)[0]
            cause = {"error": BAD_ANSWER, "details": _bad_answer(words)}
        return CubeEvent(
            "PLAYER_LOST",
            {"cause": cause, "name": self.names[player], "details": words, "id": self.game_id},
        )

    def game_ended(self, final: FinalScores, with_urls: bool) -> CubeEvent:
        """Only the organiser sees the URLs."""

        def scored(one: tuple[Player, int]) -> Payload:
            player, score = one
            url = {"url": self._urls[player]} if with_urls else {}
            return {"name": self.names[player]} | url | {"highScore": score, "score": score}

        winner = {} if final.winner is None else {"winner": scored(final.winner)}
        scores = [scored(one) for one in final.scores]
        return CubeEvent(
            "GAME_ENDED", winner | {"scores": scores, "id": self.game_id, "result": final.result}
        )


def final_scores(view: View, stopped: bool) -> FinalScores:
    lost = tuple((one["seat"], one["tick"]) for one in view["lost"])
    left = tuple((one["seat"], view["tick"]) for one in view["players"])
    if stopped:
        return FinalScores("STOPPED", lost + left)
    return (
        FinalScores("WINNER_FOUND", lost + left, left[0])
        if len(left) == 1
        else FinalScores("TIE", lost + left)
    )


def empty_game(game_id: str, position: Game[Any]) -> list[CubeEvent]:
    """The whole game of no players: one tick, and a tie."""
    writer = CubeWriter(game_id, (), (), position)
    started = CubeEvent("GAME_STARTED", {"id": game_id})
    return [
        started,
        *writer.next_tick(),
        writer.game_ended(final_scores(writer.view(position), stopped=False), with_urls=True),
    ]


def _bad_answer(words: str) -> Details:
    """The original's error, but without the answer: it may come from any service on
    this machine.
    """
    if words.startswith(WRONG_COUNT):
        return WRONG_COUNT
    found = A_POSITION.match(words)
    if found is None:
        return [_error("must be an array", [], "array.base", {})]
    at = int(found[1])
    return [
        _error(
            f"at position {at} does not match any of the allowed types",
            [at],
            "array.includes",
            {"pos": at, "key": at},
        )
    ]


def _error(words: str, path: list[int], kind: str, context: Payload) -> Payload:
    return {
        "message": f'"value" {words}',
        "path": path,
        "type": kind,
        "context": context | {"label": "value"},
    }


def _first_part(name: str, url: str) -> bytes:
    """The beginning of a body, up to the comma."""
    return ENCODER.encode({"currentPlayer": {"name": name, "url": url}})[:-1] + b","


class UnreadableAnswer(Exception):
    """A bot's answer is not JSON; the text is for the bot's author."""


def read_answer(body: bytes) -> Raw:
    """A bot's answer as JSON, for the rules to judge."""
    if not body:
        raise UnreadableAnswer("the answer is empty")
    try:
        return DECODER.decode(body if len(body) <= BRIEF else bounded(body))
    except UNREADABLE as error:
        raise UnreadableAnswer(f"the answer is not JSON: {error}") from None


# The conversation with an organiser: events of socket.io in, commands for the server and ERROR
# events out.

GameId = str


class StartGame(Struct, Command, frozen=True):
    wanted: NewGame


class ChangeGame(Struct, Command, frozen=True):
    """Change a game from its next round on; None: all games of the organiser."""

    game_id: GameId | None
    setup: CubeSetup


class ControlGame(Struct, Command, frozen=True):
    """Stop, pause or resume a game; None: all games of the organiser."""

    action: Literal["stop", "pause", "resume"]
    game_id: GameId | None


class ReclaimGame(Struct, Command, frozen=True):
    """Become the organiser of a game by its key."""

    game_id: GameId
    key: str


class WatchGame(Struct, Command, frozen=True):
    """Send the events of a game, or stop sending them."""

    game_id: GameId
    watching: bool


class ListGames(Struct, Command, frozen=True):
    """Send the games that run."""


CubeCommand = StartGame | ChangeGame | ControlGame | ReclaimGame | WatchGame | ListGames

READERS: dict[str, Callable[[list[Any]], CubeCommand]] = {
    "NEW_GAME": lambda args: StartGame(new_game_in(args)),
    "GAME_SETUP_UPDATE": lambda args: ChangeGame(*update_in(args)),
    "STOP_GAME": lambda args: ControlGame("stop", game_id_in(args)),
    "PAUSE_GAME": lambda args: ControlGame("pause", game_id_in(args)),
    "RESUME_GAME": lambda args: ControlGame("resume", game_id_in(args)),
    "RECLAIM_GAME": lambda args: ReclaimGame(*claim_in(args)),
    "WATCH_GAME": lambda args: WatchGame(game_id_in(args) or "", True),
    "UNWATCH_GAME": lambda args: WatchGame(game_id_in(args) or "", False),
    "LIST_GAMES": lambda _: ListGames(),
}


def read_event(name: str, args: list[Any]) -> CubeCommand | None:
    """The command in an event, or Fault. Unknown events are ignored, as in the original."""
    reader = READERS.get(name)
    return None if reader is None else reader(args)


def error(problem: Fault) -> CubeEvent:
    return CubeEvent("ERROR", {"error": problem.kind, "details": problem.details})


class OrganiserConversation(SocketIoConversation):
    def on_event(self, name: str, args: list[Any]) -> Outs:
        try:
            command = read_event(name, args)
        except Fault as problem:
            return (error(problem).packet,)
        return () if command is None else (command,)
