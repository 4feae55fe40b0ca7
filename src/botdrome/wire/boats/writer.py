"""BoatWriter: the lines that the players of a boat game get."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from botdrome.games.battleship import Battleship, Shot
from botdrome.games.chance import Chance
from botdrome.games.game import Raw
from botdrome.match.events import Ended, Event, Late, Left, Played, Player, Refused, Returned
from botdrome.match.match import News
from botdrome.wire.boats.lines import (
    DISCONNECTED,
    FINISHED,
    NOT_STARTED,
    NOT_YOUR_TURN,
    Aim,
    RefusedShot,
    aimed,
    joined,
    results,
    said,
    square_name,
)  # fmt: skip
from botdrome.wire.match_header import MatchHeader
from botdrome.wire.standing import Standing

OUT_OF_TIME = b"out of time"
TAUNT_BYTES = 16 << 10
"""All the taunts of one player together."""


class Taunts:
    """Messages of a player for opponents that shoot at it."""

    def __init__(self) -> None:
        self._texts: dict[bytes, list[bytes]] = {b"hit": [], b"miss": []}
        self.any = False

    def set(self, kind: bytes, text: bytes) -> None:
        """Add a taunt; an empty text clears the kind. Unknown kinds and taunts beyond 16 KiB are ignored."""
        texts = self._texts.get(kind.lower())
        if texts is None:
            return
        if not text:
            texts.clear()
        elif sum(len(one) for many in self._texts.values() for one in many) + len(text) <= TAUNT_BYTES:
            texts.append(text)
        self.any = any(self._texts.values())

    def draw(self, hit: bool, chance: Chance) -> bytes | None:
        texts = self._texts[b"hit" if hit else b"miss"]
        return chance.choice(texts) if texts else None


class Roster:
    """The players of one game in turn order: their names on lines, why they are away, and their taunts."""

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

    def told(self, players: Collection[Player]) -> dict[Player, list[bytes]]:
        """Return for each player one message of all its lines."""
        if not self.only:
            alike = [b"\n".join(self.lines)]
            return dict.fromkeys(players, alike) if self.lines else {}
        heard = {player: self._heard(player) for player in players}
        return {player: [b"\n".join(lines)] for player, lines in heard.items() if lines}

    def _heard(self, player: Player) -> list[bytes]:
        return [line for number, line in enumerate(self.lines) if self.only.get(number, player) == player]


class BoatWriter:
    """Writes for all players of one match that are on lines, and knows the position that they were last told."""

    def __init__(self, roster: Roster) -> None:
        self.roster, self._names = roster, roster.names
        self.position: Battleship | None = None
        self.over = False
        self._aim: Aim | None = None
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

    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        if len(news) == 1:
            event, position = news[0]
            self.position = position  # type: ignore[assignment]
            if miss := self._miss(event, position):
                return dict.fromkeys(players, miss)
        out = NewsLines()
        for at, (event, position) in enumerate(news, 1):
            self.position = position  # type: ignore[assignment]
            out.ends = at < len(news) and type(news[at][0]) is Ended
            say = self._say.get(type(event))
            if say is not None:
                say(event, position, out)
        return out.told(players)

    def _miss(self, event: Event, position: Any) -> list[bytes]:
        """Write a miss without a taunt, which is most news. Empty: it is something else."""
        if type(event) is not Played or position.shot is None or position.hit:
            return []
        target, next_up = position.shot.target, position.to_move
        roster = self.roster
        if not next_up or roster.taunts[target].any:
            return []
        return [self.board(target, position) + self._asked[next_up[0]]]

    def board(self, player: Player, position: Battleship) -> bytes:
        squares = position.boards[player].encode()
        status, score, skips = self.roster.statuses[player], position.scores[player], position.skips[player]
        return b"B|%b|%b|%b|%d|%d" % (self._names[player], status, squares, score, skips)

    # Requests of the conversations.

    def for_match(self, _: MatchHeader) -> "BoatWriter":
        return self

    def turns_of(self, player: Player) -> int:
        return 0 if self.position is None else self.position.turns[player]

    def is_asked(self, player: Player) -> bool:
        position = self.position
        return position is not None and self.roster.started and not self.over and position.to_move == (player,)

    def check_turn(self, player: Player) -> None:
        """Raise RefusedShot unless it is this player's turn."""
        if self.over:
            raise RefusedShot(FINISHED)
        if not self.roster.started:
            raise RefusedShot(NOT_STARTED)
        if not self.is_asked(player):
            raise RefusedShot(NOT_YOUR_TURN)

    def plain_shot(self, player: Player, line: bytes) -> Raw | None:
        """The shot in a line in its most common form, if it is allowed. None: `shot` has to look at it."""
        position, aim = self.position, self._aim
        if position is None or aim is None or self.over or position.to_move != (player,):
            return None
        return aim.plain(line, player, position)

    def shot(self, player: Player, fields: Sequence[bytes]) -> Raw:
        """The shot in these fields, or raise RefusedShot."""
        self.check_turn(player)
        assert self.position is not None
        return aimed(fields, self._names, player, self.position)

    # The course of a game.

    def _played(self, event: Played, position: Battleship, out: NewsLines) -> None:
        roster, shot = self.roster, position.shot
        if shot is not None:
            target = shot.target
            if position.hit:
                self._hit(shot, position, out)
            elif roster.taunts[target].any:
                self._taunt(shot, position, out, hit=False)
            out.lines.append(self.board(target, position))
        elif position.turn:
            out.lines.append(self._skip(event, self._shooter(position)))
        else:
            self._start(position, out)
        if position.to_move and not out.ends:
            out.lines.append(self._turns[position.to_move[0]])

    def _hit(self, shot: Shot, position: Battleship, out: NewsLines) -> None:
        shooter = self._shooter(position)
        square = square_name(shot.x, shot.y).encode()
        out.lines.append(b"H|%b|%b|%b" % (self._names[shooter], self._names[shot.target], square))
        self._taunt(shot, position, out, hit=True)
        out.lines.append(self.board(shooter, position))

    def _taunt(self, shot: Shot, position: Battleship, out: NewsLines, hit: bool) -> None:
        taunt = self.roster.taunts[shot.target].draw(hit, self.roster.chance)
        if taunt is not None:
            out.to_one(self._shooter(position), said(self._names[shot.target], taunt))

    def _shooter(self, position: Battleship) -> Player:
        return (position.turn - 1) % len(self._names)

    def _start(self, position: Battleship, out: NewsLines) -> None:
        """All fleets are placed."""
        self.roster.started = True
        self._aim = Aim(self._names, position.width, position.height)
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
        self.over = True
        rows = list(zip(self._names, position.scores, position.skips, position.turns, self.roster.statuses, strict=True))
        out.lines += results(b"aborted" if event.result.aborted else b"finished", position.turns[0], rows)

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
        """All that a player that rejoins needs: its board with its boats, and the boards of the others."""
        others = [other for other in range(len(self._names)) if other != player]
        if not self.roster.started:
            return [joined(self._names[player]), *(joined(self._names[other]) for other in others)]
        own = b"Y|" + position.fleets[player].upper().encode()
        company = [line for other in others for line in (joined(self._names[other]), self.board(other, position))]
        return [joined(self._names[player]), own, *company, self._order(), *(self._turns[seat] for seat in position.to_move)]

    # To one alone.

    def _late(self, event: Late, position: Battleship, out: NewsLines) -> None:
        out.to_one(event.player, said(b"", NOT_YOUR_TURN))

    def _refused(self, event: Refused, position: Battleship, out: NewsLines) -> None:
        out.to_one(event.player, said(b"", event.why.encode()))
