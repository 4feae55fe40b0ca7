"""The boards of a boat trial."""

from collections import Counter
from collections.abc import Sequence

import pytest

from botdrome.client.boats_game import border_of
from botdrome.games.battleship import Battleship, Rows, boats_in, check_fleet
from botdrome.games.chance import Chance
from botdrome.offline.boat_trial import Trial, drawn_position
from botdrome.wire.boats.lines import offer_in

BOATS = boats_in(Battleship().boats)


def free_border(fleet: Rows, boats: Sequence[str]) -> float:
    """As the client measures it: by another way than the trial."""
    size = str(len(fleet[0])), str(len(fleet))
    return border_of(
        "".join(fleet),
        offer_in(["G", "", "", "N", "2", "2", "0", "0", *size, str(len(boats)), *boats]),
    )


@pytest.mark.parametrize(("width", "height"), [(10, 10), (8, 22), (22, 8)])
@pytest.mark.parametrize("border", [0, 70])
def test_a_position_is_a_fleet_and_the_same_for_the_same_seed_and_number(
    width: int, height: int, border: int
) -> None:
    trial = Trial("house:random", 20, 7, width, height, border)
    fleets = [trial.position(number) for number in range(20)]
    for fleet in fleets:
        check_fleet("".join(fleet), BOATS, width)
        assert (len(fleet), len(fleet[0])) == (height, width)
        assert free_border(fleet, BOATS.names) >= border
    assert fleets == [trial.position(number) for number in range(20)]
    assert len(set(fleets)) == 20
    assert fleets[0] != Trial("house:random", 20, 8, width, height, border).position(0)


def test_every_fleet_that_there_can_be_is_as_likely_as_any_other() -> None:
    """On 3 by 3 there are 12 places for each of two boats of 2, and of the 144 pairs of places 88
    do not overlap.
    """
    chance = Chance(1)
    counts = Counter(drawn_position(3, 3, ("A2", "B2"), 0, chance) for _ in range(8800))
    assert len(counts) == 88
    squares = sum((count - 100) ** 2 / 100 for count in counts.values())
    assert squares < 130, "chi-square with 87 degrees of freedom is above that once in 500 times"


def test_boats_with_little_room_are_laid_one_after_the_other() -> None:
    names = tuple(f"{letter}3" for letter in "ABCDEFGHIJ")
    fleet = drawn_position(8, 8, names, 0, Chance(1))
    check_fleet("".join(fleet), boats_in(" ".join(names)), 8)


def test_a_border_that_no_fleet_has_gets_the_best_of_many() -> None:
    fleet = drawn_position(3, 3, ("A3",), 100, Chance(1))
    assert free_border(fleet, ("A3",)) == 75
