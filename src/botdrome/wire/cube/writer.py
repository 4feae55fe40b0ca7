"""Writes a Battlecube game: the state of play, events for organisers and spectators, and the bodies
of calls to bots.
"""

import re
from collections import deque
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.battlecube import WRONG_COUNT
from botdrome.games.game import Game, Raw, View
from botdrome.games.reading import UNREADABLE, bounded
from botdrome.match.events import Began, Ended, Out, Played, Player
from botdrome.match.match import News
from botdrome.wire.cube.requests import Details
from botdrome.wire.framing.socketio import event as event_packet
from botdrome.wire.writers import MatchHeader, MatchStatus, PlayerMessages

# The bombs in Battlecube's state of play, as JSON.
#
# A bomb lies until a bot steps on it, and every tick shows all bombs. There may be a hundred
# thousand of them, so a pile remembers their JSON and encodes only the new ones.

Cell = tuple[int, int, int]

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


class CubeEvent:
    """An event of socket.io. It is encoded once, when the first client needs it."""

    __slots__ = ("_packet", "name", "payload")

    def __init__(self, name: str, payload: Payload) -> None:
        self.name, self.payload = name, payload
        self._packet: bytes | None = None

    @property
    def packet(self) -> bytes:
        if self._packet is None:
            self._packet = event_packet(self.name, self.payload)
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
        self._pile = BombPile()

    # The state of play.

    def view(self, position: Game[Any]) -> View:
        if position is not self._viewed:
            self._viewed, self._view = position, position.view(None)
            self._state = None
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
        state = ENCODER.encode(self.state(position))[1:]
        if len(state) > LARGE:
            return {player: [self._bodies[player], state] for player in asked}
        return {player: [self._bodies[player] + state] for player in asked}

    # Events.

    def events(self, news: News) -> list[CubeEvent]:
        """The state of a tick comes before its events."""
        told: list[CubeEvent] = []
        for event, position in news:
            match event:
                case Played():
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
        return [CubeEvent("NEXT_TICK", self.state(self._position))]

    def _happened(self, view: View) -> list[CubeEvent]:
        told: list[CubeEvent] = []
        names, game_id = self.names, self.game_id
        for one in view["happened"]:
            name, did = names[one["seat"]], one.get("did")
            if did is None:
                told.append(
                    CubeEvent("PLAYER_LOST", {"cause": one["lost"], "name": name, "id": game_id})
                )
                continue
            cell = {"x": one["x"], "y": one["y"], "z": one["z"]}
            if did == "move":
                told.append(
                    CubeEvent(
                        DID[did],
                        {"name": name} | cell | {"direction": one["direction"], "id": game_id},
                    )
                )
            else:
                told.append(CubeEvent(DID[did], cell | {"name": name, "id": game_id}))
        return told

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
        return DECODER.decode(bounded(body))
    except UNREADABLE as error:
        raise UnreadableAnswer(f"the answer is not JSON: {error}") from None
