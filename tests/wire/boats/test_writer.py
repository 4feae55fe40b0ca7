"""The lines to the players of a match, as a transcript of the protocol."""

import pytest

from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms
from botdrome.wire.boats.lines import BoatWriter, RefusedShot, Roster, Taunts
from botdrome.wire.conversation import Submit
from botdrome.wire.writers import match_status

FLEET = ["AAA..", "BB...", ".....", ".....", "....."]
WATER = "." * 25


class Told:
    """A match of ann, bob and carl, and the lines to each."""

    def __init__(
        self, placed: bool = True, goal: int = 1, players: tuple[int, ...] = (0, 1, 2)
    ) -> None:
        game = Battleship(width=5, height=5, boats="A3 B2", goal=goal)
        self.match = Match(
            game, 3, Terms(Pace(1000), late="pass", gone="wait", absence=100, early_end=True), 1
        )
        self.roster = Roster([b"ann", b"bob", b"carl"], [Taunts(), Taunts(), Taunts()], Chance(1))
        self.talk, self._players = BoatWriter(self.roster), players
        assert self(self.match.start()) == {}
        for player in range(3) if placed else ():
            self.last = self(self.match.submit(player, {"board": FLEET}, 0))

    def __call__(self, news: News, now: int = 0) -> dict[int, list[str]]:
        """The lines by player."""
        told = self.talk.on_news(news, match_status(self.match, now), self._players)
        return {player: message.decode().split("\n") for player, (message,) in told.items()}

    def to_all(self, news: News) -> list[str]:
        told = self(news)
        assert list(told) == [0, 1, 2]
        assert told[0] == told[1] == told[2]
        return told[0]


def shot(target: int, x: int, y: int) -> dict[str, int]:
    return {"target": target, "x": x, "y": y}


def test_the_start_is_told_when_all_fleets_are_placed() -> None:
    told = Told()
    start = [
        f"B|ann||{WATER}|0|0",
        f"B|bob||{WATER}|0|0",
        f"B|carl||{WATER}|0|0",
        "S|ann|bob|carl",
        "N|ann",
    ]
    assert told.last == {0: start, 1: start, 2: start}


def test_a_miss_a_hit_and_a_skip() -> None:
    told = Told()
    assert told.to_all(told.match.submit(0, shot(1, 4, 4), 0)) == [
        f"B|bob||{WATER[:-1]}0|0|0",
        "N|bob",
    ]
    assert told.to_all(told.match.submit(1, shot(0, 2, 0), 0)) == [
        "H|bob|ann|c1", f"B|bob||{WATER[:-1]}0|1|0", f"B|ann||..X{WATER[3:]}|0|0", "N|carl",
    ]  # fmt: skip
    told.roster.skip_reason = b"thinking"
    assert told.to_all(told.match.submit(2, {"skip": True}, 0)) == [
        "K|carl|thinking", "F|finished|1|3", "R|bob|1|0|1|", "R|ann|0|0|1|", "R|carl|0|1|1|",
    ]  # fmt: skip


def test_a_taunt_is_for_the_shooter_alone_after_the_hit_and_before_the_board() -> None:
    told = Told()
    told.roster.taunts[1].set(b"hit", b"ouch")
    told.roster.taunts[0].set(b"miss", b"ha")
    news = told(told.match.submit(0, shot(1, 0, 0), 0))
    assert news[0] == [
        "H|ann|bob|a1",
        "M|bob|ouch",
        f"B|ann||{WATER}|1|0",
        f"B|bob||X{WATER[1:]}|0|0",
        "N|bob",
    ]
    assert news[1] == news[2] == [line for line in news[0] if not line.startswith("M|")]
    news = told(told.match.submit(1, shot(0, 4, 4), 0))
    assert news[1] == ["M|ann|ha", f"B|ann||{WATER[:-1]}0|1|0", "N|carl"]
    assert news[0] == news[1][1:]


def test_a_taunt_for_a_shooter_who_is_not_on_lines_is_dropped() -> None:
    told = Told(players=(1, 2))
    told.roster.taunts[1].set(b"miss", b"ha")
    news = told(told.match.submit(0, shot(1, 4, 4), 0))
    assert news[1] == news[2] == [f"B|bob||{WATER[:-1]}0|0|0", "N|bob"]


def test_who_is_late_is_skipped_and_told_so() -> None:
    told = Told()
    news = told(told.match.submit(0, shot(1, 0, 0), 1500))
    assert news[0] == ["K|ann|out of time", "N|bob", "M||it is not your turn!"]
    assert news[1] == ["K|ann|out of time", "N|bob"]
    late = Told(players=(1, 2))
    assert list(late(late.match.submit(0, shot(1, 0, 0), 1500))) == [1, 2]


def test_a_move_out_of_turn_that_came_this_far_is_answered() -> None:
    told = Told()
    assert told(told.match.submit(1, shot(0, 0, 0), 0)) == {1: ["M||it is not your turn"]}
    assert Told(players=(0, 2))(told.match.submit(1, shot(0, 0, 0), 0)) == {}


def test_who_leaves_is_shown_with_its_board_and_skipped_by_its_status() -> None:
    told = Told()
    assert told.to_all(told.match.leave(2, 0)) == [f"B|carl|disconnected|{WATER}|0|0"]
    told.roster.statuses[0] = b"brb"
    assert told.to_all(told.match.leave(0, 0)) == [f"B|ann|brb|{WATER}|0|0"]
    assert told.to_all(told.match.wake(100)) == ["K|ann|brb", "N|bob"]


def test_a_game_that_is_decided_within_a_round_asks_nobody_for_the_next_turn() -> None:
    told = Told(goal=5)
    for player in (0, 2):
        told(told.match.leave(player, 0))
    told(told.match.wake(100))  # ann is skipped
    told(told.match.rejoin(0, 100))
    told(told.match.submit(1, {"skip": True}, 100))
    told(told.match.wake(200))  # carl is skipped
    for x, y in [(0, 0), (1, 0), (2, 0), (0, 1)]:
        told(told.match.submit(0, shot(1, x, y), 200))
        told(told.match.submit(1, {"skip": True}, 200))
        told(told.match.wake(200))
    told(told.match.submit(0, shot(1, 1, 1), 200))
    assert told(told.match.leave(0, 200))[1] == [
        f"B|ann|disconnected|{WATER}|5|1", "F|finished|6|3",
        "R|ann|5|1|6|disconnected", "R|bob|0|5|5|", "R|carl|0|5|5|disconnected",
    ]  # fmt: skip


def test_who_comes_back_is_told_everything() -> None:
    told = Told()
    told(told.match.submit(0, shot(2, 0, 0), 0))
    told(told.match.leave(2, 0))
    told(told.match.submit(1, shot(2, 4, 4), 0))
    news = told(told.match.rejoin(2, 0))
    board = f"B|carl||X{WATER[1:-1]}0|0|0"
    again = [board, "M||carl reconnected|All"]
    assert news[0] == news[1] == again
    company = ["J|ann", f"B|ann||{WATER}|1|0", "J|bob", f"B|bob||{WATER}|0|0"]
    assert news[2] == [
        "J|carl",
        "Y|AAA..BB............" + ".....0",
        *company,
        "S|ann|bob|carl",
        "N|carl",
        *again,
    ]


def test_one_who_comes_back_another_way_is_announced_to_the_others() -> None:
    told = Told(players=(0, 1))
    told(told.match.leave(2, 0))
    news = told(told.match.rejoin(2, 0))
    assert news[0] == news[1] == [f"B|carl||{WATER}|0|0", "M||carl reconnected|All"]


def test_before_all_fleets_are_placed_coming_and_going_is_told_without_boards() -> None:
    told = Told(placed=False)
    assert told(told.match.leave(1, 0)) == {}
    news = told(told.match.rejoin(1, 0))
    assert news[1] == ["J|bob", "J|ann", "J|carl", "M||bob reconnected|All"]
    assert news[0] == ["M||bob reconnected|All"]


def test_an_aborted_game_has_results_as_well() -> None:
    told = Told()
    told(told.match.submit(0, {"skip": True}, 0))
    assert told.to_all(told.match.abort(0)) == [
        "F|aborted|1|3",
        "R|ann|0|1|1|",
        "R|bob|0|0|0|",
        "R|carl|0|0|0|",
    ]


def test_a_shot_after_the_end_is_no_move() -> None:
    told = Told()
    assert told.talk.plain_shot(0, b"S|bob|1|1") == (Submit(shot(1, 0, 0), b"S|bob|1|1"),)
    told(told.match.abort(0))
    assert told.talk.plain_shot(0, b"S|bob|1|1") is None
    with pytest.raises(RefusedShot):
        told.talk.shot(0, [b"S", b"bob", b"1", b"1"])
