"""Make environments by the name of a game."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, overload

from botdrome.catalogue import CATALOGUE
from botdrome.encodings import encoding_of
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.rl.episode import Rewards, TrainingSetup, training_terms
from botdrome.rl.multi_agent import AecEnvironment, ParallelEnvironment
from botdrome.rl.opponents import Entrant, PolicyPool
from botdrome.rl.single import SingleEnvironment, VectorEnvironment
from botdrome.rl.spaces import RENDER_MODES, RenderMode


@overload
def env(
    game: str, *, opponents: Sequence[Entrant], player: int | None = 0, rewards: Rewards = "place",
    boards: int | None = None, views: bool = False, render_mode: RenderMode | None = None,
    **options: Any,
) -> SingleEnvironment: ...  # fmt: skip


@overload
def env(
    game: str, *, parallel: Literal[True], players: int | None = None, rewards: Rewards = "place",
    boards: int | None = None, views: bool = False, render_mode: RenderMode | None = None,
    **options: Any,
) -> ParallelEnvironment: ...  # fmt: skip


@overload
def env(
    game: str, *, parallel: Literal[False] = False, players: int | None = None,
    rewards: Rewards = "place", boards: int | None = None, views: bool = False,
    render_mode: RenderMode | None = None, **options: Any,
) -> AecEnvironment: ...  # fmt: skip


def env(
    game: str,
    *,
    opponents: Sequence[Entrant] | None = None,
    player: int | None = 0,
    parallel: bool = False,
    players: int | None = None,
    rewards: Rewards = "place",
    boards: int | None = None,
    views: bool = False,
    render_mode: RenderMode | None = None,
    **options: Any,
) -> AecEnvironment | ParallelEnvironment | SingleEnvironment:
    """Return an environment for training.

    Without opponents it is PettingZoo's: AEC, or parallel. With opponents it is Gymnasium's, for
    the player of that number (None: drawn for each episode). `boards` is the number of boards of a
    match, as on a server by default. `views` puts the raw view into the infos. `render_mode` says
    what `render()` returns: text, or pixels. All other arguments are options of the game.
    """
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise BadOption(f'render_mode: "ansi" or "rgb_array", not {render_mode!r}')
    if opponents is None:
        setup = training_setup(game, players, rewards, boards, views, options)
        return (
            ParallelEnvironment(setup, render_mode)
            if parallel
            else AecEnvironment(setup, render_mode)
        )
    if parallel or players is not None:
        raise BadOption(
            "parallel and players are for environments without opponents; each opponent has one "
            "seat"
        )
    setup = training_setup(game, len(opponents) + 1, rewards, boards, views, options)
    if player is not None and player not in range(setup.players):
        raise BadOption(f"player: from 0 to {setup.players - 1}, not {player}")
    return SingleEnvironment(setup, opponents, player, render_mode)


def training_setup(
    game: str,
    players: int | None,
    rewards: Rewards,
    boards: int | None,
    views: bool,
    options: dict[str, Any],
) -> TrainingSetup:
    if game not in CATALOGUE:
        raise BadOption(f"there is no game {game!r}; there are {', '.join(CATALOGUE)}")
    if rewards not in ("place", "score"):
        raise BadOption(f'rewards: "place" or "score", not {rewards!r}')
    if boards is not None and boards < 1:
        raise BadOption(f"boards: 1 or more, not {boards}")
    setup = with_options(CATALOGUE[game].game, options)
    count = max(2, setup.players.start) if players is None else players
    if count not in setup.players:
        raise BadOption(
            f"{game} is for {setup.players.start} to {setup.players.stop - 1} players, not {count}"
        )
    return TrainingSetup(
        setup, count, training_terms(game, boards), encoding_of(setup, count), rewards, views
    )


def vector_env(
    game: str, count: int, *, opponents: Sequence[Entrant], processes: int = 1, **options: Any
) -> VectorEnvironment:
    """Return that many environments for one player, stepped together.

    The other arguments are those of `env`.

    `processes` other processes step them in groups; 1: this process does. They pay off if the
    opponents think for long.
    """
    if not 1 <= processes <= count:
        raise BadOption(f"processes: from 1 to the {count} environments, not {processes}")
    if processes > 1 and any(isinstance(one, PolicyPool) for one in opponents):
        raise BadOption("a pool is shared within one process: leave processes at 1")
    return VectorEnvironment(partial(env, game, opponents=opponents, **options), count, processes)
