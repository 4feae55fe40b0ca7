"""A fleet is laid out by hand, drawn by chance or given as a text."""

import pytest

from botdrome.client.boats_fleet import Draft, Layout, border_of, given_fleet
from botdrome.client.boats_lines import Summary, Unsuited, fields_of, summary_in
from botdrome.games.chance import Chance

USUAL = summary_in(fields_of(b"G|1.2.0|x|N|2|9|0|17|10|10|5|A5|B4|C3|D3|E2"))


def small(boats: str, size: int = 5) -> Summary:
    names = boats.split()
    return summary_in(["G", "1.2.0", "x", "N", "2", "9", "0", "0", str(size), str(size), str(len(names)), *names])


def test_boats_are_laid_out_in_order_and_taken_back() -> None:
    layout = Layout(small("A3 B2"))
    assert layout.next_boat == "A3"
    layout.put(0, 0, south=False)
    layout.put(4, 3, south=True)
    assert layout.next_boat is None
    assert layout.squares == "AAA.............." + "..B....B"
    with pytest.raises(Unsuited, match="all boats are placed"):
        layout.put(0, 4, south=False)
    layout.undo()
    assert layout.next_boat == "B2"
    layout.undo()
    layout.undo()
    assert (layout.next_boat, layout.squares) == ("A3", "." * 25)


def test_boats_stay_on_the_board_and_apart() -> None:
    layout = Layout(small("A3 B2"))
    with pytest.raises(Unsuited, match="A3 does not fit from d1 to the east"):
        layout.put(3, 0, south=False)
    with pytest.raises(Unsuited, match="A3 does not fit from a4 to the south"):
        layout.put(0, 3, south=True)
    layout.put(0, 0, south=False)
    with pytest.raises(Unsuited, match="B2 would lie over A at c1"):
        layout.put(2, 0, south=True)
    assert layout.next_boat == "B2"


def test_chance_lays_out_whole_fleets() -> None:
    chance = Chance(1)
    drawn = [Draft(USUAL).draw(chance) for _ in range(20)]
    assert all(given_fleet(fleet, USUAL) == fleet for fleet in drawn)
    assert len(set(drawn)) == 20


@pytest.mark.parametrize("percent", [50, 90, 100])
def test_a_draft_has_the_border_that_was_asked_for(percent: int) -> None:
    chance = Chance(percent)
    assert all(border_of(Draft(USUAL, percent).draw(chance), USUAL) >= percent for _ in range(3))


def test_a_border_that_cannot_be_had_gets_the_best_that_was_drawn() -> None:
    crowded = small("A5 B4 C3")
    fleet = Draft(crowded, 100).draw(Chance(3))
    assert given_fleet(fleet, crowded) == fleet
    assert border_of(fleet, crowded) > border_of(Draft(crowded).draw(Chance(3)), crowded)


def test_the_free_border() -> None:
    """A boat of two in the middle has six squares beside it; one in the corner has three."""
    assert border_of("......AA.................", small("A2")) == 100
    assert border_of("AA.......................", small("A2")) == 50
    assert border_of("AABB.....................", small("A2 B2")) == pytest.approx(100 * (2 + 4 - 1) / 12)


def test_chance_gives_up_where_boats_leave_no_room() -> None:
    with pytest.raises(Unsuited, match="more than half"):
        Draft(small("A5 B5 C5"), 0).draw(Chance(1))


@pytest.mark.parametrize(
    ("fleet", "words"),
    [("AAA", "25 squares, not 3"), ("AAA" + "." * 22, "boat B is missing"), ("AAABx" + "." * 20, "neither a boat nor water")],
)
def test_a_board_that_does_not_suit_the_game(fleet: str, words: str) -> None:
    with pytest.raises(Unsuited, match=words):
        given_fleet(fleet, small("A3 B2"))
