"""House bots get the same view over lines as over the native protocol, and their moves become
lines.
"""

import pytest

from botdrome.bots.house import HOUSE
from botdrome.client.boats_client import BotPlayer, line_for, placement_view, view_of
from botdrome.client.boats_game import TrackedGame, join
from botdrome.games.battleship import Battleship, Shot
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from tests.client.boat_server import FLEET, GAME

BOTS = HOUSE["battleship"]


class Referee:
    """The rules of the native game, told in lines to the player on one seat."""

    def __init__(self, seat: int, players: int, skips_are_told: bool = True) -> None:
        self.names = [f"p{number}" for number in range(players)]
        self.seat, self._told = seat, skips_are_told
        self.chance = Chance(seat)
        self.boats = TrackedGame()
        self.boats.hear(
            f"G|1.2.0|x|N|{players}|{players}|{players - 1}|17|10|10|5|A5|B4|C3|D3|E2".encode()
        )
        self.position = Battleship(rounds=0).start(players, self.chance)

    def start(self, fleet: str) -> None:
        self.boats.fleet = fleet
        join(self.boats, self.names[self.seat])
        self.hear(
            f"J|{self.names[self.seat]}",
            *(f"J|{name}" for at, name in enumerate(self.names) if at != self.seat),
        )
        self.position = self.position.play(
            {self.seat: self.position.parse(self.seat, {"board": fleet})}, self.chance
        )
        self.hear(*map(self._board, range(len(self.names))), "|".join(["S", *self.names]), "N|p0")

    def _board(self, seat: int) -> str:
        position = self.position
        return f"B|{self.names[seat]}||{''.join(position.boards[seat])}|{position.scores[seat]}|{position.skips[seat]}"

    def hear(self, *lines: str) -> None:
        for line in lines:
            self.boats.hear(line.encode())

    def play(self, move: Raw) -> None:
        """The line for the current turn, as servers write it."""
        shooter = self.position.to_move[0]
        shot = self.position.parse(shooter, move)
        self.position = self.position.play({shooter: shot}, self.chance)
        if isinstance(shot, Shot):
            self.hear(self._board(shooter), self._board(shot.target))
        elif self._told:
            self.hear(f"K|{self.names[shooter]}|")
        if not self.position.over:
            self.hear(f"N|{self.names[self.position.to_move[0]]}")


@pytest.mark.parametrize("players", [2, 4])
def test_the_view_is_that_of_the_native_protocol(players: int) -> None:
    referee = Referee(players - 1, players)
    view = placement_view(referee.boats.game)
    assert view == referee.position.view(players - 1)
    referee.start(FLEET)
    while not referee.position.over and referee.position.turn < 60:
        mine = {**referee.position.view(referee.seat)}
        assert view_of(referee.boats) == mine
        turn = referee.position.turn
        referee.play(
            {"skip": True}
            if turn % 7 == 3
            else BOTS["random"](referee.position.view(turn % players), referee.chance)
        )


def test_skips_that_nobody_was_told_of_do_not_confuse_the_rounds() -> None:
    """The original does not announce a skip: it comes to light with the next board."""
    referee = Referee(0, 2, skips_are_told=False)
    referee.start(FLEET)
    for number in range(10):
        referee.play({"x": number, "y": 0})
        referee.play({"skip": True} if number % 2 else {"x": number, "y": 0})
        view = view_of(referee.boats)
        assert view["toMove"] == (0,)
        assert view["round"] in (number + 1, number), "at most the last skip is not known yet"


@pytest.mark.parametrize("bot", BOTS)
@pytest.mark.parametrize("players", [2, 3])
def test_every_house_bot_plays_over_lines(bot: str, players: int) -> None:
    referee = Referee(0, players)
    bot_player = BotPlayer(BOTS[bot], 5)
    referee.start(bot_player.place(referee.boats.game))
    for _ in range(12):
        line = bot_player.on_line(referee.boats, b"N")
        assert line is not None
        kind, *words = line.decode().strip().split("|")
        move: Raw = {"skip": True}
        if kind == "S":
            move = {
                "target": referee.names.index(words[0]),
                "x": int(words[1]) - 1,
                "y": int(words[2]) - 1,
            }
        referee.play(move)
        while referee.position.to_move != (0,):
            assert bot_player.on_line(referee.boats, b"N") is None
            referee.play({"skip": True})


def corners(view: View, chance: Chance) -> Raw:
    """Shoots at a1, b1 and so on."""
    return {"target": 1, "x": chance.below(10), "y": 0}


def started() -> TrackedGame:
    referee = Referee(0, 2)
    referee.start(FLEET)
    return referee.boats


def test_a_refused_shot_is_tried_again_and_then_skipped() -> None:
    """As at the original, where nothing follows a refusal."""
    boats, bot_player = started(), BotPlayer(corners, 1)
    sent = [bot_player.on_line(boats, b"N")]
    for _ in range(3):
        boats.hear(b"M||that spot has already been shot")
        sent.append(bot_player.on_line(boats, b"M"))
    assert [line[:4] if line else line for line in sent] == [b"S|p1", b"S|p1", b"S|p1", b"K\n"]


def test_a_turn_that_is_repeated_after_a_refusal_is_not_played_twice() -> None:
    boats, bot_player = started(), BotPlayer(corners, 1)
    assert bot_player.on_line(boats, b"N")
    boats.hear(b"M||illegal coordinates")
    assert bot_player.on_line(boats, b"M")
    boats.hear(b"N|p0")
    assert bot_player.on_line(boats, b"N") is None
    assert boats.spent
    boats.hear(b"N|p1")
    assert bot_player.on_line(boats, b"N") is None
    boats.hear(b"N|p0")
    assert bot_player.on_line(boats, b"N")
    boats.hear(b"M|p1|well done")
    assert bot_player.on_line(boats, b"M") is None


def test_a_turn_that_comes_again_for_other_reasons_is_played() -> None:
    boats, bot_player = started(), BotPlayer(corners, 1)
    assert bot_player.on_line(boats, b"N")
    boats.hear(b"M||in words of its own")
    assert bot_player.on_line(boats, b"M") is None
    boats.hear(b"N|p0")
    assert bot_player.on_line(boats, b"N")
    bot_player.begin_again()


def test_a_shot_that_cannot_be_is_a_skip() -> None:
    boats = started()
    assert line_for(boats, {"x": 3, "y": 4}) == b"S|p1|4|5\n"
    boats.spent = False
    assert line_for(boats, {"target": 0, "x": 3, "y": 4}) == b"K\n"
    boats.spent = False
    assert line_for(boats, {"skip": True}) == b"K\n"


def test_odd_squares_of_other_servers_are_not_shot_at() -> None:
    boats = started()
    boats.hear(f"B|p1||-a Xx0{'.' * 94}|0|0".encode())
    assert view_of(boats)["boards"][1][0] == "0X0XX0...."
    assert boats.hear(GAME.encode()) == []
