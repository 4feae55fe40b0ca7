"""Battlebot's messages, the native tongue: JSON objects, for all games."""

from typing import Any

import msgspec

from botdrome.games.game import Raw, View
from botdrome.match.events import Began, BoardEnded, BoardResult, Ended, Late, Played, Player, Refused, Result
from botdrome.wire.states import Message, Scene, update
from botdrome.wire.vocabulary import Notices, Standing


def game_type(game: str) -> str:
    """The name of a game in this protocol: `noughts-and-crosses` is NOUGHTS_AND_CROSSES."""
    return game.upper().replace("-", "_")


class Battlebot:
    """Speaks to one player of one match."""

    def __init__(self, game: str, names: tuple[str, ...], player: Player, epoch: int) -> None:
        """`epoch` is when the match starts, in milliseconds since 1970."""
        self._game, self._names, self._player, self._epoch = game, names, player, epoch
        self._bots = names
        self._boards: tuple[BoardResult, ...] = ()

    def greeting(self) -> bytes:
        name = self._names[self._player]
        return msgspec.json.encode({"authentication": "OK", "gameType": game_type(self._game), "name": name})

    def on_notices(self, notices: Notices, standing: Standing) -> list[bytes]:
        """The messages for the news of one input."""
        messages = [self._message(number, notices, standing) for number in range(len(notices))]
        return [msgspec.json.encode(message) for message in messages if message is not None]

    def _message(self, number: int, notices: Notices, standing: Standing) -> Message | None:
        event, view = notices[number]
        over = standing.result is not None
        match event:
            case Began():
                self._bots = tuple(self._names[player] for player in event.order)
                return self._update(view, standing)
            case Played():
                return self._update(view, standing, self._turn(event, standing), result=_result_with(number, notices))
            case Refused() if not over:
                turn = self._named(event.player, event.move, standing, valid=False)
                return self._update(view, standing, turn, event.why)
            case Late() if not over:
                return self._update(view, standing, None, f"late by {event.by} ms")
            case BoardEnded():
                self._boards += (event.result,)
            case Ended() if not _result_with(number - 2, notices):
                return self._update(view, standing, result=event.result)
        return None

    def _update(
        self, view: View, standing: Standing, turn: Message | None = None, why: str = "", result: Result | None = None
    ) -> Message:
        time_left, strikes = standing.time_left, standing.strikes
        scene = Scene(view, self._names, self._bots, time_left, strikes, self._boards, result, turn, why)
        return update(self._game, scene)

    def _turn(self, event: Played, standing: Standing) -> Message | None:
        """The turn that was played, where it was one player's and no secret."""
        if len(event.moves) != 1:
            return None
        ((player, raw),) = event.moves.items()
        return self._named(player, raw, standing, valid=True)

    def _named(self, player: Player, raw: Raw, standing: Standing, valid: bool) -> Message:
        forced = {"name": self._names[player], "time": self._epoch + standing.now, "valid": valid}
        return {key: value for key, value in _spread(raw).items() if key != "type"} | forced


def _result_with(number: int, notices: Notices) -> Result | None:
    """The result of the match, where this turn led to it by the rules: then both are told in one message."""
    if number >= 0 and number + 3 == len(notices) and isinstance(notices[number][0], Played):
        last = notices[-1][0]
        return last.result if isinstance(last, Ended) else None
    return None


def _spread(raw: Raw) -> dict[str, Any]:
    """Any JSON value as the keys of an object: lists and texts by their indexes, other values have none."""
    if isinstance(raw, dict):
        return raw
    return {str(index): item for index, item in enumerate(raw)} if isinstance(raw, list | tuple | str) else {}
