"""Battlebot's messages: JSON objects, for all games."""

from collections.abc import Collection
from math import isinf
from typing import Any

import msgspec

from botdrome.games.game import Game, Raw, View
from botdrome.match.events import (
    Began,
    BoardEnded,
    BoardResult,
    Ended,
    Event,
    Late,
    Played,
    Player,
    Refused,
    Result,
    Returned,
    meant_for,
)
from botdrome.match.match import News
from botdrome.wire.battlebot.states import BEAT_ALONE, SAME_FOR_ALL, Message, UpdateParts, update_of
from botdrome.wire.standing import Standing
from botdrome.wire.vocabulary import boards_of, seat_on

MOST_DIGITS = 1e21
"""From here on JavaScript writes integers with an exponent."""


def _number(text: str) -> int | float | None:
    """Return numbers as JavaScript writes them, so that turns are echoed alike: 1.0 is 1, and infinity is null."""
    value = float(text)
    if isinf(value):
        return None
    return int(value) if value.is_integer() and abs(value) < MOST_DIGITS else value


ENCODER, DECODER = msgspec.json.Encoder(), msgspec.json.Decoder(float_hook=_number)


def game_type(game: str) -> str:
    """The name of a game in this protocol: `noughts-and-crosses` is NOUGHTS_AND_CROSSES."""
    return game.upper().replace("-", "_")


def greeting(game: str, name: str) -> bytes:
    return ENCODER.encode({"authentication": "OK", "gameType": game_type(game), "name": name})


class Battlebot:
    """Writes to the players of one match that use this protocol."""

    def __init__(self, game: str, names: tuple[str, ...], epoch: int, match: str = "", extras: bool = False) -> None:
        """`epoch` is the start of the match, in milliseconds since 1970; `match` its id, if it has one.

        `extras`: these players also get the keys that the original lacks.
        """
        self._game, self._names, self._epoch, self._match = game, names, epoch, match
        self._bots = names
        self._boards: tuple[BoardResult, ...] = ()
        self._alike, self._update = game in SAME_FOR_ALL, update_of(game, extras)

    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        """Return the messages for the news of one input. Messages that are the same for all players are encoded once."""
        if len(news) == 1:
            event, position = news[0]
            if isinstance(event, Played):
                return self._on_turn(event, position, standing, players)
        return self._on_much(news, standing, players)

    def _on_turn(
        self, event: Played, position: Game[Any], standing: Standing, players: Collection[Player]
    ) -> dict[Player, list[bytes]]:
        """The usual case: a step was played, and the match goes on."""
        scene = self._told(standing, self._turn(event, standing))
        if self._alike:
            alike = [self._message(scene, position.view(None))]
            return dict.fromkeys(players, alike)
        seats = ((player, seat_on(standing.board, player, standing.players)) for player in players)
        return {player: [self._message(scene, position.view(seat))] for player, seat in seats}

    def _on_much(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        told: dict[Player, list[bytes]] = {player: [] for player in players}
        for number, board in enumerate(boards_of(news, standing.board)):
            event, position = news[number]
            scene = self._scene(number, news, standing)
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
                    told[player].append(self._message(scene, position.view(seat_on(board, player, standing.players))))
        return told

    def _message(self, scene: UpdateParts, view: View) -> bytes:
        return ENCODER.encode(self._update(scene, view))

    def _scene(self, number: int, news: News, standing: Standing) -> UpdateParts | None:
        """Return the message about one event; None if there is none."""
        event = news[number][0]
        silent = isinstance(news[-1][0], Ended) or self._game in BEAT_ALONE
        match event:
            case Returned():
                return self._told(standing)
            case Began():
                self._bots = tuple([self._names[player] for player in event.order])
                return self._told(standing)
            case Played():
                return self._told(standing, self._turn(event, standing), result=_result_with(number, news))
            case Refused() if not silent:
                return self._told(standing, self._named(event.player, event.move, standing, valid=False), event.why)
            case Late() if not silent:
                return self._told(standing, None, f"late by {event.by} ms")
            case BoardEnded():
                self._boards += (event.result,)
            case Ended() if not _result_with(number - 2, news):
                return self._told(standing, result=event.result)
        return None

    def _told(self, standing: Standing, turn: Message | None = None, why: str = "", result: Result | None = None) -> UpdateParts:
        return UpdateParts(
            self._names, self._bots, standing.time_left, standing.strikes, self._boards, result, turn, why, self._match
        )

    def _turn(self, event: Played, standing: Standing) -> Message | None:
        """Return the turn that was played, if it was one player's and is no secret."""
        if len(event.moves) != 1:
            return None
        ((player, raw),) = event.moves.items()
        return self._named(player, raw, standing, valid=True)

    def _named(self, player: Player, raw: Raw, standing: Standing, valid: bool) -> Message:
        words = raw if isinstance(raw, dict) else _spread(raw)
        turn = {**words, "name": self._names[player], "time": self._epoch + standing.now, "valid": valid}
        turn.pop("type", None)
        return turn


def _result_with(number: int, news: News) -> Result | None:
    """Return the result of the match if this turn led to it by the rules: then one message tells both."""
    if number >= 0 and number + 3 == len(news) and isinstance(news[number][0], Played):
        last: Event = news[-1][0]
        return last.result if isinstance(last, Ended) else None
    return None


def _spread(raw: Raw) -> dict[str, Any]:
    """Return any JSON value as the keys of an object: lists and texts by index, other values without keys."""
    return {str(index): item for index, item in enumerate(raw)} if isinstance(raw, (list, tuple, str)) else {}
