"""Matches that commands read: match files, position files, and matches on a server."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from botdrome.analysis.position_file import (
    BadPosition,
    PositionFile,
    is_position_file,
    read_position,
)
from botdrome.catalogue import restored
from botdrome.cli.options import LOCAL, OperatorToken, Server
from botdrome.cli.terminal import CommandError, OptionsOf
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.games.game import Game
from botdrome.match.events import Player
from botdrome.match.record import BadRecord, Record
from botdrome.offline.entrants import distinct_names


class MatchSource(Struct, frozen=True):
    """A recorded match."""

    name: str
    """The path or the id of the match."""
    record: Record
    game: Game[Any]
    position: PositionFile | None = None
    """The position file, if it is one."""

    @property
    def stem(self) -> str:
        return Path(self.name).name.removesuffix(".jsonl").removesuffix(".json")


def load_match(name: str, server: str = "") -> MatchSource:
    """Read a file, or a match on the server. Raise CommandError if there is none."""
    path = Path(name)
    try:
        data = (
            path.read_bytes()
            if path.is_file() or not server
            else server_at(server).match_file(name)
        )
        if is_position_file(data):
            file, game = read_position(data)
            return MatchSource(name, file.record, game, file)
        return MatchSource(name, *restored(data))
    except FileNotFoundError:
        hint = "" if server else "; with --server, a match on a server is named by its id"
        raise CommandError(f"there is no file {name!r}{hint}") from None
    except (BadRecord, BadPosition, OSError, ServerProblem) as problem:
        raise CommandError(f"{name}: {problem}") from None


def server_at(url: str) -> RestServer:
    try:
        return RestServer(url)
    except ValueError as problem:
        raise CommandError(problem) from None


def needed_token(token: str) -> str:
    if not token:
        raise CommandError("the operator's token is needed: --token, or BOTDROME_OPERATOR_TOKEN")
    return token


class OperatorServer(RestServer):
    """A server, and the token for it."""

    def __init__(self, server: str, token: str) -> None:
        super().__init__(server_at(server).url)
        self._token = token

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """Raise CommandError if there is no token."""
        return self.get(path, needed_token(self._token), body, method)

    def download(self, path: str) -> bytes:
        return self.file(path, needed_token(self._token))


def operator_server(server: Server = LOCAL, token: OperatorToken = "") -> OperatorServer:
    return OperatorServer(server, token)


OPERATOR: Any = OptionsOf(operator_server)


def match_files(folder: Path) -> list[Path]:
    """Return the match files of a folder. Raise CommandError if there are none."""
    if not folder.is_dir():
        raise CommandError(f"there is no folder {str(folder)!r}")
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise CommandError(f"there are no match files (*.jsonl) in {folder}")
    return files


def player_called(names: Sequence[str], wanted: str) -> Player:
    """Return a player by number or name. Raise CommandError if there is none."""
    if wanted in names:
        return names.index(wanted)
    if wanted.isdecimal() and int(wanted) < len(names):
        return int(wanted)
    raise CommandError(f"there is no player {wanted!r}; {players_text(names)}")


def player_of(names: Sequence[str], entrant: str, wanted: str) -> Player:
    """Return the wanted player, or the one that has the name of the bot."""
    if wanted:
        return player_called(names, wanted)
    (own,) = distinct_names([entrant])
    if own not in names:
        raise CommandError(
            f"--player is missing: no player is called {own!r}; {players_text(names)}"
        )
    return names.index(own)


def players_text(names: Sequence[str]) -> str:
    return "the players are " + ", ".join(f"{number} {name}" for number, name in enumerate(names))


def losers(record: Record) -> Iterator[Player]:
    """Yield the players that did not come first."""
    if record.result is not None and not record.result.aborted:
        yield from (player for player, place in enumerate(record.result.places) if place > 1)
