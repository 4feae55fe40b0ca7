"""Positions with other hidden parts look the same to the player."""

import pytest

from botdrome.analysis import playouts
from botdrome.analysis.playouts import redrawn
from botdrome.bots.house import HOUSE, seated
from botdrome.bots.simulate import simulate
from botdrome.games.battleship import WATER, Battleship, boats_in, check_fleet
from botdrome.games.bomberman import CRATE, Bomberman
from botdrome.games.chance import Chance
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from tests.match.recorded_matches import new_match, recorded

from botdrome.match.questions import questions  # isort: skip


def battleship_after(steps: int) -> Battleship:
    match = new_match("battleship", players=3)
    for player in range(3):
        fleet = next(iter(match.position.moves(player)))
        match.submit(player, fleet, 0)
    hunter = seated(HOUSE["battleship"]["gunner"], 1)
    while match.steps < steps:
        (player,) = match.awaited
        match.submit(player, hunter(match.view(player)), 0)
    assert isinstance(match.position, Battleship)
    return match.position


@pytest.mark.parametrize("steps", [1, 40, 120])
def test_other_fleets_fit_the_hits_and_misses(steps: int) -> None:
    position = battleship_after(steps)
    boats = boats_in(position.boats)
    seen = set()
    for seed in range(5):
        after = redrawn(position, 0, Chance(seed))
        assert isinstance(after, Battleship)
        assert after.view(0) == position.view(0)
        assert after.fleets[0] == position.fleets[0]
        for fleet in after.fleets[1:]:
            check_fleet(fleet.upper().replace("0", WATER), boats, position.width)
        seen.add(after.fleets[1])
    assert len(seen) > 1


def test_the_true_fleet_is_kept_if_no_other_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playouts, "ATTEMPTS", 0)
    position = battleship_after(40)
    assert redrawn(position, 0, Chance(1)) == position


def test_before_the_fleets_are_placed_nothing_is_hidden() -> None:
    position = Battleship().start(2, Chance(1))
    assert redrawn(position, 0, Chance(2)) == position


def test_upgrades_are_drawn_in_crates_that_nobody_knows() -> None:
    match = new_match("bomberman", upgrades=50, rounds=60)
    simulate(match, [seated(HOUSE["bomberman"]["sapper"], seed) for seed in (1, 2)])
    position = questions(*recorded(match), 0)[40].position
    after = redrawn(position, 0, Chance(3))
    assert isinstance(position, Bomberman) and isinstance(after, Bomberman)
    assert after.view(0) == position.view(0)
    assert after.hidden != position.hidden
    for row, tiles in enumerate(position.tiles):
        for column, tile in enumerate(tiles):
            if tile != CRATE:
                assert after.hidden[row][column] == position.hidden[row][column]


def test_a_game_that_hides_nothing_stays_as_it_is() -> None:
    position = NoughtsAndCrosses()
    assert redrawn(position, 0, Chance(1)) is position
