"""CountedGame: a boat game that is over, and what it adds to the lines of statistics."""

from collections.abc import MutableMapping
from typing import Any

from msgspec import Struct

from botdrome.games.battleship import HIT, MISS, Battleship
from botdrome.server.rooms.boat_game import BoatGame
from botdrome.server.rooms.boat_settings import RoomPlan

LAST_STATUS = "disconnected"
"""Status of every player: the original closes all connections before it counts."""
COUNTED = (
    "aborted", "turnCount", "playerCount", "hits", "ties", "firstPlace", "lastPlace", "lasPlace",
    "score", "skips", "turns", "games", "opponents", "hitCount", "missCount",
)  # fmt: skip
COUNTS = frozenset(f"{span}.{key}" for span in ("total", "last") for key in COUNTED) | {
    "gameCount",
    "gamesPlayed",
}
"""The keys whose values are counts or facts."""
Value = dict[str, Any]
Pages = dict[str, Value]


class GameTally(Struct, frozen=True):
    """The figures of one game so far, player by player."""

    turns: tuple[int, ...]
    scores: tuple[int, ...]
    skips: tuple[int, ...]
    hits: tuple[int, ...]
    misses: tuple[int, ...]

    @property
    def first(self) -> list[bool]:
        return [score == max(self.scores) for score in self.scores]

    @property
    def last(self) -> list[bool]:
        return [score == min(self.scores) for score in self.scores]


class CountedPlayer(Struct, frozen=True):
    name: str
    address: str
    player: int


class CountedGame(Struct, frozen=True):
    """A game that is over, as far as statistics need it."""

    title: str
    plan: Value
    tally: GameTally
    aborted: bool
    players: tuple[CountedPlayer, ...]


def tally_of(position: Battleship) -> GameTally:
    hits, misses = [
        tuple([board.count(square) for board in position.boards]) for square in (HIT, MISS)
    ]
    return GameTally(position.turns, position.scores, position.skips, hits, misses)


def counted_game(plan: RoomPlan, game: BoatGame) -> CountedGame:
    result = game.table.match.result
    players = tuple(
        [CountedPlayer(player.text, player.address, player.player) for player in game.players]
    )
    aborted = result is not None and result.aborted
    return CountedGame(plan.title, plan_lines(plan), tally_of(game.position), aborted, players)


def _game_lines(before: Value, tally: GameTally, aborted: bool) -> Value:
    last = {
        "turnCount": tally.turns[0],
        "playerCount": len(tally.turns),
        "hits": sum(tally.scores),
        "ties": sum(tally.first) - 1,
    }
    return _counted(before, "gameCount", last, {"aborted": aborted})


def _line_in_game(before: Value, tally: GameTally, at: int) -> Value:
    lines = _counted(
        before,
        None,
        _counts(tally, at),
        {"firstPlace": tally.first[at], "lastPlace": tally.last[at]},
    )
    return lines | {"total.games": before.get("total.games", 0) + 1}


def _player_lines(before: Value, tally: GameTally, at: int) -> Value:
    seen = {
        "opponents": len(tally.turns) - 1,
        "hitCount": tally.hits[at],
        "missCount": tally.misses[at],
    }
    lines = _counted(
        before,
        "gamesPlayed",
        _counts(tally, at) | seen,
        {"firstPlace": tally.first[at], "lastPlace": tally.last[at]},
    )
    lines["last.lasPlace"] = lines.pop("last.lastPlace")
    return lines


def _counts(tally: GameTally, at: int) -> dict[str, int]:
    return {"score": tally.scores[at], "skips": tally.skips[at], "turns": tally.turns[at]}


def _counted(
    before: Value, games: str | None, counts: dict[str, int], facts: dict[str, bool]
) -> Value:
    """Add to the totals, and set the figures of the last game."""
    lines: Value = {games: before.get(games, 0) + 1} if games else {}
    for key, count in (counts | facts).items():
        lines[f"total.{key}"] = before.get(f"total.{key}", 0) + int(count)
        lines[f"last.{key}"] = count
    return lines


def count_for_title(game: CountedGame, pages: MutableMapping[str, Value]) -> None:
    """Count a game for its title, and for its players under that title.

    Keys that only a newer version of the original knows stay as they are.
    """
    title, before = game.title, pages.get(game.title, {})
    plan, lines = _in_words_of(before, game.plan), _game_lines(before, game.tally, game.aborted)
    pages[title] = before | plan | lines
    for player in game.players:
        here = f"{title}|{player.name}"
        line = pages.get(here, {})
        pages[here] = line | _line_in_game(line, game.tally, player.player)


def _in_words_of(before: Value, plan: Value) -> Value:
    """The newer version of the original says `ship` for `boat`."""
    return {
        "ship" if key == "boat" and "ship" in before else key: value for key, value in plan.items()
    }


def count_for_players(game: CountedGame, pages: MutableMapping[str, Value]) -> None:
    for player in game.players:
        name = player.name
        who = {"playerName": name, "lastAddress": player.address, "lastStatus": LAST_STATUS}
        before = pages.get(name, {})
        pages[name] = before | who | _player_lines(before, game.tally, player.player)


def plan_lines(plan: RoomPlan) -> Value:
    offer = plan.offer
    counts = {"minPlayers": plan.min, "maxPlayers": plan.max, "pointGoal": offer.goal}
    return (
        {"name": plan.title}
        | counts
        | {"width": plan.width, "height": plan.height, "boat": list(offer.boats.names)}
    )
