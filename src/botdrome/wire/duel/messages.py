"""Duel arena's messages: gomoku in JSON objects, written byte for byte as the original writes them."""

import json
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from typing import Any

from botdrome.games.game import Raw
from botdrome.games.gomoku import MARKS, Point
from botdrome.games.reading import UNREADABLE
from botdrome.match.events import Began, BoardEnded, BoardResult, Ended, Out, Played, Player, Refused
from botdrome.match.match import News
from botdrome.match.terms import Milliseconds
from botdrome.wire.duel.answers import GREATEST, PLAIN_ANSWERS, Ignored, number_in
from botdrome.wire.standing import Standing

FREE = b'{"event": "player_is_free"}'


def starting_game(against: str) -> bytes:
    return b'{"event": "starting_game", "against": %b}' % json.dumps(against).encode()


@cache
def _stone(point: Point) -> bytes:
    return b", [%d, %d]" % point


@lru_cache
def _end_of_question(time_left: Milliseconds | None, color: str) -> bytes:
    seconds = "null" if time_left is None else repr(time_left / 1000)
    return f']}}, "timeout": {seconds}, "color": "{color}"}}'.encode()


class Duel:
    """Writes to the players of one match that use this protocol.

    The text of a board grows by one move at a time and is the same for both of them. `new_id` gives the id of a question.
    """

    def __init__(self, names: tuple[str, ...], first_board: int, new_id: Callable[[], str]) -> None:
        self.first_board = first_board
        """The id of the first board; the others count up."""
        self.draws: set[Player] = set()
        """Players that want to be told of draws, which the original does not announce."""
        self.lengths: list[int] = []
        """The number of moves on each board."""
        self._names, self._new_id = names, new_id
        self._order: tuple[Player, ...] = ()
        self._board = b""
        self._asked: Player | None = None
        self._color = ""
        self._id = ""
        self._played: Raw = {}
        self._sent: Raw = {}
        """The coordinates of the last unusual answer, as played and as echoed."""

    # News of the match.

    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        """Return the messages for the news of one input: results first, then the next question."""
        told: dict[Player, list[bytes]] = {player: [] for player in players}
        goes_on = False
        for event, position in news:
            match event:
                case Played():
                    self._add_move(event, position)
                    goes_on = True
                case Began():
                    self._lay_board(event, position, told)
                    goes_on = True
                case Refused() if event.strikes and event.player in told:
                    sent = self._sent if event.move is self._played else event.move
                    told[event.player].append(self._invalid(json.dumps(sent["x"]), json.dumps(sent["y"])))
                case Out() if event.cause != "illegal moves" and event.player in told:
                    told[event.player].append(self._invalid("null", "null"))
                case BoardEnded():
                    self._say_result(event.result, told)
                case Ended():
                    goes_on = False
        if goes_on:
            self._ask(news[-1][1], standing, told)
        return told

    def resume(self, player: Player, standing: Standing) -> list[bytes]:
        """Return the messages for a client that takes over the seat: the opponent, and an open question again."""
        messages = [starting_game(self._names[1 - player])]
        if self._asked == player:
            self._id = self._new_id()
            messages.append(self._question(standing))
        return messages

    def _lay_board(self, event: Began, position: Any, told: dict[Player, list[bytes]]) -> None:
        self.lengths.append(0)
        self._order = event.order
        board = {"_id": self.first_board + event.board, "_size": position.size, "_win_length": position.win_length}
        self._board = json.dumps(board).encode()[:-1] + b', "_moves": ['
        for point in position.history.listed():
            self._add_stone(point)
        if event.board == 0:
            for player, messages in told.items():
                messages.append(starting_game(self._names[1 - player]))

    def _add_move(self, event: Played, position: Any) -> None:
        if event.moves:
            self._add_stone(position.history.last)

    def _add_stone(self, point: Point) -> None:
        stone, lengths = _stone(point), self.lengths
        self._board += stone if lengths[-1] else stone[2:]
        lengths[-1] += 1

    def _say_result(self, result: BoardResult, told: dict[Player, list[bytes]]) -> None:
        self._asked = None
        decided = result.places.count(1) == 1
        for player, messages in told.items():
            if decided:
                messages.append(self._about_board(b"win" if result.places[player] == 1 else b"lose"))
            elif player in self.draws:
                messages.append(self._about_board(b"draw"))

    def _about_board(self, event: bytes) -> bytes:
        return b'{"event": "%b", "board": %b]}}' % (event, self._board)

    def _invalid(self, x: str, y: str) -> bytes:
        return b'{"event": "invalid_move", "x": %b, "y": %b, "board": %b]}}' % (x.encode(), y.encode(), self._board)

    def _ask(self, position: Any, standing: Standing, told: dict[Player, list[bytes]]) -> None:
        (seat,) = position.to_move
        player = self._order[seat]
        if player in told:
            self._asked, self._color, self._id = player, MARKS[seat], self._new_id()
            told[player].append(self._question(standing))
        else:
            self._asked = None

    def _question(self, standing: Standing) -> bytes:
        end = _end_of_question(standing.time_left, self._color)
        return b"".join((b'{"event": "get_move", "id": "', self._id.encode(), b'", "board": ', self._board, end))

    # Input of a player.

    def plain_move(self, player: Player, frame: bytes) -> Raw | None:
        """Return the move of a usual answer, at half the cost of `read_frame` and `read_move`; None if it is unusual."""
        try:
            answer = PLAIN_ANSWERS.decode(frame)
        except UNREADABLE:
            return None
        if self._asked != player or answer.id != self._id:
            return None
        self._asked = None
        return {"x": answer.x, "y": answer.y}

    def read_move(self, player: Player, message: dict[str, Any]) -> Raw:
        """Return the move in a `make_move`: the first that answers the open question. Raise Ignored for all others."""
        if self._asked != player:
            raise Ignored("no move is asked for")
        if message.get("id") != self._id:
            raise Ignored("its id is not that of the open question")
        self._sent = {key: number_in(message, key) for key in ("x", "y")}
        self._played = {key: max(-GREATEST, min(number, GREATEST)) for key, number in self._sent.items()}
        self._asked = None
        return self._played
