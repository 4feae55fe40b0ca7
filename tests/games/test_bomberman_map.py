"""The map of Bomberman: the rules of every drawn map, and closing walls."""

from itertools import product

import pytest

from botdrome.games.bomberman import (
    CRATE,
    FREE,
    WALL,
    Bomberman,
    closing_groups,
    closing_plan,
    neighbours,
    starts,
)
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from tests.games.bombermen import after, drawing, drawn, lined

SIZES = [
    (5, 5, 4),
    (5, 9, 3),
    (7, 7, 2),
    (9, 9, 8),
    (9, 15, 6),
    (15, 9, 5),
    (11, 11, 8),
    (13, 13, 2),
    (13, 13, 4),
    (13, 13, 7),
    (25, 25, 8),
]
every_size = pytest.mark.parametrize(("height", "width", "players"), SIZES)


def maps(height: int, width: int, players: int, **options: int) -> list[Bomberman]:
    setup = with_options(Bomberman(height=height, width=width), options)
    return [setup.start(players, Chance(seed)) for seed in range(20)]


def mirrored(rows: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(row[::-1] for row in rows)


@every_size
def test_row_9_pillars_stand_where_row_and_column_are_odd_and_there_is_no_border(
    height: int, width: int, players: int
) -> None:
    for position in maps(height, width, players):
        for row, column in product(range(height), range(width)):
            assert (position.tiles[row][column] == WALL) == (row % 2 == 1 and column % 2 == 1)


@every_size
def test_row_10_starts_and_all_that_is_beside_them_are_free(
    height: int, width: int, players: int
) -> None:
    for position in maps(height, width, players, crates=100):
        beside = neighbours(height, width)
        for start in position.at:
            assert start is not None
            assert all(
                position.tiles[place[0]][place[1]] == FREE
                for place in (start, *beside[start])
                if place
            )


@every_size
def test_row_11_at_least_thirty_percent_are_crates(height: int, width: int, players: int) -> None:
    for position in maps(height, width, players, crates=30):
        crates = "".join(position.tiles).count(CRATE)
        assert 30 <= 100 * crates / (height * width) < 30 + 800 / (height * width), (
            "it stops with the set of tiles that suffices"
        )


def test_row_11_it_is_filled_to_45_percent_as_usual_and_to_the_brim_if_asked() -> None:
    for position in maps(13, 13, 4):
        assert 45 <= 100 * "".join(position.tiles).count(CRATE) / 169 < 48
    for position in maps(13, 13, 4, crates=100):
        assert "".join(position.tiles).count(CRATE) == 169 - 36 - 12


@every_size
def test_row_11_the_map_is_the_same_for_all_seats(height: int, width: int, players: int) -> None:
    """Mirrored both ways; where more than four play on a square, at the diagonal as well."""
    for position in maps(height, width, players):
        for rows in (position.tiles, position.hidden):
            assert rows == mirrored(rows) == rows[::-1]
            if players > 4 and height == width:
                assert rows == tuple(map("".join, zip(*rows, strict=True)))


@every_size
def test_row_12_users_start_on_different_even_tiles(height: int, width: int, players: int) -> None:
    for position in maps(height, width, players):
        assert len(set(position.at)) == players
        assert all(place is not None and place[0] % 2 == place[1] % 2 == 0 for place in position.at)


def test_row_12_starts_are_far_apart() -> None:
    corners = [(0, 0), (12, 12), (0, 12), (12, 0)]
    assert [starts(13, 13, players) for players in (2, 3, 4)] == [corners[:2], corners[:3], corners]
    assert starts(13, 13, 8) == [*corners, (0, 6), (12, 6), (6, 12), (6, 0)]
    assert starts(9, 15, 6)[4:] == [(0, 6), (8, 8)], "the longer sides first"
    assert starts(15, 9, 6)[4:] == [(6, 8), (8, 0)]
    assert starts(11, 11, 8)[4:] == [(0, 4), (10, 6), (4, 10), (6, 0)], (
        "turned by a quarter where the middle is odd"
    )


def test_row_12_seats_are_drawn_by_the_seed() -> None:
    assert len({position.at for position in maps(13, 13, 2)}) == 2
    assert len({position.at for position in maps(13, 13, 4)}) > 10


def test_row_13_a_fifth_of_the_crates_hide_an_upgrade_half_and_half() -> None:
    several = [Bomberman().start(4, Chance(seed)) for seed in range(300)]
    hidden = "".join("".join(position.hidden) for position in several)
    crates = sum("".join(position.tiles).count(CRATE) for position in several)
    assert 0.18 < (hidden.count("b") + hidden.count("r")) / crates < 0.22
    assert 0.85 < hidden.count("b") / hidden.count("r") < 1.15


def test_row_13_only_crates_hide_anything_and_the_chance_is_an_option() -> None:
    for position in maps(13, 13, 4, upgrades=100):
        tiles, hidden = "".join(position.tiles), "".join(position.hidden)
        assert all(
            (letter != FREE) == (tile == CRATE) for tile, letter in zip(tiles, hidden, strict=True)
        )
    assert all(set("".join(position.hidden)) == {FREE} for position in maps(13, 13, 4, upgrades=0))


def test_the_seed_decides_all() -> None:
    assert Bomberman().start(4, Chance(7)) == Bomberman().start(4, Chance(7))
    assert len({Bomberman().start(4, Chance(seed)).tiles for seed in range(50)}) == 50


@pytest.mark.parametrize("option", ["height", "width"])
@pytest.mark.parametrize("value", [6, 12, 24])
def test_row_9_even_sizes_are_refused(option: str, value: int) -> None:
    with pytest.raises(BadOption, match=f"{option}: an odd number, not {value}"):
        with_options(Bomberman(), {option: value}).start(2, Chance(0))


OUT_OF_RANGE = {
    "height": 3,
    "width": 27,
    "crates": 29,
    "upgrades": 101,
    "fuse": 0,
    "radius": 0,
    "bombs": 0,
    "rounds": 0,
    "closing": -1,
}


@pytest.mark.parametrize(("option", "value"), [*OUT_OF_RANGE.items(), ("flame_pierces", "maybe")])
def test_row_8_and_others_numbers_out_of_range_are_refused(option: str, value: object) -> None:
    with pytest.raises(BadOption, match=option):
        with_options(Bomberman(), {option: value})


@pytest.mark.parametrize(("height", "width", "players"), [(5, 5, 5), (7, 7, 8), (5, 9, 6)])
def test_row_11_a_map_without_room_for_enough_crates_is_refused(
    height: int, width: int, players: int
) -> None:
    words = (
        f"height and width: {height} by {width} tiles are too few for {players} players and "
        "30 "
        "percent of crates"
    )
    with pytest.raises(BadOption, match=words):
        Bomberman(height=height, width=width).start(players, Chance(0))


# Walls that close in.


@every_size
def test_row_45_walls_close_over_every_tile_once_and_the_same_for_all_seats(
    height: int, width: int, players: int
) -> None:
    groups = closing_groups(height, width)
    places = [place for group in groups for place in group]
    assert len(places) == len(set(places)) == height * width - (height // 2) * (width // 2)
    for group in groups:
        assert len(group) <= 8
        assert (
            set(group)
            == {(height - 1 - row, column) for row, column in group}
            == {(row, width - 1 - column) for row, column in group}
        )
        if height == width:
            assert set(group) == {(column, row) for row, column in group}


def test_row_45_they_close_from_the_edge_inwards() -> None:
    assert closing_groups(5, 5) == (
        ((0, 0), (0, 4), (4, 0), (4, 4)),
        ((0, 1), (0, 3), (1, 0), (1, 4), (3, 0), (3, 4), (4, 1), (4, 3)),
        ((0, 2), (2, 0), (2, 4), (4, 2)),
        ((1, 2), (2, 1), (2, 3), (3, 2)),
        ((2, 2),),
    )


@pytest.mark.parametrize(
    ("closing", "rounds"), [(300, 500), (1, 500), (10, 13), (498, 500), (499, 500)]
)
def test_row_45_all_is_closed_when_the_rounds_are_over(closing: int, rounds: int) -> None:
    *plan, last = closing_plan(13, 13, closing, rounds)
    ends = [end for end, _ in plan if end is not None]
    assert ends == sorted(set(ends))
    assert (ends[0], len(ends)) == (closing, min(22, rounds - closing))
    assert ends[-1] < rounds
    assert sum(len(places) for _, places in plan) == 169 - 36
    assert last == (None, ())


@pytest.mark.parametrize(("closing", "rounds"), [(0, 500), (500, 500), (501, 500)])
def test_row_45_they_never_close_if_not_asked_to_or_not_in_time(closing: int, rounds: int) -> None:
    assert closing_plan(13, 13, closing, rounds) == ((None, ()),)
    view = Bomberman(closing=closing, rounds=rounds).start(2, Chance(0)).view(None)
    assert view["closing"] == {"from": closing, "at": None, "next": ()}


def test_row_45_the_view_tells_in_advance() -> None:
    position = drawn("A.... .#.#. ..... .#.#. ....B", closing=3, rounds=13)
    told = []
    for orders in (
        "A RIGHT, B LEFT",
        "A RIGHT, B LEFT",
        "A DOWN, B UP",
        "A DOWN, B UP",
        "A DOWN",
        "",
    ):
        told.append(
            (
                position.round,
                position.view(None)["closing"]["at"],
                len(position.view(None)["closing"]["next"]),
            )
        )
        position = after(position, orders)
    assert told == [(0, 3, 4), (1, 3, 4), (2, 3, 4), (3, 3, 4), (4, 5, 8), (5, 5, 8)]
    assert drawing(position) == lined("##.## ##.## ..A.. ##B## ##.##")


def test_row_45_users_bombs_upgrades_and_crates_on_a_closing_tile_are_gone() -> None:
    start = drawn("A...b .#.#. ..B.. .#.#. C...+", {(4, 4): "b"}, closing=2, rounds=200)
    position = after(start, "A BOMB", "A RIGHT", "")
    assert drawing(position) == lined("#A..# .#.#. ..B.. .#.#. #...#")
    assert (position.lying, position.found) == ((), ())
    assert [user.bombs_left for user in position.users] == [1, 1, 1]
    assert position.at == ((0, 1), (2, 2), None)
    assert [user.kills for user in position.users] == [0, 0, 0]


def test_row_45_walls_close_after_the_explosions() -> None:
    """B burns on a tile that closes in the same round, and A has killed it."""
    position = after(
        drawn("..A.B .#.#. ..... .#.#. C....", closing=4, rounds=200),
        "A BOMB",
        "A DOWN",
        "A DOWN",
        "A RIGHT",
        "",
    )
    assert (position.users[0].kills, position.at[1]) == (1, None)
    assert (0, 4) in position.burned
    assert position.tiles[0] == "#...#"


def test_row_9_a_closed_wall_stops_flames() -> None:
    assert after(drawn("A.#.... .#.#.#. ......B"), "A BOMB", *[""] * 4).burned == (
        (0, 0),
        (0, 1),
        (1, 0),
        (2, 0),
    )
