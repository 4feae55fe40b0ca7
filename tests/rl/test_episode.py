"""Rewards, ends, refused actions and records of the environments."""

from typing import Any

import numpy as np
import pytest

import botdrome
from botdrome.catalogue import CATALOGUE, restored
from botdrome.encodings import BadAction
from botdrome.match.record import verify
from botdrome.rl.episode import place_rewards
from tests.rl.playing import choose, play_out

WIN = [0, 3, 1, 4, 2]
"""Crosses takes the first row."""


@pytest.mark.parametrize(
    ("places", "rewards"),
    [
        ((1, 2), [1, -1]),
        ((1, 1), [0, 0]),
        ((3, 1, 2), [-1, 1, 0]),
        ((1, 2, 2, 4), [1, 0, 0, -1]),
        ((1, 1, 1), [0, 0, 0]),
        ((1,), [0]),
    ],
)
def test_a_reward_is_the_place_between_one_and_minus_one(
    places: tuple[int, ...], rewards: list[float]
) -> None:
    assert place_rewards(places) == pytest.approx(rewards)


def test_the_winner_is_paid_at_the_end() -> None:
    actions = iter(WIN)
    env = botdrome.env("noughts-and-crosses")
    assert play_out(env, 1, lambda *_: next(actions)) == {
        "player_0": [0, 0, 0, 1],
        "player_1": [0, 0, -1],
    }
    assert env.episode.info(0) == {"place": 1, "cause": "complete"} and env.agents == []


def test_a_refused_action_loses_where_a_missing_move_does() -> None:
    env = botdrome.env("noughts-and-crosses")
    env.reset(seed=1)
    env.step(4)
    env.step(4)
    assert env.terminations == {"player_0": True, "player_1": True} and env.rewards == {
        "player_0": 1,
        "player_1": -1,
    }
    assert env.infos["player_1"] == {"place": 2, "cause": "illegal moves"}
    record, game = restored(env.record())
    verify(record, game)
    assert record.result == env.episode.match.result


def test_a_refused_action_is_a_missed_step_elsewhere() -> None:
    env = botdrome.env("bomberman", parallel=True, views=True)
    _, infos = env.reset(seed=1)
    before = [user["at"] for user in infos["player_0"]["view"]["users"]]
    walls = {
        agent: int(np.flatnonzero(env.episode.observe(player)["action_mask"] == 0)[0])
        for player, agent in enumerate(env.agents)
    }
    *_, infos = env.step(walls)
    view = infos["player_0"]["view"]
    assert view["round"] == 1 and [user["at"] for user in view["users"]] == before
    env.step({"player_0": 5})
    assert env.episode.match.steps == 2 and env.agents == ["player_0", "player_1"]
    verify(*restored(env.record()))


def test_a_player_at_fault_is_paid_less_than_its_score() -> None:
    env = botdrome.env("noughts-and-crosses", rewards="score")
    env.reset(seed=1)
    env.step(4)
    env.step(4)
    assert env.rewards == {"player_0": 0, "player_1": -1}


def test_score_differences_add_up() -> None:
    env = botdrome.env("battleship", rewards="score", players=3, width=5, height=5, boats="A3 B2")
    rewards = play_out(env, 3)
    scores = env.episode.match.position.scores
    assert sum(scores) > 0
    for player, paid in enumerate(rewards.values()):
        others = [score for other, score in enumerate(scores) if other != player]
        assert sum(paid) == pytest.approx(scores[player] - sum(others) / 2)


def test_a_dead_player_ends_before_the_others() -> None:
    env = botdrome.env("bomberman", players=4)
    rewards = play_out(env, 5)
    assert len({len(paid) for paid in rewards.values()}) > 1
    result = env.episode.match.result
    assert result is not None
    for player, paid in enumerate(rewards.values()):
        assert paid[-1] == pytest.approx(place_rewards(result.places)[player]) and not any(
            paid[:-1]
        )


@pytest.mark.parametrize("game", CATALOGUE)
def test_the_record_replays(game: str) -> None:
    env = botdrome.env(game)
    play_out(env, 9)
    record, setup = restored(env.record())
    verify(record, setup)
    assert record.result == env.episode.match.result and record.setup.names == (
        "player_0",
        "player_1",
    )


@pytest.mark.parametrize("game", CATALOGUE)
def test_both_kinds_play_the_same_match(game: str) -> None:
    one, all_at_once = botdrome.env(game), botdrome.env(game, parallel=True)
    play_out(one, 9)
    observations, _ = all_at_once.reset(seed=9)
    while all_at_once.agents:
        actions = {
            agent: choose(*found.values())
            for agent, found in observations.items()
            if found["action_mask"].any()
        }
        observations, *_ = all_at_once.step(actions)
    assert all_at_once.record() == one.record()


def test_the_raw_view_is_what_a_bot_sees() -> None:
    env = botdrome.env("noughts-and-crosses", views=True)
    env.reset(seed=1)
    first = {"you": 0, "toMove": [0], "marks": ["X", "O"], "board": [["", "", ""]] * 3}
    assert env.infos["player_0"] == {"view": first} and env.view("player_1") == first | {"you": 1}


def test_seeds() -> None:
    env = botdrome.env("battlecube")

    def start(seed: int | None) -> Any:
        env.reset(seed=seed)
        return env.view("player_0")["players"]

    first, second = start(7), start(None)
    assert first != second and [start(7), start(None)] == [first, second]


@pytest.mark.parametrize("action", [-1, 9])
def test_a_number_that_is_no_action(action: int) -> None:
    env = botdrome.env("noughts-and-crosses")
    env.reset(seed=1)
    with pytest.raises(BadAction, match=f"from 0 to 8, not {action}"):
        env.step(action)


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        ("chess", {}, "there is no game 'chess'; there are noughts-and-crosses"),
        ("gomoku", {"colour": 1}, "gomoku has no option 'colour'"),
        ("gomoku", {"players": 3}, "gomoku is for 2 to 2 players, not 3"),
        ("gomoku", {"boards": 0}, "boards: 1 or more"),
        ("gomoku", {"rewards": "money"}, '"place" or "score"'),
        ("gomoku", {"opponents": ["house:threat"], "players": 2}, "without opponents"),
        ("gomoku", {"opponents": ["house:threat"], "player": 2}, "player: from 0 to 1, not 2"),
    ],
)
def test_wrong_arguments_are_named(game: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(botdrome.BadOption, match=words):
        botdrome.env(game, **options)
