"""A step in which nothing unusual happens is closed in a short way: as in the long one, in all
games.
"""

import pytest

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.match.match import Match


def state(match: Match) -> object:
    return (
        match.deadline,
        list(match.awaited),
        match.steps,
        match.board.number,
        match.position,
        match.result,
        match.strikes,
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CATALOGUE)
def test_matches_go_as_in_the_long_way(name: str, seed: int) -> None:
    row, chance = CATALOGUE[name], Chance(seed)
    players = 2 if 2 in row.game.players else row.game.players.start
    short, long = (Match(row.game, players, row.terms, seed) for _ in range(2))
    long._disturbed = True  # as after a player has left: every step closes in the long way
    bots = [seated(house_bots(name)["random"], seed * 100 + seat) for seat in range(players)]
    assert short.start() == long.start()
    now = 0
    for _ in range(150):
        if short.result is not None:
            break
        now += chance.below(200)
        player = chance.choice(short.awaited) if short.awaited else 0
        match chance.below(40):
            case 0:
                assert short.leave(player, now) == long.leave(player, now)
            case 1:
                assert short.rejoin(player, now) == long.rejoin(player, now)
            case 2 | 3:
                assert short.submit(player, "nonsense", now) == long.submit(player, "nonsense", now)
            case 4 | 5:
                now = max(now, short.deadline or 0)
                assert short.wake(now) == long.wake(now)
            case _:
                raw = (
                    bots[player](house_view(short.position, short.seat_of(player)))
                    if short.awaited
                    else None
                )
                assert short.submit(player, raw, now) == long.submit(player, raw, now)
        assert state(short) == state(long)
    assert short.inputs == long.inputs
