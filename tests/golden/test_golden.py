"""Golden matches: files written once, which every later version must play to the same news.

There is a folder for each version of the match file. A change of the rules that makes a file differ raises `rules` of its game,
and the files of the newest version are written anew with `python -m tests.golden.test_golden`.
"""

from pathlib import Path

import pytest

from botdrome.bots.house import HOUSE, seated
from botdrome.formats import FORMATS
from botdrome.games.options import with_options
from botdrome.match.match import Match
from botdrome.match.record import VERSION, match_file, read, verify
from botdrome.match.simulate import simulate

FOLDER = Path(__file__).parent
SEED = 2026


def play(name: str) -> bytes:
    """The best bot of the house on every other seat, a random one on the rest."""
    row = FORMATS[name]
    players = min(4, row.game.players[-1])
    random, *_, best = HOUSE[name].values()
    bots = [seated((best, random)[player % 2], SEED + player) for player in range(players)]
    match = simulate(Match(row.game, players, row.terms, SEED), bots)
    return match_file(match, [f"bot {player}" for player in range(players)])


def file_of(name: str, version: int) -> Path:
    return FOLDER / f"version_{version}" / f"{name}.jsonl"


@pytest.mark.parametrize("version", [1, VERSION])
@pytest.mark.parametrize("name", FORMATS)
def test_a_golden_match_holds(name: str, version: int) -> None:
    record = read(file_of(name, version).read_bytes())
    assert record.setup.botdrome == version
    assert record.result is not None
    assert all(line.news for line in record.lines)
    verify(record, with_options(FORMATS[name].game, record.setup.options))


if __name__ == "__main__":
    for name in FORMATS:
        file_of(name, VERSION).write_bytes(play(name))
