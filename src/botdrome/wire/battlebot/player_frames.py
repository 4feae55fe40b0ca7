"""Frames for players: a spectator's frames with the player's own view, its legal moves and the time left."""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import msgspec

from botdrome.games.game import Game, Raw, Seat
from botdrome.games.reading import shown
from botdrome.match.events import Ended, Player, Returned, meant_for, rotated
from botdrome.match.match import News
from botdrome.wire.standing import Standing
from botdrome.wire.vocabulary import boards_of, seat_on

MOST_LEGAL = 1000
"""Legal moves in one frame. If there are more, none are listed."""
LONGEST_REASON = 200
"""Characters of the reason for a resignation. The rest is cut off."""
ENCODER = msgspec.json.Encoder()
Frame = dict[str, Any]
Action = Literal["move", "resign", "ping"]


class BadPlayerMessage(Exception):
    """A message that is no action, with words that say what would be one."""


def read_action(message: Any) -> tuple[Action, Raw]:
    """Return the action and its value. Raise BadPlayerMessage unless the message has exactly one known key."""
    match message:
        case {"move": raw} if len(message) == 1:
            return "move", raw
        case {"resign": True | str() as raw} if len(message) == 1:
            return "resign", raw
        case {"ping": raw} if len(message) == 1:
            return "ping", raw
    raise BadPlayerMessage(f'send {{"move": ...}}, {{"resign": true}} or {{"ping": ...}}, not {shown(message)}')


def reason_of(resignation: Raw) -> str:
    """Return the reason in the value of `resign`, in one line; empty: none was given."""
    return " ".join(resignation.split())[:LONGEST_REASON] if isinstance(resignation, str) else ""


class PlayerFrames:
    """Writes to the players of one match that asked for frames."""

    def __init__(self, header: Mapping[str, Any], legal: bool = True) -> None:
        """`header` begins each snapshot: match, game, players and so on. `legal`: frames list the legal moves."""
        self._header, self._legal = dict(header), legal
        self._greeted: set[Player] = set()

    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        boards = boards_of(news, standing.board)
        return {player: self._messages(player, news, boards, standing) for player in players}

    def _messages(self, player: Player, news: News, boards: Sequence[int], standing: Standing) -> list[bytes]:
        frames: list[Frame] = []
        for board, (event, position) in zip(boards, news, strict=True):
            if meant_for(event) not in (None, player):
                continue
            view = position.view(seat_on(board, player, standing.players))
            returned = isinstance(event, Returned) and event.player == player
            if returned or player not in self._greeted:
                self._greeted.add(player)
                frames.append(self._snapshot(board, standing, view))
            frames.append({"match": self._header["match"], "t": standing.now, "event": event, "view": view})
        last, position = news[-1]
        if frames and not isinstance(last, Ended):
            frames[-1]["timeLeft"] = standing.time_left
            if self._legal:
                frames[-1] |= _legal(position, seat_on(standing.board, player, standing.players))
        return [ENCODER.encode(frame) for frame in frames]

    def _snapshot(self, board: int, standing: Standing, view: Frame) -> Frame:
        names = self._header["players"]
        bots = [names[player] for player in rotated(standing.players, board)]
        return self._header | {"snapshot": True, "t": standing.now, "bots": bots, "view": view}


def _legal(position: Game[Any], seat: Seat) -> Frame:
    """Return the legal moves of a player to move, if they can be listed."""
    legal = list(islice(position.moves(seat), MOST_LEGAL + 1)) if seat in position.to_move else []
    return {"legal": legal} if 0 < len(legal) <= MOST_LEGAL else {}
