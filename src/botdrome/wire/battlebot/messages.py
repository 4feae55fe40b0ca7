"""Battlebot's messages: JSON objects, for all games."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import islice
from math import isinf
from typing import Any, Literal

import msgspec
from msgspec import Struct

from botdrome.games.game import Game, Raw, Seat, View
from botdrome.games.reading import shown
from botdrome.match.events import (
    Began,
    BoardEnded,
    BoardResult,
    Cause,
    Ended,
    Event,
    Late,
    Played,
    Player,
    Refused,
    Result,
    Returned,
    meant_for,
    rotated,
)
from botdrome.match.match import News
from botdrome.match.terms import Milliseconds
from botdrome.wire.writers import MatchHeader, MatchStatus, PlayerMessages, boards_of, seat_on

# Battlebot's updates: two games as the original sends them, and one general form for all others.

Message = dict[str, Any]


class UpdateParts(Struct, gc=False):
    """The parts of an update, beside the view."""

    names: tuple[str, ...]
    """The players' names."""
    bots: tuple[str, ...]
    """The same by seat on this board."""
    status: MatchStatus | None
    """None: the match is not being played."""
    strikes: tuple[int, ...]
    boards: tuple[BoardResult, ...]
    result: Result | None
    turn: Message | None = None
    why: str = ""
    """Why a move was refused."""
    match: str = ""
    """The id of the match, with which a bot can return to it."""

    @property
    def time_left(self) -> Milliseconds | None:
        return None if self.status is None else self.status.time_left


Update = Callable[[UpdateParts, View], Message]
EncodedUpdate = Callable[[UpdateParts, View], bytes]


def update_of(game: str, extras: bool) -> Update:
    """Return the function that makes the updates of a game; `extras`: with keys that the original
    lacks.
    """
    plain = UPDATES.get(game, any_game)
    return EXTENDED.get(game, plain) if extras else plain


def any_game(scene: UpdateParts, view: View) -> Message:
    """Return the view with the players' names, the players to move, their time, and the result."""
    state = view | {
        "bots": scene.bots,
        "waitingFor": _waiting_for(scene, view),
        "timeLeft": scene.time_left,
        "result": _full_result(scene),
    }
    if scene.match:
        state["match"] = scene.match
    if scene.boards:
        state["boardsPlayed"] = [
            dict(zip(scene.names, board.places, strict=True)) for board in scene.boards
        ]
    return {"state": state} | _kept(turn=scene.turn, why=scene.why)


def noughts_and_crosses(scene: UpdateParts, view: View) -> Message:
    bots, result = scene.bots, scene.result
    state = {
        "bots": bots,
        "board": view["board"],
        "marks": _by_name(tuple(view["marks"]), bots),
        "waitingFor": _chosen(bots, tuple(view["toMove"])) if result is None else [],
        "result": None if result is None else _result(scene, NOUGHTS_REASONS),
        "invalidTurns": _by_name(scene.names, scene.strikes),
    }
    turn = scene.turn
    return {"state": state, "turn": turn} if turn else {"state": state}


@lru_cache(maxsize=1000)
def _by_name(names: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, Any]:
    """Return values by name, in a shared dictionary: do not change it."""
    return dict(zip(names, values, strict=True))


@lru_cache(maxsize=1000)
def _chosen(names: tuple[str, ...], seats: tuple[Seat, ...]) -> list[str]:
    """Return the names of these seats, in a shared list: do not change it."""
    return [names[seat] for seat in seats]


def noughts_and_crosses_as_json(scene: UpdateParts, view: View) -> bytes:
    """Return the same as JSON, while there is no result."""
    head, rest = _unchanging(scene.names, scene.bots, scene.strikes, view["marks"])
    board, rest_of_state = _encoded_board(view["board"]), rest[view["toMove"]]
    if not scene.turn:
        return b"".join((head, board, rest_of_state, b"}"))
    return b"".join((head, board, rest_of_state, b',"turn":', ENCODER.encode(scene.turn), b"}"))


@lru_cache(maxsize=1000)
def _unchanging(
    names: tuple[str, ...], bots: tuple[str, ...], strikes: tuple[int, ...], marks: tuple[str, ...]
) -> tuple[bytes, dict[tuple[Seat, ...], bytes]]:
    """Return what comes before the board and, by the seats to move, what comes after it."""
    head = b'{"state":{"bots":%b,"board":' % ENCODER.encode(bots)
    by_mark = ENCODER.encode(_by_name(marks, bots))
    invalid = ENCODER.encode(_by_name(names, strikes))
    rest = b',"marks":%b,"waitingFor":%b,"result":null,"invalidTurns":%b}'
    return head, {
        seats: rest % (by_mark, ENCODER.encode([bots[seat] for seat in seats]), invalid)
        for seats in ((), (0,), (1,))
    }


def bumblebots(scene: UpdateParts, view: View) -> Message:
    """Return the view flat, with names in place of seats."""
    bots = scene.bots
    return {
        "bots": bots,
        "spawnPoints": dict(zip(bots, view["spawnPoints"], strict=True)),
        "territory": dict(zip(bots, view["territory"], strict=True)),
        "maxDrones": view["maxDrones"],
        "board": view["board"],
        "drones": dict(zip(bots, view["drones"], strict=True)),
        "score": dict(zip(bots, view["score"], strict=True)),
        "result": _victor_first(_result(scene, BUMBLEBOTS_REASONS)),
        "turnNumber": view["turnNumber"],
    }


def bumblebots_with_extras(scene: UpdateParts, view: View) -> Message:
    extras = {"ticks": view["ticks"]}
    if "record" in view:  # a match that the original played has none
        extras["record"] = dict(zip(scene.bots, view["record"], strict=True))
    return bumblebots(scene, view) | extras


NOUGHTS_REASONS: dict[Cause, str] = {
    "complete": "complete",
    "timeout": "timeout",
    "illegal moves": "Didn't write unit tests",
}
BUMBLEBOTS_REASONS: dict[Cause, str] = {
    "complete": "BUMBLEBOTS_FULL_TIME",
    "disconnect": "BUMBLEBOTS_DISCONNECT",
}

UPDATES: dict[str, Update] = {
    "noughts-and-crosses": noughts_and_crosses,
    "bumblebots": bumblebots,
}
AS_JSON: dict[str, EncodedUpdate] = {"noughts-and-crosses": noughts_and_crosses_as_json}
"""Updates before the result that take less time than a dictionary that is then encoded."""
EXTENDED: dict[str, Update] = {"bumblebots": bumblebots_with_extras}
SAME_FOR_ALL = UPDATES.keys()
"""Games whose updates are the same for all players."""
BEAT_ALONE = frozenset({"bumblebots"})
"""Games that send one update for each tick and nothing else: bad orders are not answered."""


def _waiting_for(scene: UpdateParts, view: View) -> list[str]:
    return [] if scene.result else [scene.bots[seat] for seat in view["toMove"]]


def _kept(**entries: Any) -> Message:
    return {key: value for key, value in entries.items() if value}


def _cause(result: Result) -> Cause:
    """Return why a match ended: the first cause that is not the rules."""
    return next((cause for cause in result.causes if cause != "complete"), "complete")


def _victor(scene: UpdateParts) -> str | None:
    winner = scene.result.winner if scene.result else None
    return None if winner is None else scene.names[winner]


def _result(scene: UpdateParts, reasons: dict[Cause, str]) -> Message | None:
    """Return the name of a cause on the wire; all other ways to drop out are disconnections."""
    if scene.result is None:
        return None
    reason = reasons.get(_cause(scene.result), reasons.get("disconnect", "disconnect"))
    return {"reason": reason, "victor": _victor(scene)}


def _victor_first(result: Message | None) -> Message | None:
    """Return the keys in the order of Bumblebots."""
    return result and {"victor": result["victor"], "reason": result["reason"]}


def _full_result(scene: UpdateParts) -> Message | None:
    result = scene.result
    if result is None:
        return None
    by_name = {
        name: {"place": place, "score": score, "cause": cause}
        for name, place, score, cause in zip(
            scene.names, result.places, result.scores, result.causes, strict=True
        )
    }
    return {"reason": _cause(result), "victor": _victor(scene), "players": by_name}


MOST_DIGITS = 1e21
"""From here on JavaScript writes integers with an exponent."""


def _number(text: str) -> int | float | None:
    """Return numbers as JavaScript writes them, so that turns are echoed alike: 1.0 is 1, and
    infinity is null.
    """
    value = float(text)
    if isinf(value):
        return None
    return int(value) if value.is_integer() and abs(value) < MOST_DIGITS else value


ENCODER, DECODER = msgspec.json.Encoder(), msgspec.json.Decoder(float_hook=_number)
_encoded_board = lru_cache(maxsize=10_000)(ENCODER.encode)
"""For noughts and crosses: there are 5,478 boards."""


@cache
def game_type(game: str) -> str:
    """The name of a game in this protocol: `noughts-and-crosses` is NOUGHTS_AND_CROSSES."""
    return game.upper().replace("-", "_")


def greeting(game: str, name: str) -> bytes:
    return ENCODER.encode({"authentication": "OK", "gameType": game_type(game), "name": name})


class Battlebot:
    """Writes to the players of one match that use this protocol."""

    def __init__(self, header: MatchHeader, extras: bool = False) -> None:
        """`extras`: these players also get the keys that the original lacks."""
        self._game, self._id, self._started = header.game, header.match, header.started
        self._names = self._bots = header.players
        self._boards: tuple[BoardResult, ...] = ()
        self._alike = header.game in SAME_FOR_ALL
        self._update = update_of(header.game, extras)
        self._as_json = AS_JSON.get(header.game)

    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        """Return the messages for the news of one input.

        Messages that are the same for all players are encoded once.
        """
        event, position = news[0]
        result = _result_with(0, news) if len(news) > 1 else None
        if type(event) is Played and (len(news) == 1 or result is not None):
            # The usual case: a step was played, and the match goes on or ends by the rules.
            turn, boards = self._turn(event.moves, status), self._boards
            scene = UpdateParts(
                self._names, self._bots, status, status.strikes, boards, result, turn, "", self._id
            )
            if result is not None:
                self._boards += (result.boards[-1],)
        elif type(event) is Began and len(news) == 1:
            scene = self._begun(event, status)
        else:
            return self._on_much(news, status, players)
        if self._alike:
            view, as_json = position.view(None), self._as_json
            if result is None and as_json is not None:
                alike = [as_json(scene, view)]
            else:
                alike = [ENCODER.encode(self._update(scene, view))]
            return dict.fromkeys(players, alike)
        seats = ((player, seat_on(status.board, player, status.players)) for player in players)
        return {player: [self._message(scene, position.view(seat))] for player, seat in seats}

    def _on_much(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        told: PlayerMessages = {player: [] for player in players}
        for number, board in enumerate(boards_of(news, status.board)):
            event, position = news[number]
            scene = self._scene(number, news, status)
            if scene is None:
                continue
            only = event.player if isinstance(event, Returned) else meant_for(event)
            those = players if only is None else {only} & set(players)
            if self._alike:
                alike = self._message(scene, position.view(None))
                for player in those:
                    told[player].append(alike)
            else:
                for player in those:
                    told[player].append(
                        self._message(scene, position.view(seat_on(board, player, status.players)))
                    )
        return told

    def _message(self, scene: UpdateParts, view: View) -> bytes:
        return ENCODER.encode(self._update(scene, view))

    def _scene(self, number: int, news: News, status: MatchStatus) -> UpdateParts | None:
        """Return the message about one event; None if there is none."""
        event = news[number][0]
        silent = isinstance(news[-1][0], Ended) or self._game in BEAT_ALONE
        match event:
            case Returned():
                return self._told(status)
            case Began():
                return self._begun(event, status)
            case Played():
                return self._told(
                    status, self._turn(event.moves, status), result=_result_with(number, news)
                )
            case Refused() if not silent:
                return self._told(
                    status,
                    self._turn({event.player: event.move}, status, valid=False),
                    event.why,
                )
            case Late() if not silent:
                return self._told(status, None, f"late by {event.by} ms")
            case BoardEnded():
                self._boards += (event.result,)
            case Ended() if not _result_with(number - 2, news):
                return self._told(status, result=event.result)
        return None

    def _begun(self, event: Began, status: MatchStatus) -> UpdateParts:
        self._bots = tuple([self._names[player] for player in event.order])
        return self._told(status)

    def _told(
        self,
        status: MatchStatus,
        turn: Message | None = None,
        why: str = "",
        result: Result | None = None,
    ) -> UpdateParts:
        return UpdateParts(
            self._names,
            self._bots,
            status,
            status.strikes,
            self._boards,
            result,
            turn,
            why,
            self._id,
        )

    def _turn(
        self, moves: Mapping[Player, Raw], status: MatchStatus, valid: bool = True
    ) -> Message | None:
        """Return the turn, if it was one player's and is no secret."""
        if len(moves) != 1:
            return None
        ((player, raw),) = moves.items()
        words = raw if isinstance(raw, dict) else _spread(raw)
        turn = dict(words)
        turn["name"] = self._names[player]
        turn["time"] = self._started + status.now
        turn["valid"] = valid
        turn.pop("type", None)
        return turn


battlebot_with_extras = partial(Battlebot, extras=True)


def _result_with(number: int, news: News) -> Result | None:
    """Return the result of the match if this turn led to it by the rules: then one message tells
    both.
    """
    if number >= 0 and number + 3 == len(news) and isinstance(news[number][0], Played):
        last: Event = news[-1][0]
        return last.result if isinstance(last, Ended) else None
    return None


def _spread(raw: Raw) -> dict[str, Any]:
    """Return any JSON value as the keys of an object: lists and texts by index, other values
    without keys.
    """
    return (
        {str(index): item for index, item in enumerate(raw)}
        if isinstance(raw, (list, tuple, str))
        else {}
    )


# Frames for players: a spectator's frames with the player's own view, its legal moves and the time
# left.

MOST_LEGAL = 1000
"""Legal moves in one frame. If there are more, none are listed."""
LONGEST_REASON = 200
"""Characters of the reason for a resignation. The rest is cut off."""
Frame = dict[str, Any]
Action = Literal["move", "resign", "ping"]


class BadPlayerMessage(Exception):
    """A message that is no action, with words that say what would be one."""


def read_action(message: Any) -> tuple[Action, Raw]:
    """Return the action and its value.

    Raise BadPlayerMessage unless the message has exactly one known key.
    """
    match message:
        case {"move": raw} if len(message) == 1:
            return "move", raw
        case {"resign": True | str() as raw} if len(message) == 1:
            return "resign", raw
        case {"ping": raw} if len(message) == 1:
            return "ping", raw
    raise BadPlayerMessage(
        f'send {{"move": ...}}, {{"resign": true}} or {{"ping": ...}}, not {shown(message)}'
    )


def reason_of(resignation: Raw) -> str:
    """Return the reason in the value of `resign`, in one line; empty: none was given."""
    return " ".join(resignation.split())[:LONGEST_REASON] if isinstance(resignation, str) else ""


class PlayerFrames:
    """Writes to the players of one match that asked for frames."""

    def __init__(self, header: MatchHeader, legal: bool = True) -> None:
        """`header` begins each snapshot. `legal`: frames list the legal moves."""
        self._header: Frame = msgspec.to_builtins(header)
        self._legal = legal
        self._greeted: set[Player] = set()

    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        boards = boards_of(news, status.board)
        return {player: self._messages(player, news, boards, status) for player in players}

    def _messages(
        self, player: Player, news: News, boards: Sequence[int], status: MatchStatus
    ) -> list[bytes]:
        frames: list[Frame] = []
        for board, (event, position) in zip(boards, news, strict=True):
            if meant_for(event) not in (None, player):
                continue
            view = position.view(seat_on(board, player, status.players))
            returned = isinstance(event, Returned) and event.player == player
            if returned or player not in self._greeted:
                self._greeted.add(player)
                frames.append(self._snapshot(board, status, view))
            frames.append(
                {"match": self._header["match"], "t": status.now, "event": event, "view": view}
            )
        last, position = news[-1]
        if frames and not isinstance(last, Ended):
            frames[-1]["timeLeft"] = status.time_left
            if self._legal:
                frames[-1] |= _legal(position, seat_on(status.board, player, status.players))
        return [ENCODER.encode(frame) for frame in frames]

    def _snapshot(self, board: int, status: MatchStatus, view: Frame) -> Frame:
        names = self._header["players"]
        bots = [names[player] for player in rotated(status.players, board)]
        return self._header | {"snapshot": True, "t": status.now, "bots": bots, "view": view}


player_views = partial(PlayerFrames, legal=False)


def _legal(position: Game[Any], seat: Seat) -> Frame:
    """Return the legal moves of a player to move, if they can be listed."""
    legal = list(islice(position.moves(seat), MOST_LEGAL + 1)) if seat in position.to_move else []
    return {"legal": legal} if 0 < len(legal) <= MOST_LEGAL else {}
