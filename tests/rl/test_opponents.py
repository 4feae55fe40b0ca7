"""One player against every kind of opponent."""

import random
from pathlib import Path
from typing import Any

import pytest

import botdrome
from botdrome.catalogue import CATALOGUE, restored
from botdrome.match.record import verify
from botdrome.rl.single import SingleEnvironment
from tests.offline.programs import CRASHING, GOOD, program
from tests.rl.playing import choose

FIRST = """
def bot(view):
    for row in range(3):
        for column in range(3):
            if not view["board"][row][column]:
                return {"mark": view["marks"][view["you"]], "space": [row, column]}
"""


def first_free(view: dict[str, Any]) -> Any:
    assert type(view["toMove"]) is list
    space = next(
        [row, column] for row in range(3) for column in range(3) if not view["board"][row][column]
    )
    return {"mark": view["marks"][view["you"]], "space": space}


class Told(botdrome.Bot):
    matches: list[dict[str, Any]] = []  # noqa: RUF012

    def begin(self, match: dict[str, Any]) -> None:
        self.matches.append(match)

    def move(self, view: dict[str, Any]) -> Any:
        return first_free(view)


def play_out(env: SingleEnvironment, seed: int) -> tuple[float, dict[str, Any]]:
    """The sum of the rewards, and the last info."""
    observation, info = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        observation, reward, over, _, info = env.step(
            choose(observation["observation"], observation["action_mask"])
        )
        total += reward
    return total, info


@pytest.mark.parametrize("game", CATALOGUE)
@pytest.mark.parametrize("player", [0, 1])
def test_a_seed_gives_the_same_match(game: str, player: int) -> None:
    found = []
    for _ in range(2):
        env = botdrome.env(game, opponents=["house:random"], player=player)
        total, info = play_out(env, 4)
        found.append(env.record())
        assert total == {1: 1, 2: -1}[info["place"]] or total == 0
    assert found[0] == found[1]
    record, setup = restored(found[0])
    verify(record, setup)
    assert (
        record.setup.names[player] == "learner" and record.setup.names[1 - player] == "house:random"
    )


def test_all_kinds_of_the_same_bot_play_the_same_match(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(FIRST)
    kinds: list[Any] = [first_free, Told, str(tmp_path / "first.py"), program(tmp_path, GOOD)]
    results = []
    for kind in kinds:
        env = botdrome.env("noughts-and-crosses", opponents=[kind])
        results.append([(play_out(env, seed), moves_of(env)) for seed in (1, 2)])
        env.close()
    assert results == [results[0]] * len(kinds)
    assert [match["you"] for match in Told.matches] == [1, 1] and Told.matches[0][
        "game"
    ] == "noughts-and-crosses"


def moves_of(env: SingleEnvironment) -> list[Any]:
    record, _ = restored(env.record())
    return [line.say for line in record.lines if line.do == "move"]


def test_a_recorded_match_is_an_opponent(tmp_path: Path) -> None:
    (result,) = botdrome.play(["house:random", "house:perfect"], "noughts-and-crosses", seed=3)
    result.save(tmp_path / "match.jsonl")
    record, _ = restored(result.record)
    env = botdrome.env("noughts-and-crosses", opponents=[f"replay:{tmp_path / 'match.jsonl'}"])
    env.reset(seed=3)
    own = [line.say["space"] for line in record.lines if line.by == 0]
    for row, column in own:
        *_, over, _, _ = env.step(3 * row + column)
    assert over
    again, _ = restored(env.record())
    assert [line.say for line in again.lines] == [line.say for line in record.lines]
    assert (
        again.result is not None
        and record.result is not None
        and again.result.places == record.result.places
    )


def test_a_recorded_opponent_beside_a_program(tmp_path: Path) -> None:
    (result,) = botdrome.play(["house:random"] * 3, "battlecube", seed=3)
    result.save(tmp_path / "match.jsonl")
    (tmp_path / "still.py").write_text("def bot(view): return [{'task': 'NOOP'}]")
    opponents = [f"replay:{tmp_path / 'match.jsonl'}", str(tmp_path / "still.py")]
    env = botdrome.env("battlecube", opponents=opponents, ticks=5)
    env.reset(seed=3)
    env.step(6)
    record, _ = restored(result.record)
    recorded = next(line.say for line in record.lines if line.by == 1)
    played = {line.by: line.say for line in restored(env.record())[0].lines}
    assert played == {0: [{"task": "NOOP"}], 1: recorded, 2: [{"task": "NOOP"}]}
    env.close()


def test_an_opponent_that_fails_loses(tmp_path: Path) -> None:
    env = botdrome.env("noughts-and-crosses", opponents=[program(tmp_path, CRASHING)])
    assert play_out(env, 1) == (1.0, {"place": 1, "cause": "complete"})


def test_a_refused_action_against_a_program(tmp_path: Path) -> None:
    env = botdrome.env("noughts-and-crosses", opponents=[program(tmp_path, GOOD)])
    env.reset(seed=1)
    _, reward, over, _, info = env.step(0)
    assert (reward, over) == (0.0, False)
    _, reward, over, _, info = env.step(0)
    assert (reward, over, info["cause"]) == (-1.0, True, "illegal moves")


def test_closing_ends_the_program(tmp_path: Path) -> None:
    env = botdrome.env("noughts-and-crosses", opponents=[program(tmp_path, GOOD)])
    env.reset(seed=1)
    env.reset(seed=2)
    env.close()
    with pytest.raises(AssertionError, match="call reset first"):
        env.step(0)


def test_the_learner_ends_when_it_is_dead() -> None:
    env = botdrome.env("bomberman", opponents=["house:random"] * 3)
    env.reset(seed=1)
    over, place_bomb, wait, rounds = False, 4, 5, 0
    while not over:
        _, reward, over, _, info = env.step(wait if rounds else place_bomb)
        rounds += 1
    assert rounds == 5 and reward < 1 and info["cause"] == "complete" and info["place"] > 1


def test_python_chance_stays_with_the_caller() -> None:
    random.seed(5)
    expected = random.random()
    random.seed(5)
    env = botdrome.env("noughts-and-crosses", opponents=[first_free])
    env.reset(seed=1)
    assert random.random() == expected


@pytest.mark.parametrize(
    ("opponent", "words"),
    [
        ("house:nobody", "the house has random"),
        ("missing.py", "cannot be read"),
        ("cmd:there-is-no-such-program", "there is no program"),
        ("replay:missing.jsonl", "cannot be read"),
    ],
)
def test_an_opponent_that_cannot_start_is_named(opponent: str, words: str) -> None:
    with pytest.raises(botdrome.CannotStart, match=words):
        botdrome.env("noughts-and-crosses", opponents=[opponent])


def test_a_match_file_that_does_not_fit_is_named(tmp_path: Path) -> None:
    (result,) = botdrome.play(["house:random"] * 2, "noughts-and-crosses")
    result.save(tmp_path / "match.jsonl")
    (tmp_path / "broken.jsonl").write_bytes(result.record[:-5])
    for game, name, words in [
        ("gomoku", "match", "a match of noughts"),
        ("noughts-and-crosses", "broken", "line"),
    ]:
        with pytest.raises(botdrome.CannotStart, match=words):
            botdrome.env(game, opponents=[f"replay:{tmp_path / name}.jsonl"])
    with pytest.raises(botdrome.CannotStart, match="player 2"):
        botdrome.play(["house:random"] * 2, "battlecube")[0].save(tmp_path / "cube.jsonl")
        botdrome.env("battlecube", opponents=["house:random", f"replay:{tmp_path / 'cube.jsonl'}"])
