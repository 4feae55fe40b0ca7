"""Battleship: find the other fleets by shooting at their boards. Each hit is a point; all seats have the same number of turns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.games.chance import Chance
from botdrome.games.fleet import (
    WATER,
    Rows,
    Squares,
    boats_in,
    check_fleet,
    check_room,
    cutter,
    random_fleet,
    squares_from,
)
from botdrome.games.game import BadOption, Game, Raw, Seat, View
from botdrome.games.reading import an_object, entry, plural, shown
from botdrome.games.shots import TURNS, fired, next_seat, raised, read_shot

EXAMPLES = 8
"""The number of example fleets that `moves` lists."""


class Shot(Struct, frozen=True):
    target: Seat
    x: int
    y: int


Act = Squares | Shot | None
"""A fleet in the first step; after that a shot, or None for a skip."""


class Battleship(Game[Act], frozen=True):
    name: ClassVar[str] = "battleship"
    players: ClassVar[range] = range(2, 10)

    width: Annotated[int, Meta(ge=5, le=26, description="columns of each board")] = 10
    height: Annotated[int, Meta(ge=5, le=26, description="rows of each board")] = 10
    boats: Annotated[str, Meta(description="each boat's letter (A to W) and length (2 to 8)")] = "A5 B4 C3 D3 E2"
    goal: Annotated[int, Meta(ge=0, description="hits that end the game with the round; 0: all squares of one fleet")] = 0
    rounds: Annotated[int, Meta(ge=0, description="the number of rounds after which the game ends; 0: no limit")] = 1000

    fleets: tuple[Squares, ...] = ()
    """One text per seat: boat letters, lower case where hit, and misses; empty until the fleets are placed."""
    boards: tuple[Squares, ...] = ()
    """One text per seat: only hits and misses."""
    to_move: tuple[Seat, ...] = ()
    scores: tuple[int, ...] = ()
    skips: tuple[int, ...] = ()
    turn: int = 0
    """The number of turns that all seats together have had."""
    shot: Shot | None = None
    """The shot of the last turn; None if it was skipped."""
    hit: bool = False
    """Whether the last shot hit."""

    def check(self, players: int) -> None:
        boats = boats_in(self.boats)
        check_room(boats, self.width, self.height)
        if self.goal > boats.squares:
            raise BadOption(f"goal: {shown(self.goal)} is more than the {boats.squares} squares of a fleet")

    def start(self, players: int, chance: Chance) -> "Battleship":
        self.check(players)
        blank = WATER * (self.width * self.height)
        nothing = (0,) * players
        return replace(self, boards=(blank,) * players, to_move=tuple(range(players)), scores=nothing, skips=nothing)

    @property
    def secret(self) -> bool:
        return not self.fleets

    @property
    def over(self) -> bool:
        return not self.to_move

    def parse(self, seat: Seat, raw: Raw) -> Act:
        words = raw if type(raw) is dict else an_object(raw)
        if self.fleets:
            shot = read_shot(words, seat, self.boards, self.width, self.height)
            return None if shot is None else Shot(*shot)
        squares = squares_from(entry(words, "board"), self.width, self.height)
        check_fleet(squares, boats_in(self.boats), self.width)
        return squares

    def play(self, moves: Mapping[Seat, Act], chance: Chance) -> "Battleship":
        if not self.fleets:
            return self._placed(moves, chance)
        seat = self.to_move[0]
        shot = moves.get(seat)
        return fired(self, seat, shot) if isinstance(shot, Shot) else self._skipped(seat)

    def _placed(self, moves: Mapping[Seat, Act], chance: Chance) -> "Battleship":
        """Place the fleets. A seat that passed gets a random fleet."""
        fleets = []
        for seat in self.to_move:
            sent = moves.get(seat)
            fleets.append(sent if isinstance(sent, str) else "".join(self._drawn(chance)))
        return replace(self, fleets=tuple(fleets), to_move=TURNS[0])

    def _drawn(self, chance: Chance) -> Rows:
        return random_fleet(self.width, self.height, boats_in(self.boats).names, chance)

    def _skipped(self, seat: Seat) -> "Battleship":
        turn, skips = self.turn + 1, raised(self.skips, seat)
        return replace(self, to_move=next_seat(self, turn, self.scores), skips=skips, turn=turn, shot=None, hit=False)

    def decided(self, absent: Collection[Seat]) -> bool:
        """Return True if every fleet is sunk or its player absent. Xterm Boat Sinker then ends the game, even within a round."""
        return bool(self.fleets) and all(seat in absent or fleet == fleet.lower() for seat, fleet in enumerate(self.fleets))

    @property
    def turns(self) -> tuple[int, ...]:
        """Return the number of turns that each seat has had."""
        rounds, ahead = divmod(self.turn, len(self.boards))
        return (rounds + 1,) * ahead + (rounds,) * (len(self.boards) - ahead)

    def verdict(self, names: Sequence[str]) -> str:
        sunk = [seat for seat, fleet in enumerate(self.fleets) if fleet == fleet.lower()]
        hits = ", ".join(f"{name} {plural(score, 'hit')}" for name, score in zip(names, self.scores, strict=True))
        if sunk and len(names) == 2:
            end = ", and ".join(f"{names[1 - seat]} sank the last boat of {names[seat]}" for seat in sunk)
        elif sunk:
            end = f"all boats of {' and '.join(names[seat] for seat in sunk)} are sunk"
        elif self.goal and max(self.scores) >= self.goal:
            end = f"the goal of {plural(self.goal, 'hit')} is reached"
        else:
            end = f"the game ended after {plural(self.turns[-1], 'round')}"
        return f"{end}; {hits}"

    def view(self, seat: Seat | None) -> View:
        boats, fleets, turns, over = boats_in(self.boats), self.fleets, self.turns, not self.to_move
        placed, rows = bool(fleets), cutter(self.width, self.height)
        return {
            "you": seat,
            "toMove": self.to_move,
            "phase": "over" if over else "shooting" if placed else "placement",
            "width": self.width,
            "height": self.height,
            "boats": boats.names,
            "goal": self.goal or boats.squares,
            "round": turns[-1],
            "rounds": self.rounds,
            "boards": tuple([rows(board) for board in self.boards]),
            "own": rows(fleets[seat]) if placed and seat is not None else None,
            "fleets": tuple([rows(fleet) for fleet in fleets]) if over else None,
            "placed": (placed,) * len(turns),
            "scores": self.scores,
            "skips": self.skips,
            "turns": turns,
            "last": self._last() if self.turn else None,
        }

    def _last(self) -> View:
        shooter, shot = (self.turn - 1) % len(self.boards), self.shot
        if shot is None:
            return {"shooter": shooter, "skip": True}
        target, x, y = shot.target, shot.x, shot.y
        return {"shooter": shooter, "target": target, "x": x, "y": y, "hit": self.hit}

    @property
    def lists_all_moves(self) -> bool:
        return bool(self.fleets)

    def moves(self, seat: Seat) -> Iterator[Raw]:
        """List all shots and the skip; for fleets, list a few examples, since there are too many."""
        if not self.fleets:
            for seed in range(EXAMPLES):
                yield {"board": list(self._drawn(Chance(seed)))}
            return
        for target, board in enumerate(self.boards):
            for at, mark in enumerate(board):
                if mark == WATER and target != seat:
                    yield {"target": target, "x": at % self.width, "y": at // self.width}
        yield {"skip": True}
