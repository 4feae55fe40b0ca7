"""A bot in Python: its interface, and how it is loaded and called.

The process of a bot imports this, so it imports little.
"""

import importlib
import importlib.util
import random
import sys
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import Runner

NAMES = ("bot", "Bot")
"""What a Python file must define, unless the entrant names something else."""
FILES = ("bot.py", "main.py")
"""The file with the bot of a folder."""
PROJECT = "bot.toml"
"""The file of a folder that says how its bot is started."""
NO_FILE = f"this is a directory without {' or '.join(FILES)}; name a file in it"
POLICY = "policy:"


class Bot:
    """The base class of a bot; inheriting from it is optional.

    Each match gets a new instance. Methods may be `async`.
    """

    def begin(self, match: dict[str, Any]) -> Any:
        """Called before the first move with the keys game, options, players (names), you (player
        number), seed and limit (ms).
        """

    def move(self, view: dict[str, Any]) -> Any:
        """Return the move for this position, as JSON data."""
        raise NotImplementedError(f"{type(self).__name__} has no method `move`")

    def end(self, result: dict[str, Any]) -> Any:
        """Called after the match with the keys places, scores, causes and you (player number)."""


class CannotLoad(Exception):
    """The file or the name of a bot is wrong; the text has the reason.

    Exceptions of the bot's own code are passed on.
    """


def load(entrant: str) -> Any:
    """Return what FILE.py[:NAME], FOLDER[:NAME] or MODULE:NAME names, or the bot that plays
    policy:FILE.py.
    """
    kind, place, name = parts_of(entrant)
    if kind == POLICY:
        return _policy_bot(_found(place, name, ("policy",), "no function `policy`"))
    return _found(place, name, NAMES, "no function `bot` and no class `Bot`")


def parts_of(entrant: str) -> tuple[str, str, str]:
    """Return the prefix of a policy, the file or module, and the name in it; the first and the last
    may be empty.
    """
    kind, place, name = _words_of(entrant)
    folder = folder_of(entrant)
    if folder and not (kind or name) and (folder / PROJECT).is_file():
        from botdrome.offline.project import bot_of  # the process of a bot never needs it

        return _words_of(bot_of(entrant))
    return (kind, str(folder / _file_in(folder)) if folder else place, name)


def folder_of(entrant: str) -> Path | None:
    """Return the folder that is named as a bot. A package of Python is none: it is a module."""
    folder = Path(_words_of(entrant)[1])
    is_bot = (folder / PROJECT).is_file() or (
        _file_in(folder) and not (folder / "__init__.py").exists()
    )
    return folder if is_bot and folder.is_dir() else None


def _words_of(entrant: str) -> tuple[str, str, str]:
    kind = POLICY if entrant.startswith(POLICY) else ""
    place, _, name = entrant.removeprefix(kind).rpartition(":")
    return (kind, place, name) if place else (kind, name, "")


def _file_in(folder: Path) -> str:
    return next((name for name in FILES if (folder / name).is_file()), "")


def _policy_bot(policy: Any) -> Any:
    try:
        from botdrome.encodings import policy_bot
    except ModuleNotFoundError as error:
        raise CannotLoad(f"a policy needs {error.name}: pip install 'botdrome[rl]'") from None
    return policy_bot(policy)


def _found(place: str, name: str, usual: tuple[str, ...], none: str) -> Any:
    module = _from_file(Path(place)) if place.endswith(".py") else _from_module(place)
    names = (name,) if name else usual
    for wanted in names:
        found = getattr(module, wanted, None)
        if found is not Bot and (callable(found) or callable(getattr(found, "move", None))):
            return found
    missing = f"no function {name!r}" if name else none
    raise CannotLoad(f"there is {missing} in {place}")


def _from_module(name: str) -> ModuleType:
    if Path(name).is_dir() and not Path(name, "__init__.py").exists():
        raise CannotLoad(NO_FILE)
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            usual = "a bot is FILE.py, FOLDER, MODULE:NAME, house:NAME or view:PROGRAM"
            raise CannotLoad(f"there is no module {error.name!r}; {usual}") from None
        raise


def _from_file(path: Path) -> ModuleType:
    if path.is_dir():
        raise CannotLoad(NO_FILE)
    try:
        path = path.resolve(strict=True)
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except OSError as error:
        raise CannotLoad(f"the file cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        place = path.name if error.lineno is None else f"line {error.lineno} of {path.name}"
        raise CannotLoad(f"{type(error).__name__}: {error.msg} ({place})") from None
    except ValueError as error:
        raise CannotLoad(f"this is no Python file: {error}") from None
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    sys.modules.setdefault(
        path.stem, module
    )  # dataclasses and pickle look here for the module of a class
    exec(code, module.__dict__)
    return module


def spelled(value: Any) -> Any:
    """Return a move with NaN and infinities as words, as refusals quote them: JSON has no such
    numbers.
    """
    if isinstance(value, dict):
        return {key: spelled(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [spelled(item) for item in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


class BotInstance:
    """A loaded bot in one match: a class is instantiated, and `async` methods run on an event loop
    of its own.
    """

    def __init__(self, loaded: Any) -> None:
        self._runner: Runner | None = None
        bot = loaded() if isinstance(loaded, type) else loaded
        self._bot = bot
        move = getattr(bot, "move", None)
        self._move = move if callable(move) else bot

    def begin(self, match: dict[str, Any]) -> None:
        """Python's `random` starts from the bot's seed, so that the same seed gives the
        same match.
        """
        random.seed(match["seed"])
        self._call_if_any("begin", match)

    def move(self, view: dict[str, Any]) -> Any:
        answer = self._move(view)
        return self._awaited(answer) if hasattr(answer, "__await__") else answer

    def end(self, result: dict[str, Any]) -> None:
        self._call_if_any("end", result)

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()

    def _call_if_any(self, name: str, value: dict[str, Any]) -> None:
        method = getattr(self._bot, name, None)
        if callable(method) and hasattr(answer := method(value), "__await__"):
            self._awaited(answer)

    def _awaited(self, answer: Any) -> Any:
        async def wait() -> Any:
            return await answer

        if self._runner is None:
            from asyncio import Runner  # takes longer to import than all the rest

            self._runner = Runner()
        return self._runner.run(wait())
