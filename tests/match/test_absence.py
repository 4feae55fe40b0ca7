"""Players that leave, come back, are late or shoot at illegal squares, on the terms of
battleship.
"""

import pytest

from botdrome.bots.battleship import random
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.match.match import Match
from tests.match.telling import told

ROW = CATALOGUE["battleship"]
LIMIT, ABSENCE = 60_000, 5_000
EMPTY = "." * 100
FLEET = {
    "board": "AAAAA"
    + EMPTY[:5]
    + "BBBB"
    + EMPTY[:6]
    + "CCC"
    + EMPTY[:7]
    + "DDD"
    + EMPTY[:7]
    + "EE"
    + EMPTY[:58]
}
SKIP = {"skip": True}


def shot(player: int, x: int, y: int) -> dict[str, int]:
    """At the next player."""
    return {"target": (player + 1) % 3, "x": x, "y": y}


def placing() -> Match:
    match = Match(ROW.game, 3, ROW.terms, seed=1)
    match.start()
    return match


def shooting() -> Match:
    """All have placed their fleets after a second; player 0 is to shoot."""
    match = placing()
    for player in range(3):
        match.submit(player, FLEET, 1000)
    return match


def skips(match: Match) -> tuple[int, ...]:
    return tuple(match.view(None)["skips"])


# Turns that pass.


def test_the_terms_are_those_of_the_format() -> None:
    match = shooting()
    assert (match.awaited, match.deadline) == ([0], 1000 + LIMIT)


def test_a_turn_whose_time_is_up_is_skipped() -> None:
    match = shooting()
    assert match.wake(60_999) == []
    assert told(match.wake(61_000)) == ["step 1 played by []"]
    assert (match.awaited, match.deadline) == ([1], 61_000 + LIMIT)
    assert skips(match) == (1, 0, 0)


def test_a_late_shot_is_refused_and_the_turn_skipped() -> None:
    match = shooting()
    assert told(match.submit(0, shot(0, 0, 0), 61_250)) == ["step 1 played by []", "0 late by 250"]
    assert match.awaited == [1]
    assert match.position.scores == (0, 0, 0)
    assert skips(match) == (1, 0, 0)


def test_a_shot_at_the_deadline_is_in_time() -> None:
    match = shooting()
    assert told(match.submit(0, shot(0, 0, 0), 61_000)) == ["step 1 played by [0]"]
    assert match.position.scores == (1, 0, 0)


def test_a_shot_sent_before_the_skip_was_told_is_out_of_turn() -> None:
    match = shooting()
    assert told(match.submit(1, shot(1, 0, 0), 61_250)) == [
        "step 1 played by []",
        "1 refused (0): it is not your turn",
    ]
    assert match.awaited == [1]
    assert told(match.submit(1, shot(1, 0, 0), 61_260)) == ["step 2 played by [1]"]


def test_who_is_late_ever_and_again_stays_in_the_game() -> None:
    match = shooting()
    for turn in range(90):
        now = match.deadline
        assert now is not None
        assert told(match.wake(now)) == [f"step {turn + 1} played by []"]
    assert skips(match) == (30, 30, 30)


def test_who_places_no_fleet_in_time_gets_one() -> None:
    match = placing()
    match.submit(0, FLEET, 1000)
    match.submit(2, FLEET, 1000)
    assert match.awaited == [1]
    assert told(match.wake(60_000)) == ["step 0 played by []"]
    assert sum(letter != "." for row in match.view(1)["own"] for letter in row) == 17


# Illegal shots.


def test_an_illegal_shot_is_free_and_asked_again() -> None:
    match = shooting()
    for now in range(2000, 2020):
        assert told(match.submit(0, {"target": 0, "x": 1, "y": 1}, now)) == [
            "0 refused (0): don't shoot at yourself"
        ]
        assert (match.awaited, match.deadline) == ([0], 1000 + LIMIT), "the clock is not restarted"
    assert told(match.submit(0, shot(0, 1, 1), 3000)) == ["step 1 played by [0]"]


def test_a_shot_out_of_turn_is_free_too() -> None:
    match = shooting()
    assert told(match.submit(2, shot(2, 1, 1), 2000)) == ["2 refused (0): it is not your turn"]
    assert match.awaited == [0]


def test_a_fleet_that_does_not_fit_is_asked_for_again() -> None:
    match = placing()
    assert told(match.submit(0, {"board": EMPTY}, 100)) == ["0 refused (0): boat A is missing"]
    assert match.awaited == [0, 1, 2]


def test_a_fleet_may_be_changed_until_all_are_placed_and_shows_to_nobody() -> None:
    match = placing()
    match.submit(0, FLEET, 100)
    match.submit(0, {"board": FLEET["board"][::-1]}, 200)
    match.submit(1, FLEET, 300)
    assert told(match.submit(2, FLEET, 400)) == ["step 0 played by []"]
    assert "".join(match.view(0)["own"]) == FLEET["board"][::-1]


# Leaving.


def test_who_leaves_is_skipped_soon_when_it_is_to_move() -> None:
    match = shooting()
    assert told(match.leave(1, 2000)) == ["left 1"]
    assert match.deadline == 1000 + LIMIT, "player 0 has its full time"
    match.submit(0, shot(0, 0, 0), 3000)
    assert (match.awaited, match.deadline) == ([1], 3000 + ABSENCE)
    assert told(match.wake(8000)) == ["step 2 played by []"]
    assert (match.awaited, match.deadline) == ([2], 8000 + LIMIT)
    assert skips(match) == (0, 1, 0)


def test_who_leaves_in_its_turn_is_waited_for_a_while() -> None:
    match = shooting()
    match.leave(0, 2000)
    assert (match.awaited, match.deadline) == ([0], 2000 + ABSENCE)
    assert told(match.wake(7000)) == ["step 1 played by []"]
    assert match.awaited == [1]


def test_leaving_late_in_a_turn_wins_no_time() -> None:
    match = shooting()
    match.leave(0, 60_000)
    assert match.deadline == 1000 + LIMIT


def test_who_leaves_while_placing_gets_a_fleet_and_keeps_nobody_from_placing() -> None:
    match = placing()
    match.leave(1, 500)
    assert match.deadline == LIMIT
    match.submit(0, FLEET, 1000)
    match.submit(2, FLEET, 2000)
    assert (match.awaited, match.deadline) == ([1], 2000 + ABSENCE)
    assert told(match.wake(7000)) == ["step 0 played by []"]
    assert match.view(None)["placed"] == (True, True, True)


def test_who_is_absent_may_be_shot_at() -> None:
    match = shooting()
    match.leave(1, 2000)
    match.submit(0, shot(0, 0, 0), 3000)
    assert match.position.scores == (1, 0, 0)


# Coming back.


def test_who_comes_back_in_its_turn_has_the_limit_again() -> None:
    match = shooting()
    match.leave(0, 2000)
    assert told(match.rejoin(0, 4000)) == ["returned 0"]
    assert (match.awaited, match.deadline) == ([0], 1000 + LIMIT)
    assert told(match.submit(0, shot(0, 0, 0), 50_000)) == ["step 1 played by [0]"]


def test_who_comes_back_later_has_its_turns_again() -> None:
    match = shooting()
    match.leave(1, 2000)
    match.submit(0, shot(0, 0, 0), 3000)
    match.wake(8000)
    assert told(match.rejoin(1, 9000)) == ["returned 1"]
    assert match.deadline == 8000 + LIMIT, "player 2 has its own time"
    match.submit(2, shot(2, 0, 0), 10_000)
    match.submit(0, SKIP, 11_000)
    assert (match.awaited, match.deadline) == ([1], 11_000 + LIMIT)
    assert "".join(match.view(1)["own"]) == "a" + FLEET["board"][1:], "and the fleet that it placed"


def test_who_did_not_come_back_in_time_is_not_waited_for_again_until_it_does() -> None:
    match = shooting()
    match.leave(1, 2000)
    match.submit(0, SKIP, 3000)
    match.wake(8000)
    match.submit(2, SKIP, 9000)
    match.submit(0, SKIP, 10_000)
    assert (match.awaited, match.deadline) == ([1], 10_000), "its turn passes at once"
    assert told(match.rejoin(1, 10_000)) == ["returned 1"]
    assert match.deadline == 10_000 + LIMIT
    match.leave(1, 11_000)
    assert match.deadline == 11_000 + ABSENCE, "whoever has been back has the time again"


def test_two_who_are_away_are_waited_for_as_long_as_one_of_them_may_come_back() -> None:
    match = placing()
    match.submit(0, FLEET, 1000)
    match.leave(1, 2000)
    match.leave(2, 3000)
    assert (match.awaited, match.deadline) == ([1, 2], 2000 + ABSENCE + 1000)


def test_who_was_not_away_cannot_come_back() -> None:
    assert shooting().rejoin(1, 2000) == []


# The end.


def test_when_all_are_gone_the_match_ends() -> None:
    match = shooting()
    match.submit(0, shot(0, 0, 0), 1500)
    match.leave(0, 2000)
    match.leave(2, 2500)
    assert match.result is None
    gone = ("disconnect",) * 3
    assert told(match.leave(1, 3000)) == ["left 1", f"ended (1, 2, 2) {gone}"]
    assert match.result is not None
    assert match.result.scores == (1, 0, 0)
    assert (match.awaited, match.deadline) == ([], None)


def test_who_came_back_keeps_the_match_going() -> None:
    match = shooting()
    match.leave(0, 2000)
    match.rejoin(0, 2500)
    match.leave(1, 3000)
    match.leave(2, 3500)
    assert match.result is None


@pytest.mark.parametrize("absent", [0, 1, 2])
def test_the_game_goes_on_to_its_end_without_the_absent(absent: int) -> None:
    match, chance, now, patience = shooting(), Chance(5), 2000, ABSENCE
    match.leave(absent, now)
    while match.result is None:
        (player,) = match.awaited
        if player == absent:
            assert match.deadline == now + patience
            now, patience = match.deadline, 0
            match.wake(now)
        else:
            match.submit(player, random(match.view(player), chance), now)
    assert match.result.causes == ("complete",) * 3
    assert match.result.scores[absent] == 0
    assert max(match.result.scores) >= 17
    assert skips(match)[absent] == match.view(None)["round"]
