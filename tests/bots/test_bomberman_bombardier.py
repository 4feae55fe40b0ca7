"""The bombardier, a house bot of Bomberman."""

import msgspec
import pytest
from msgspec.structs import replace

from botdrome.bots.bomberman import bombardier, dangers, random, sapper, scene_of
from botdrome.bots.house import HouseBot
from botdrome.games.bomberman import Bomb, Bomberman, after_moves, blasts
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, Seat
from tests.bots.test_bomberman import action, idle, played
from tests.games.bombermen import after, drawn


def in_own_flames(position: Bomberman, words: dict[Seat, Raw]) -> list[Seat]:
    """The seats that stand in the flames of their own bombs at the end of the round."""
    moves = {seat: position.parse(seat, raw) for seat, raw in words.items()}
    standing = after_moves(
        position.at, {seat: to for seat, (to, _) in moves.items() if to != position.at[seat]}
    )
    due = position.round + position.fuse
    placed = [
        Bomb(at, due, position.users[seat].range, seat)
        for seat, (at, places_bomb) in moves.items()
        if places_bomb
    ]
    blown = blasts(
        position.tiles, [*position.lying, *placed], position.round, position.flame_pierces
    )
    return [bomb.seat for bomb, places in blown if standing[bomb.seat] in places]


def own_deaths(bots: list[HouseBot], seed: int, setup: Bomberman) -> int:
    """How many bombardiers die by their own bombs."""
    chance, chances = Chance(seed), [Chance(1000 * seed + seat) for seat in range(len(bots))]
    position = setup.start(len(bots), chance)
    deaths = 0
    while not position.over:
        raws = {seat: bots[seat](position.view(seat), chances[seat]) for seat in position.to_move}
        deaths += sum(bots[seat] is bombardier for seat in in_own_flames(position, raws))
        moves = {seat: position.parse(seat, raw) for seat, raw in raws.items()}
        position = position.play(moves, chance.turn_to(position.round))
    return deaths


# How good it is


def wins(other: HouseBot, seeds: range, setup: Bomberman) -> int:
    won = 0
    for seed in seeds:
        bots = [bombardier, other] if seed % 2 == 0 else [other, bombardier]
        scores = played(bots, seed, setup).scores
        won += scores[seed % 2] > scores[1 - seed % 2]
    return won


def test_it_beats_random_in_nearly_all_games_of_two() -> None:
    assert wins(random, range(40), Bomberman()) >= 38


@pytest.mark.no_cover
def test_it_beats_sapper_in_most_games_of_two() -> None:
    """On small maps, that it does not take long; on the usual one it wins as often."""
    assert wins(sapper, range(10), Bomberman(height=9, width=9, closing=40, rounds=120)) >= 8


@pytest.mark.no_cover
def test_it_outlives_three_sappers() -> None:
    setup = Bomberman(9, 9, closing=40, rounds=100)
    games = [played([bombardier, sapper, sapper, sapper], seed, setup).scores for seed in range(6)]
    assert sum(scores[0] for scores in games) / len(games) > 3, "equal bots would have about 1.75"


@pytest.mark.no_cover
def test_it_never_dies_by_its_own_bomb() -> None:
    crowd = [
        own_deaths([bombardier, random] * 2, seed, Bomberman(rounds=100, closing=0))
        for seed in range(12)
    ]
    fast = [
        own_deaths([bombardier, sapper] * 2, seed, Bomberman(9, 9, fuse=3, closing=30, rounds=60))
        for seed in range(3)
    ]
    dense = [
        own_deaths(
            [bombardier] * 4, seed, Bomberman(7, 7, crates=60, bombs=3, rounds=60, closing=20)
        )
        for seed in range(4)
    ]
    assert sum(crowd + fast + dense) == 0


@pytest.mark.parametrize(
    "setup",
    [
        Bomberman(5, 5, rounds=40, closing=5),
        Bomberman(fuse=1, rounds=20, closing=0),
        Bomberman(25, 25, rounds=8, closing=4),
        Bomberman(9, 7, flame_pierces=True, radius=9, bombs=4, rounds=50, closing=20),
    ],
)
def test_it_plays_every_set_up(setup: Bomberman) -> None:
    played([bombardier] * 4, 1, setup)


@pytest.mark.no_cover
def test_it_digs_through_to_one_that_does_nothing_and_kills_it() -> None:
    for seed in range(2):
        last = played([bombardier, idle], seed)
        assert last.scores == (2.0, 0.0)
        assert last.users[0].kills == 1
        assert last.round < 300, "before walls close in"


@pytest.mark.no_cover
def test_it_opens_crates_and_takes_upgrades() -> None:
    last = played([bombardier] * 4, 3, Bomberman(closing=0, rounds=70))
    assert sum(user.crates for user in last.users) > 30
    assert sum(user.upgrades for user in last.users) > 2


@pytest.mark.no_cover
def test_it_reads_views_that_have_been_json() -> None:
    chance = Chance(5)
    position = Bomberman(9, 9, upgrades=100).start(4, chance)
    found = 0
    for _ in range(25):
        for seat in position.to_move:
            view = position.view(seat)
            read = msgspec.json.decode(msgspec.json.encode(view))
            assert bombardier(view, Chance(position.round)) == bombardier(
                read, Chance(position.round)
            )
        moves = {
            seat: position.parse(seat, bombardier(position.view(seat), chance))
            for seat in position.to_move
        }
        position = position.play(moves, chance)
        found += len(position.found)
    assert found


# Its actions


def test_it_bombs_a_rival_that_cannot_get_away() -> None:
    assert action(bombardier, drawn("B.A.... ##.##.# .......")) == "PLACE_BOMB"


def test_it_goes_to_where_a_bomb_traps_a_rival() -> None:
    assert action(bombardier, drawn("B...... ##.##.# ..A....")) == "MOVE_UP"


def test_it_does_not_bomb_what_gets_away_unless_it_has_bombs_to_spare() -> None:
    drawing = "......... .#.#.#.#. ..A..B... .#.#.#.#. ........."
    assert action(bombardier, drawn(drawing)) != "PLACE_BOMB"
    assert action(bombardier, drawn(drawing, bombs=2)) == "PLACE_BOMB"


def test_it_knows_the_dead_ends_that_a_rival_may_close() -> None:
    """One step to the left, and a bomb of B is the end for all that is on its left."""
    scene = scene_of(drawn("A..B... ##.##.# .......").view(0))
    assert [
        place
        for place in ((0, 0), (0, 1), (2, 0), (2, 2), (0, 5))
        if scene.tile(place) & dangers(scene)
    ] == [(0, 0), (0, 1)]


def test_it_takes_an_upgrade() -> None:
    assert action(bombardier, drawn("A.r....... .#.#.#.#.# .........B")) == "MOVE_RIGHT"


def test_it_bombs_a_crate_if_it_can_get_away() -> None:
    assert action(bombardier, drawn(".A+....... .#.#.#.#.# .........B")) == "PLACE_BOMB"
    assert action(bombardier, drawn("A+........ +#.#.#.#.# .........B")) == "WAIT"


def test_it_places_nothing_while_walls_close_in_quickly() -> None:
    """Two groups close before the bomb would go off, and only the first of them is foreseen."""
    drawing = ".A+.... .#.#.#. ....... .#.#.#. ....... .#.#.#. ......B"
    assert action(bombardier, drawn(drawing, closing=100, rounds=300)) == "PLACE_BOMB"
    assert action(bombardier, drawn(drawing, closing=1, rounds=10)) != "PLACE_BOMB"


def test_it_holds_the_middle_when_walls_close_in() -> None:
    rows = ["........." if row % 2 == 0 else ".#.#.#.#." for row in range(9)]
    inside, outside = [*rows], [*rows]
    inside[8] = outside[8] = "........B"
    inside[4], outside[0] = "....A....", "A........"
    assert action(bombardier, drawn(" ".join(inside), closing=10, rounds=100)) == "WAIT"
    assert action(bombardier, drawn(" ".join(outside), closing=10, rounds=100)) in {
        "MOVE_RIGHT",
        "MOVE_DOWN",
    }


def test_it_dares_to_go_in_when_little_is_left() -> None:
    """B might bomb the middle, but would be stuck on its bomb as long as A stands there."""
    full = "#########"
    last = " ".join([full, full, full, "####B####", "###A..###", "####.####", full, full, full])
    assert action(bombardier, drawn(last, closing=1, rounds=100)) == "MOVE_RIGHT"


def test_it_lives_as_long_as_it_can_if_all_is_lost() -> None:
    """The first bomb burns the row, the second the column: down the column is one round more."""
    lost = drawn("....... .#.#.#. A.....B .#+#.#. ++.+.+. .#.#.#. +......")
    first, second = Bomb((2, 5), 1, 6, 1), Bomb((0, 0), 2, 6, 1)
    lost = replace(lost, lying=(first, second), round=1)
    assert action(bombardier, lost) in {"MOVE_UP", "MOVE_DOWN"}
    burning = replace(lost, lying=(Bomb((2, 5), 1, 6, 1), Bomb((0, 0), 1, 6, 1)))
    assert action(bombardier, burning) in {"MOVE_UP", "MOVE_DOWN", "MOVE_RIGHT", "WAIT"}


def test_it_does_something_even_if_all_is_lost() -> None:
    lost = after(drawn("A+...... +#.#.#.# .......B"), "A BOMB")
    assert action(bombardier, lost) == "WAIT"
