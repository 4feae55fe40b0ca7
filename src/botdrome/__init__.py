"""Botdrome: one arena for game-playing bots.

The names in `__all__` are the public Python API (docs/python-api.md); everything else is internal
and may change. They are imported when they are used, so that commands start fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from botdrome.version import __version__

if TYPE_CHECKING:
    from botdrome.client.program import CannotStart
    from botdrome.client.rest import ServerProblem
    from botdrome.games.game import BadOption, IllegalMove
    from botdrome.offline.bot import Bot
    from botdrome.offline.library import GameSetup, MatchResult, Position, game, play
    from botdrome.offline.remote_player import ServerClient, connect
    from botdrome.rl.make import env, vector_env
    from botdrome.rl.opponents import PolicyPool

__all__ = [
    "BadOption",
    "Bot",
    "CannotStart",
    "GameSetup",
    "IllegalMove",
    "MatchResult",
    "PolicyPool",
    "Position",
    "ServerClient",
    "ServerProblem",
    "__version__",
    "connect",
    "env",
    "game",
    "play",
    "vector_env",
]
_MODULES = {
    "BadOption": "games.game",
    "Bot": "offline.bot",
    "CannotStart": "client.program",
    "GameSetup": "offline.library",
    "IllegalMove": "games.game",
    "MatchResult": "offline.library",
    "PolicyPool": "rl.opponents",
    "Position": "offline.library",
    "ServerClient": "offline.remote_player",
    "ServerProblem": "client.rest",
    "connect": "offline.remote_player",
    "env": "rl.make",
    "game": "offline.library",
    "play": "offline.library",
    "vector_env": "rl.make",
}
_EXTRA = ("gymnasium", "numpy", "pettingzoo")
"""The packages of the extra `rl`."""


def _needs_extra(*_: Any, **__: Any) -> NoReturn:
    raise ImportError(f"training needs {', '.join(_EXTRA)}: pip install 'botdrome[rl]'")


if (
    not TYPE_CHECKING
):  # a type checker reads the imports above, and names that are not there are errors

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module 'botdrome' has no attribute {name!r}")
        try:
            return getattr(import_module(f"botdrome.{_MODULES[name]}"), name)
        except ModuleNotFoundError as error:
            if error.name not in _EXTRA:
                raise
            return _needs_extra


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
