"""Talk: what the players of a boat game on lines are told."""

from collections.abc import Callable, Collection
from typing import Any

from botdrome.games.battleship import Battleship, Shot
from botdrome.match.course import News
from botdrome.match.events import Ended, Event, Late, Left, Played, Player, Refused, Returned
from botdrome.wire.boats.crew import Crew
from botdrome.wire.boats.lines import DISCONNECTED, NOT_YOUR_TURN, joined, results, said, square_name
from botdrome.wire.standing import Standing

OUT_OF_TIME = b"out of time"


class Speech:
    """The lines of one occasion, in order: most are for all, some for one player alone."""

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

    def told(self, players: Collection[Player]) -> dict[Player, list[bytes]]:
        """What one hears at once is one message of several lines."""
        if not self.only:
            alike = [b"\n".join(self.lines)]
            return dict.fromkeys(players, alike) if self.lines else {}
        heard = {player: self._heard(player) for player in players}
        return {player: [b"\n".join(lines)] for player, lines in heard.items() if lines}

    def _heard(self, player: Player) -> list[bytes]:
        return [line for number, line in enumerate(self.lines) if self.only.get(number, player) == player]


class BoatTalk:
    """Speaks to the players of one match who are on lines."""

    def __init__(self, crew: Crew) -> None:
        self._crew, self._names = crew, crew.names
        self._turns = [b"N|" + name for name in crew.names]
        self._asked = [b"\n" + turn for turn in self._turns]
        self._say: dict[type[Event], Callable[[Any, Any, Speech], None]] = {
            Played: self._played,
            Left: self._left,
            Returned: self._returned,
            Late: self._late,
            Refused: self._refused,
            Ended: self._ended,
        }

    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        if len(news) == 1:
            event, position = news[0]
            if miss := self._miss(event, position):
                return dict.fromkeys(players, miss)
        speech = Speech()
        for at, (event, position) in enumerate(news, 1):
            speech.ends = at < len(news) and type(news[at][0]) is Ended
            say = self._say.get(type(event))
            if say is not None:
                say(event, position, speech)
        return speech.told(players)

    def _miss(self, event: Event, position: Any) -> list[bytes]:
        """What all are told of a shot into the water that nobody has a word for: most news. Nothing: it is something else."""
        if type(event) is not Played or position.shot is None or position.hit:
            return []
        target, next_up = position.shot.target, position.to_move
        crew = self._crew
        if not next_up or crew.taunts[target].any:
            return []
        return [self.board(target, position) + self._asked[next_up[0]]]

    def board(self, player: Player, position: Battleship) -> bytes:
        squares = position.boards[player].encode()
        status, score, skips = self._crew.statuses[player], position.scores[player], position.skips[player]
        return b"B|%b|%b|%b|%d|%d" % (self._names[player], status, squares, score, skips)

    # The course of a game.

    def _played(self, event: Played, position: Battleship, speech: Speech) -> None:
        crew, shot = self._crew, position.shot
        if shot is not None:
            target = shot.target
            if position.hit:
                self._hit(shot, position, speech)
            elif crew.taunts[target].any:
                self._taunt(shot, position, speech, hit=False)
            speech.lines.append(self.board(target, position))
        elif position.turn:
            speech.lines.append(self._skip(event, self._shooter(position)))
        else:
            self._start(position, speech)
        if position.to_move and not speech.ends:
            speech.lines.append(self._turns[position.to_move[0]])

    def _hit(self, shot: Shot, position: Battleship, speech: Speech) -> None:
        shooter = self._shooter(position)
        square = square_name(shot.x, shot.y).encode()
        speech.lines.append(b"H|%b|%b|%b" % (self._names[shooter], self._names[shot.target], square))
        self._taunt(shot, position, speech, hit=True)
        speech.lines.append(self.board(shooter, position))

    def _taunt(self, shot: Shot, position: Battleship, speech: Speech, hit: bool) -> None:
        taunt = self._crew.taunts[shot.target].draw(hit, self._crew.chance)
        if taunt is not None:
            speech.to_one(self._shooter(position), said(self._names[shot.target], taunt))

    def _shooter(self, position: Battleship) -> Player:
        return (position.turn - 1) % len(self._names)

    def _start(self, position: Battleship, speech: Speech) -> None:
        """All fleets are placed."""
        self._crew.started = True
        speech.lines += [self.board(player, position) for player in range(len(self._names))]
        speech.lines.append(self._order())

    def _skip(self, event: Played, player: Player) -> bytes:
        """Whoever did not move was not in time, or not there."""
        crew = self._crew
        reason, crew.skip_reason = crew.skip_reason, b""
        if player not in event.moves:
            reason = crew.statuses[player] or OUT_OF_TIME
        return b"K|%b|%b" % (self._names[player], reason)

    def _order(self) -> bytes:
        return b"|".join((b"S", *self._names))

    def _ended(self, event: Ended, position: Battleship, speech: Speech) -> None:
        rows = list(zip(self._names, position.scores, position.skips, position.turns, self._crew.statuses, strict=True))
        speech.lines += results(b"aborted" if event.result.aborted else b"finished", position.turns[0], rows)

    # Coming and going.

    def _left(self, event: Left, position: Battleship, speech: Speech) -> None:
        statuses = self._crew.statuses
        statuses[event.player] = statuses[event.player] or DISCONNECTED
        if self._crew.started:
            speech.lines.append(self.board(event.player, position))

    def _returned(self, event: Returned, position: Battleship, speech: Speech) -> None:
        back, crew = event.player, self._crew
        crew.statuses[back] = b""
        speech.to_one(back, *self._welcome_back(back, position))
        if crew.started:
            speech.lines.append(self.board(back, position))
        speech.lines.append(said(b"", self._names[back] + b" reconnected"))

    def _welcome_back(self, player: Player, position: Battleship) -> list[bytes]:
        """All that somebody has to know who comes back: its own board, with its boats, and everybody else's."""
        others = [other for other in range(len(self._names)) if other != player]
        if not self._crew.started:
            return [joined(self._names[player]), *(joined(self._names[other]) for other in others)]
        own = b"Y|" + position.fleets[player].upper().encode()
        company = [line for other in others for line in (joined(self._names[other]), self.board(other, position))]
        return [joined(self._names[player]), own, *company, self._order(), *(self._turns[seat] for seat in position.to_move)]

    # To one alone.

    def _late(self, event: Late, position: Battleship, speech: Speech) -> None:
        speech.to_one(event.player, said(b"", NOT_YOUR_TURN))

    def _refused(self, event: Refused, position: Battleship, speech: Speech) -> None:
        speech.to_one(event.player, said(b"", event.why.encode()))
