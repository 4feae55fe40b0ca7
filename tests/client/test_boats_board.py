"""A fleet is laid out by hand, drawn by chance or given as a text."""

import pytest

from botdrome.client.boats_game import (
    FleetLayout,
    NotPossible,
    RandomFleets,
    border_of,
    given_fleet,
    square_in,
)
from botdrome.client.terminal_text import shown
from botdrome.games.chance import Chance
from botdrome.wire.boats.lines import OfferedGame, offer_in, square_name, text_fields

USUAL = offer_in(text_fields(b"G|1.2.0|x|N|2|9|0|17|10|10|5|A5|B4|C3|D3|E2"))


def small(boats: str, size: int = 5) -> OfferedGame:
    names = boats.split()
    return offer_in(
        ["G", "1.2.0", "x", "N", "2", "9", "0", "0", str(size), str(size), str(len(names)), *names]
    )


def test_boats_are_laid_out_in_order_and_taken_back() -> None:
    layout = FleetLayout(small("A3 B2"))
    assert layout.next_boat == "A3"
    layout.put(0, 0, south=False)
    layout.put(4, 3, south=True)
    assert layout.next_boat is None
    assert layout.squares == "AAA.............." + "..B....B"
    with pytest.raises(NotPossible, match="all boats are placed"):
        layout.put(0, 4, south=False)
    layout.undo()
    assert layout.next_boat == "B2"
    layout.undo()
    layout.undo()
    assert (layout.next_boat, layout.squares) == ("A3", "." * 25)


def test_boats_stay_on_the_board_and_apart() -> None:
    layout = FleetLayout(small("A3 B2"))
    with pytest.raises(NotPossible, match="A3 does not fit from d1 to the east"):
        layout.put(3, 0, south=False)
    with pytest.raises(NotPossible, match="A3 does not fit from a4 to the south"):
        layout.put(0, 3, south=True)
    layout.put(0, 0, south=False)
    with pytest.raises(NotPossible, match="B2 would lie over A at c1"):
        layout.put(2, 0, south=True)
    assert layout.next_boat == "B2"


def test_chance_lays_out_whole_fleets() -> None:
    chance = Chance(1)
    drawn = [RandomFleets(USUAL).draw(chance) for _ in range(20)]
    assert all(given_fleet(fleet, USUAL) == fleet for fleet in drawn)
    assert len(set(drawn)) == 20


@pytest.mark.parametrize("percent", [50, 90, 100])
def test_a_draft_has_the_border_that_was_asked_for(percent: int) -> None:
    chance = Chance(percent)
    assert all(
        border_of(RandomFleets(USUAL, percent).draw(chance), USUAL) >= percent for _ in range(3)
    )


def test_a_border_that_cannot_be_had_gets_the_best_that_was_drawn() -> None:
    crowded = small("A5 B4 C3")
    fleet = RandomFleets(crowded, 100).draw(Chance(3))
    assert given_fleet(fleet, crowded) == fleet
    assert border_of(fleet, crowded) > border_of(RandomFleets(crowded).draw(Chance(3)), crowded)


def test_the_free_border() -> None:
    """A boat of two in the middle has six squares beside it; one in the corner has three."""
    assert border_of("......AA.................", small("A2")) == 100
    assert border_of("AA.......................", small("A2")) == 50
    assert border_of("AABB.....................", small("A2 B2")) == pytest.approx(
        100 * (2 + 4 - 1) / 12
    )


def test_chance_gives_up_where_boats_leave_no_room() -> None:
    with pytest.raises(NotPossible, match="more than half"):
        RandomFleets(small("A5 B5 C5"), 0).draw(Chance(1))


@pytest.mark.parametrize(
    ("fleet", "words"),
    [
        ("AAA", "25 squares, not 3"),
        ("AAA" + "." * 22, "boat B is missing"),
        ("AAABx" + "." * 20, "neither a boat nor water"),
    ],
)
def test_a_board_that_does_not_suit_the_game(fleet: str, words: str) -> None:
    with pytest.raises(NotPossible, match=words):
        given_fleet(fleet, small("A3 B2"))


def test_what_others_write_is_safe_for_a_terminal() -> None:
    assert shown("a\x1b[31mb\x07\u202ec\udce9é") == "a␛[31mb␇�c�é"


@pytest.mark.parametrize(
    ("text", "square"), [("a1", (0, 0)), (" E5 ", (4, 4)), ("j12", (9, 11)), ("b 3", (1, 2))]
)
def test_squares_by_name(text: str, square: tuple[int, int]) -> None:
    assert square_in(text, 10, 12) == square
    assert square_name(*square) == text.replace(" ", "").lower()


@pytest.mark.parametrize(
    "text", ["", "5", "e", "e0", "e13", "k1", "5e", "e5x", "e٥", "ee5", "e-1", "e9999999"]
)
def test_no_squares(text: str) -> None:
    with pytest.raises(NotPossible, match="a square is from a1 to j12"):
        square_in(text, 10, 12)
