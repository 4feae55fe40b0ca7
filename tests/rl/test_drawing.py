"""Pictures of all games, as text and as pixels."""

import re
from typing import Any

import numpy as np
import pytest

import botdrome
from botdrome.catalogue import CATALOGUE
from botdrome.rl.spaces import COLOURS, NIGHT, TILE
from tests.rl.playing import choose


def plain(picture: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;]*m", "", picture).split("\n")


def test_a_letter_for_each_plane() -> None:
    env = botdrome.env("noughts-and-crosses", render_mode="ansi")
    env.reset(seed=1)
    assert plain(env.render()) == [" C  C  C "] * 3 + ["", " C  free spaces", ""]
    env.step(4)
    env.step(0)
    assert plain(env.render()) == [
        " B  C  C ", " C  A  C ", " C  C  C ", "", " A  own marks", " B  marks of the opponent",
        " C  free spaces", "",
    ]  # fmt: skip


def test_a_tile_for_each_place() -> None:
    env = botdrome.env(
        "noughts-and-crosses",
        opponents=[lambda view: {"mark": "O", "space": [0, 0]}],
        render_mode="rgb_array",
    )
    env.reset(seed=1)
    env.step(8)
    pixels = env.render()
    assert pixels.shape == (3 * TILE, 3 * TILE, 3) and pixels.dtype == np.uint8
    middles = pixels[TILE // 2 :: TILE, TILE // 2 :: TILE].tolist()
    own, other, free = (list(colour) for colour in COLOURS[:3])
    assert middles == [[other, free, free], [free, free, free], [free, free, own]]
    assert pixels[0, 0].tolist() == list(NIGHT)


def test_boards_stand_side_by_side() -> None:
    env = botdrome.env(
        "battleship",
        opponents=["house:random"] * 2,
        render_mode="rgb_array",
        width=5,
        height=6,
        boats="A3",
    )
    env.reset(seed=1)
    assert env.render().shape == (6 * TILE, (3 * 5 + 2) * TILE, 3)


@pytest.mark.parametrize("game", CATALOGUE)
@pytest.mark.parametrize("options", [{}, {"parallel": True}, {"opponents": ["house:random"]}])
def test_every_game_is_drawn(game: str, options: dict[str, Any]) -> None:
    kinds = {}
    for mode in ("ansi", "rgb_array", None):
        env: Any = botdrome.env(game, render_mode=mode, **options)
        assert env.render_mode == mode and set(env.metadata["render_modes"]) == {
            "ansi",
            "rgb_array",
        }
        env.reset(seed=1)
        kinds[mode] = env.render()
        env.close()
    assert kinds[None] is None and kinds["ansi"].count("\n") > 3 and kinds["rgb_array"].ndim == 3


def test_the_end_is_drawn_too() -> None:
    env = botdrome.env("noughts-and-crosses", render_mode="ansi")
    env.reset(seed=1)
    for _ in env.agent_iter():
        seen, _, ended, _, _ = env.last()
        env.step(
            None if ended or seen is None else choose(seen["observation"], seen["action_mask"])
        )
    assert "own marks" in env.render()


def test_another_mode_is_refused() -> None:
    with pytest.raises(
        botdrome.BadOption, match='render_mode: "ansi" or "rgb_array", not \'human\''
    ):
        botdrome.env("gomoku", render_mode="human")  # type: ignore[call-overload]
