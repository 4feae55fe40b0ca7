"""A policy plays wherever a bot does."""

import subprocess
import sys
from pathlib import Path

import pytest

import botdrome
from botdrome.catalogue import CATALOGUE, restored
from tests.rl.playing import play_out

MODEL = """
from zlib import crc32
import numpy as np

def policy(observation, action_mask):
    legal = np.flatnonzero(action_mask)
    return legal[crc32(observation.tobytes()) % len(legal)]

class Last:
    def __call__(self, observation, action_mask):
        return np.flatnonzero(action_mask)[-1]

def beyond(observation, action_mask):
    return 1000
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "model.py").write_text(MODEL)
    return f"policy:{tmp_path / 'model.py'}"


@pytest.mark.usefixtures("answers_in_no_time")
@pytest.mark.parametrize("game", CATALOGUE)
def test_a_policy_plays_as_in_training(game: str, model: str) -> None:
    (result,) = botdrome.play([model, model], game, seed=6)
    assert result.causes == ("complete", "complete")
    env = botdrome.env(game)
    play_out(env, 6)
    moves = [
        [(line.by, line.say) for line in restored(data)[0].lines]
        for data in (result.record, env.record())
    ]
    assert moves[0] == moves[1]


def test_a_policy_may_be_a_class(model: str) -> None:
    (result,) = botdrome.play([f"{model}:Last", "house:random"], "noughts-and-crosses")
    record, _ = restored(result.record)
    assert record.lines[0].say == {"mark": "X", "space": [2, 2]}


def test_an_action_that_does_not_exist_is_a_crash_with_a_reason(model: str) -> None:
    (result,) = botdrome.play([f"{model}:beyond", "house:random"], "noughts-and-crosses")
    assert result.causes[0] == "crash"
    assert "the policy returned 1000; an action is from 0 to 8" in result.reasons[0]


def test_a_file_without_a_policy_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(botdrome.CannotStart, match="there is no function `policy`"):
        botdrome.play([f"policy:{tmp_path / 'empty.py'}", "house:random"], "noughts-and-crosses")


def test_a_policy_without_the_extra_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def policy(observation, action_mask): return 0")
    entrant = f"policy:{tmp_path / 'model.py'}"
    code = (
        "import sys; sys.modules['numpy'] = None; from botdrome.offline.bot import load; "
        f"load({entrant!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith("a policy needs numpy: pip install 'botdrome[rl]'")
