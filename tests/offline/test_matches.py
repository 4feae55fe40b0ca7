"""The public Python API: games, positions and matches."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import botdrome
from botdrome.catalogue import CATALOGUE, restored
from botdrome.match.match import Match
from botdrome.match.record import verify
from botdrome.match.terms import offline

CROSS = {"mark": "X", "space": [0, 0]}
NOUGHT = {"mark": "O", "space": [1, 1]}


def test_a_position_is_played_and_stays_as_it_was() -> None:
    first = botdrome.game("noughts-and-crosses").start()
    second = first.play(CROSS)
    third = second.play(NOUGHT, seat=1)
    assert (first.to_move, second.to_move, third.step) == ((0,), (1,), 2)
    assert first.view()["board"] == [["", "", ""]] * 3 and first.copy() is first
    assert third.view(0)["you"] == 0 and third.view(0)["board"][1] == ["", "O", ""]
    assert len(third.moves()) == 7 and third.moves(0)[0] == {"mark": "X", "space": [0, 1]}
    assert not third.over and third.scores == (0, 0)


def test_the_end_of_a_game() -> None:
    position = botdrome.game("noughts-and-crosses").start()
    while not position.over:
        position = position.play(position.moves()[0])
    assert position.scores == (1, 0) and position.to_move == ()


@pytest.mark.parametrize("game", CATALOGUE)
def test_a_seed_gives_the_positions_of_a_match(game: str) -> None:
    setup = CATALOGUE[game]
    match = Match(setup.game, 2, offline(setup.terms), 77)
    match.start()
    position = botdrome.game(game).start(seed=77)
    for _ in range(3):
        moves = {seat: next(iter(match.position.moves(seat))) for seat in match.position.to_move}
        position = position.play_all(moves)
        for seat, move in moves.items():
            match.submit(match.order[seat], move, 0)
        assert position.view(1) == msgspec.json.decode(msgspec.json.encode(match.position.view(1)))


def test_options() -> None:
    setup = botdrome.game("gomoku", size=19)
    assert (setup.name, setup.options["size"], setup.players) == ("gomoku", 19, range(2, 3))
    assert setup.start().view()["size"] == 19
    for name, options, words in [
        ("chess", {}, "no game 'chess'"),
        ("gomoku", {"size": 3}, "size"),
        ("gomoku", {"x": 1}, "'x'"),
    ]:
        with pytest.raises(botdrome.BadOption, match=words):
            botdrome.game(name, **options)
    with pytest.raises(botdrome.BadOption, match="2 to 2 players, not 3"):
        setup.start(players=3)


def test_illegal_moves_are_named() -> None:
    position = botdrome.game("noughts-and-crosses").start().play(CROSS)
    for move, seat, words in [
        (CROSS, 0, "seat 0 is not to move"),
        ({"mark": "O", "space": [0, 0]}, None, "is taken"),
    ]:
        with pytest.raises(botdrome.IllegalMove, match=words):
            position.play(move, seat)
    with pytest.raises(botdrome.IllegalMove, match="name the seat"):
        botdrome.game("bomberman").start().play({"action": "WAIT"})


class Corner(botdrome.Bot):
    def begin(self, match: dict[str, Any]) -> None:
        self.mark = "XO"[match["you"]]

    async def move(self, view: dict[str, Any]) -> Any:
        space = next(
            [row, column]
            for row in range(3)
            for column in range(3)
            if not view["board"][row][column]
        )
        return {"mark": self.mark, "space": space}


def nothing(view: dict[str, Any]) -> None:
    raise ValueError("no idea")


def test_bots_play_and_the_results_say_why(tmp_path: Path) -> None:
    results = botdrome.play(
        [Corner, nothing, "house:perfect"], "noughts-and-crosses", matches=2, seed=5
    )
    assert [result.players for result in results] == [
        ("Corner", "nothing"),
        ("Corner", "house:perfect"),
        ("nothing", "house:perfect"),
        ("nothing", "Corner"),
        ("house:perfect", "Corner"),
        ("house:perfect", "nothing"),
    ]
    first = results[0]
    assert (first.winner, first.places, first.causes) == ("Corner", (1, 2), ("complete", "crash"))
    assert "ValueError: no idea" in first.reasons[1] and first.seed == 5
    first.save(tmp_path / "match.jsonl")
    record, game = restored((tmp_path / "match.jsonl").read_bytes())
    verify(record, game)
    assert record.result is not None and record.result.places == first.places


def test_the_same_seed_gives_the_same_matches() -> None:
    setup = botdrome.game("gomoku", size=7)
    one, two = (
        botdrome.play(["house:random", "house:random"], setup, matches=2, seed=1) for _ in range(2)
    )
    assert [result.record for result in one] == [result.record for result in two]
    assert one[0].players == ("house:random", "house:random #2") and one[0].record != one[1].record


def test_an_object_is_a_bot() -> None:
    (result,) = botdrome.play([Corner(), Corner()], "noughts-and-crosses")
    assert result.players == ("Corner", "Corner #2") and result.winner == "Corner"


def test_a_draw_has_no_winner() -> None:
    (result,) = botdrome.play(["house:perfect"] * 2, "noughts-and-crosses")
    assert result.winner is None and result.places == (1, 1)


def test_python_chance_stays_with_the_caller() -> None:
    random.seed(5)
    expected = random.random()
    random.seed(5)
    botdrome.play([Corner, Corner], "noughts-and-crosses")
    assert random.random() == expected


def test_wrong_bots_and_numbers_are_named() -> None:
    with pytest.raises(botdrome.CannotStart, match="the house has random"):
        botdrome.play(["house:nobody", Corner], "noughts-and-crosses")
    for bots, players in [([Corner], None), ([Corner, Corner], 3), ([Corner], 2)]:
        with pytest.raises(botdrome.BadOption, match="for 2 to 2 players"):
            botdrome.play(bots, "noughts-and-crosses", players=players)


def test_everything_public_can_be_imported() -> None:
    for name in botdrome.__all__:
        assert getattr(botdrome, name) is not None and name in dir(botdrome)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(botdrome, "nothing")  # noqa: B009


LIGHT = "import sys, botdrome; print(sorted({'msgspec', 'numpy', 'asyncio'} & sys.modules.keys()))"
WITHOUT = "import sys; sys.modules['numpy'] = None; import botdrome; botdrome.env('gomoku')"


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_import_is_light() -> None:
    assert python(LIGHT).stdout == "[]\n"


def test_training_without_the_extra_says_what_to_install() -> None:
    lines = python(WITHOUT).stderr.splitlines()
    assert (
        lines[-1]
        == "ImportError: training needs gymnasium, numpy, pettingzoo: pip install 'botdrome[rl]'"
    )
