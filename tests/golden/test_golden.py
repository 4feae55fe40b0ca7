"""Golden matches: files written once, which every later version must replay to the same news.

There is a folder for each version of the match file. `python -m tests.golden.test_golden` writes
the files that are missing: run it before a new game is released. Where a change of the rules makes
a file differ, it raises `rules` of its game, and the file of the newest version is deleted and
written anew.
"""

from pathlib import Path

import pytest
from msgspec.structs import replace

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.options import with_options
from botdrome.match.match import Match
from botdrome.match.record import TIMED, VERSION, VERSIONS, match_file, read, verify
from botdrome.match.terms import Bank, Pace

FOLDER = Path(__file__).parent
SEED = 2026


def play(name: str) -> bytes:
    """The best house bot on every other seat, a random one on the rest."""
    row, bots = CATALOGUE[name], list(house_bots(name).values())
    players = min(4, row.game.players[-1])
    seats = [seated((bots[-1], bots[0])[player % 2], SEED + player) for player in range(players)]
    match = simulate(Match(row.game, players, row.terms, SEED), seats)
    return match_file(match, [f"bot {player}" for player in range(players)])


def play_timed(name: str) -> bytes:
    """A match on a chess clock, with credit for the network and the arena."""
    row = CATALOGUE[name]
    match = Match(row.game, 2, replace(row.terms, pace=Pace(1000, bank=Bank(2000, 50, 3))), SEED)
    bots, now = (
        [seated(list(house_bots(name).values())[-1], SEED + player) for player in range(2)],
        0,
    )
    match.start()
    while match.result is None:
        player = match.awaited[0]
        now += 100 * (match.steps % 14)
        match.credit(player, 10 * (match.steps % 30), match.steps % 5, now)
        match.submit(player, bots[player](house_view(match.position, match.seat_of(player))), now)
        match.stall(200, now)
    return match_file(match, ["bot 0", "bot 1"])


def file_of(name: str, version: int) -> Path:
    return FOLDER / f"version_{version}" / f"{name}.jsonl"


FILES = [
    (name, version) for name in CATALOGUE for version in VERSIONS if file_of(name, version).exists()
]
NEWEST = [name for name, version in FILES if version == VERSION]
every_file = pytest.mark.parametrize(("name", "version"), FILES)


@every_file
def test_a_golden_match_holds(name: str, version: int) -> None:
    record = read(file_of(name, version).read_bytes())
    assert record.setup.botdrome == version
    assert record.result is not None
    assert all(line.news for line in record.lines)
    verify(record, with_options(CATALOGUE[name].game, record.setup.options))


@pytest.mark.no_cover
@pytest.mark.parametrize("name", CATALOGUE)
def test_a_golden_match_can_be_written_for_every_game(name: str) -> None:
    data = play(name)
    assert data == play(name)
    verify(read(data), CATALOGUE[name].game)


if __name__ == "__main__":
    for name in CATALOGUE:
        if not file_of(name, VERSION).exists():
            file_of(name, VERSION).write_bytes(play(name))
    if not file_of("gomoku", TIMED).exists():
        file_of("gomoku", TIMED).write_bytes(play_timed("gomoku"))
