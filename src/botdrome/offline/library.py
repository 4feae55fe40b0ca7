"""The public Python API: games, positions and matches. `botdrome/__init__.py` exports it."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from botdrome.catalogue import CATALOGUE
from botdrome.contest.formats.format import Fixture
from botdrome.contest.formats.round_robin import TurnFixtures
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove
from botdrome.games.options import options_in, with_options
from botdrome.match.events import Cause, Player
from botdrome.match.match import Match
from botdrome.match.record import match_file
from botdrome.match.terms import offline
from botdrome.offline.entrants import distinct_names
from botdrome.offline.isolation import as_json
from botdrome.offline.seats import FunctionSeat, Seat, check_bot, make_seat
from botdrome.offline.table import play_match
from botdrome.offline.tournament import seed_of_bot

View = dict[str, Any]


def game(name: str, **options: Any) -> "GameSetup":
    """Return a game with these options. Raise BadOption if there is no such game or option."""
    return _setup(name, **options)


def _setup(name: str, **options: Any) -> "GameSetup":
    if name not in CATALOGUE:
        raise BadOption(f"there is no game {name!r}; there are {', '.join(CATALOGUE)}")
    return GameSetup(with_options(CATALOGUE[name].game, options))


class GameSetup(Struct, frozen=True):
    """A game and its options. Get one from `botdrome.game`."""

    _game: Game[Any]

    @property
    def name(self) -> str:
        return self._game.name

    @property
    def players(self) -> range:
        """The possible numbers of players."""
        return self._game.players

    @property
    def options(self) -> dict[str, Any]:
        return options_in(self._game)

    def start(self, players: int | None = None, seed: int = 0) -> "Position":
        """Return the first position, for 2 players by default.

        The seed decides every random event of the game.
        """
        count = max(2, self.players.start) if players is None else players
        if count not in self.players:
            raise BadOption(
                f"{self.name} is for {self.players.start} to {self.players.stop - 1} players, not "
                f"{count}"
            )
        return Position(self._game.start(count, Chance(seed)), seed, 0)


class Position(Struct, frozen=True):
    """A position of a game.

    It is immutable: `play` returns the next one, and a copy is the position itself.
    """

    _position: Game[Any]
    seed: int
    step: int
    """The number of steps played."""

    @property
    def to_move(self) -> tuple[int, ...]:
        """The seats that move now; several where players move at once."""
        return tuple(self._position.to_move)

    @property
    def over(self) -> bool:
        return self._position.over

    @property
    def scores(self) -> tuple[float, ...]:
        """One score for each seat; more is better."""
        return tuple(self._position.scores)

    def view(self, seat: int | None = None) -> View:
        """Return what a bot in this seat is shown (None: a spectator)."""
        return as_json(self._position.view(seat))

    def moves(self, seat: int | None = None) -> list[Any]:
        """Return the legal moves of a seat, by default of the only one to move, as far as the game
        can list them.
        """
        return list(self._position.moves(self._only_seat() if seat is None else seat))

    def play(self, move: Any, seat: int | None = None) -> "Position":
        """Return the position after the move of a seat, by default of the only one to move.

        Raise IllegalMove.
        """
        return self.play_all({self._only_seat() if seat is None else seat: move})

    def play_all(self, moves: Mapping[int, Any]) -> "Position":
        """Return the position after the moves of several seats at once.

        A seat without a move passes. Raise IllegalMove.
        """
        parsed = {seat: self._parsed(seat, move) for seat, move in moves.items()}
        return Position(
            self._position.play(parsed, Chance(self.seed, self.step)), self.seed, self.step + 1
        )

    def _parsed(self, seat: int, move: Any) -> Any:
        if seat not in self._position.to_move:
            raise IllegalMove(f"seat {seat} is not to move; to move: {list(self.to_move)}")
        return self._position.parse(seat, move)

    def _only_seat(self) -> int:
        if len(self.to_move) != 1:
            raise IllegalMove(f"name the seat, or use play_all: to move are {list(self.to_move)}")
        return self.to_move[0]

    def copy(self) -> "Position":
        return self


class MatchResult(Struct, frozen=True):
    """The result of one match. All tuples are ordered by player."""

    game: str
    seed: int
    players: tuple[str, ...]
    places: tuple[int, ...]
    """1 for the winner; tied players share a place."""
    scores: tuple[float, ...]
    causes: tuple[Cause, ...]
    """`complete` for an end by the rules; otherwise why the bot was put out, such as `crash` or
    `illegal moves`.
    """
    reasons: tuple[str, ...]
    """The outcome in one line, such as "lost at step 7: space [2, 2] is taken, third illegal move".
    """
    record: bytes
    """The match file."""

    @property
    def winner(self) -> str | None:
        """The name of the only player in the first place."""
        return self.players[self.places.index(1)] if self.places.count(1) == 1 else None

    def save(self, path: str | Path) -> None:
        """Write the match file, for `botdrome replay` and the pages."""
        Path(path).write_bytes(self.record)


def play(
    bots: Sequence[Any],
    game: str | GameSetup,
    matches: int = 1,
    seed: int = 0,
    players: int | None = None,
) -> list[MatchResult]:
    """Play matches between bots, as `botdrome play` does.

    A bot is a text as on the command line (`house:NAME`, `FILE.py`, `cmd:PROGRAM`), a function from
    a view to a move, a class such as a `Bot`, or an object. Every group of `players` bots plays
    that many matches, with rotating seats. Raise CannotStart if a bot cannot be started; a bot that
    fails later loses its match.
    """
    setup = _setup(game) if isinstance(game, str) else game
    seats = min(len(bots), setup.players.stop - 1) if players is None else players
    if seats not in setup.players or seats > len(bots):
        raise BadOption(
            f"{setup.name} is for {setup.players.start} to {setup.players.stop - 1} players, not "
            f"{seats} of {len(bots)}"
        )
    for bot in bots:
        if isinstance(bot, str):
            check_bot(bot, setup.name)
    names, state = distinct_names([_name(bot) for bot in bots]), random.getstate()
    try:
        return [
            _played(fixture, bots, names, setup)
            for fixture in TurnFixtures(len(bots), seats, matches, seed)
        ]
    finally:
        random.setstate(state)  # bots in this process share Python's chance with the caller


def _name(bot: Any) -> str:
    return bot if isinstance(bot, str) else getattr(bot, "__name__", type(bot).__name__)


def _played(
    fixture: Fixture, bots: Sequence[Any], all_names: Sequence[str], setup: GameSetup
) -> MatchResult:
    match = Match(
        setup._game, len(fixture.entrants), offline(CATALOGUE[setup.name].terms), fixture.seed
    )
    names = tuple(all_names[number] for number in fixture.entrants)

    def seat(player: Player) -> Seat:
        bot, seed = bots[fixture.entrants[player]], seed_of_bot(fixture.seed, player)
        if isinstance(bot, str):
            return make_seat(bot, setup.name, names[player], seed)
        return FunctionSeat(bot, trusted=False, seed=seed)

    table, result = play_match(match, names, seat), match.result
    assert result is not None
    reasons = tuple(table.headline(player) for player in range(len(names)))
    file = match_file(match, names)
    return MatchResult(
        setup.name, fixture.seed, names, result.places, result.scores, result.causes, reasons, file
    )
