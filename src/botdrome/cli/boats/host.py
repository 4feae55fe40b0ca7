"""`botdrome boats host`, a console for a room of boat games, and `stats`, their statistics."""

import asyncio
import json
import os
import re
import secrets
import sys
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, TextIO

from typer import Argument, Option
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from botdrome.app import RunningServer, open_server
from botdrome.cli.admin import opened_store, store_url
from botdrome.cli.boats.command import LogLevel
from botdrome.cli.logs import configure_logs, level_called
from botdrome.cli.options import Database, Json
from botdrome.cli.serve import show_operator_token
from botdrome.cli.terminal import (
    REFUSED,
    CommandFailed,
    Terminal,
    command,
    complain,
    print_columns,
    print_json,
    say,
)
from botdrome.client.rest import connection_problem, socket_url
from botdrome.client.terminal_text import shown
from botdrome.games.reading import plural
from botdrome.protocols import load_settings, protocol_sections
from botdrome.server.network.listening import stop_signal
from botdrome.server.network.steady_loop import run
from botdrome.server.rooms.boat_settings import (
    BadRoomSettings,
    BoatsSection,
    original_settings,
    room_settings,
)
from botdrome.server.rooms.boat_statistics import BoatStatistics, titles, write_files, written
from botdrome.server.settings import BadSetting, Settings
from botdrome.store.entries import BadStoreUrl, StoreUnavailable
from botdrome.wire.boats.lines import BLANKS, text_of


@command(BadRoomSettings, BadSetting, StoreUnavailable, failed=REFUSED)
def host(
    server: Annotated[
        str | None, Option(help="The URL of a running server. \\[default: start a new one]")
    ] = None,
    token: Annotated[
        str,
        Option(
            envvar=["BOTDROME_BOATS_HOST_TOKEN", "BOTDROME_HOST_TOKEN"],
            help="The `boats.host_token` of that server.",
        ),
    ] = "",
    room: Annotated[
        str, Option(help="The title of a room on that server. \\[default: its first room]")
    ] = "",
    title: Annotated[str | None, Option("-t", "--title", help="The title of the game.")] = None,
    auto_start: Annotated[
        bool | None,
        Option("-a", "--auto-start", help="Start the game when the table is full."),
    ] = None,
    repeat: Annotated[
        bool | None, Option("-r", "--repeat", help="Start a new game after each game.")
    ] = None,
    least: Annotated[
        int | None, Option("--min", help="The minimum number of players. \\[default: 2]")
    ] = None,
    most: Annotated[
        int | None, Option("--max", help="The maximum number of players. \\[default: 9]")
    ] = None,
    width: Annotated[int | None, Option(help="Columns of the boards. \\[default: 10]")] = None,
    height: Annotated[int | None, Option(help="Rows of the boards. \\[default: 10]")] = None,
    config: Annotated[
        Path | None,
        Option("-c", "--config", help="A configuration file of Xterm Boat Sinker."),
    ] = None,
    db_dir: Annotated[
        Path,
        Option(
            "-d",
            "--db-dir",
            envvar="BOTDROME_BOATS_DIR",
            help="A folder for the statistics as ini files.",
        ),
    ] = Path("db"),
    bind_address: Annotated[
        str, Option("-b", "--bind-address", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, Option("-p", "--port", help="The port for players; -1: any free port.")
    ] = 7948,
    http_port: Annotated[int, Option(help="The HTTP port, for spectators; 0: any free port.")] = 0,
    tables: Annotated[
        int | None,
        Option(min=0, help="Games at once with --repeat; 0: any number. \\[default: 0]"),
    ] = None,
    turn_limit: Annotated[
        float | None, Option(min=0, help="Seconds for a turn; 0: no limit. \\[default: 60]")
    ] = None,
    db: Annotated[
        str | None, Option("--db", metavar="URL", help="As for `botdrome serve`.")
    ] = None,
    log_level: LogLevel = None,
    log_file: Annotated[
        Path | None,
        Option("-f", "--log-file", help="Append logs to this file. \\[default: standard error]"),
    ] = None,
) -> int:
    """Host boat games: start and abort games, send messages, boot and skip players.

    Type `help` for the commands.
    """
    level = log_level and level_called(log_level)
    if server is not None:
        return asyncio.run(HostClient(server, token, room).sit())
    rules = {"title": title, "min": least, "max": most, "width": width, "height": height}
    manner = {"auto_start": auto_start, "repeat": repeat}
    limits = {"tables": tables, "turn_limit": turn_limit}
    ports = {"host": bind_address, "port": http_port, "boats.port": port}
    files = {"db": db, "boats.dir": str(db_dir), "log.level": level}
    settings = own_settings(rules | manner | limits, config, ports | files)
    with nullcontext() if log_file is None else log_file.open("a") as log:
        return run(_own_server(settings, log))


@command(BadStoreUrl, StoreUnavailable)
async def stats(
    name: Annotated[
        str | None, Argument(help="Show only the games of this title, in full.")
    ] = None,
    player: Annotated[bool, Option("--player", help="NAME is the name of a player.")] = False,
    as_json: Json = False,
    db_dir: Annotated[
        Path | None,
        Option("-d", "--db-dir", help="Also write the original's ini files here."),
    ] = None,
    db: Database = "",
) -> None:
    """Show the statistics of boat games, with the keys of the original."""
    statistics = await _read_statistics(store_url(db, existing=True))
    pages = statistics_pages(statistics)
    if db_dir is not None:
        write_files(db_dir, pages)
    if name is not None:
        show_page("player" if player else "game", name, pages, as_json)
    elif as_json:
        kinds: dict[str, dict[str, Any]] = {"game": {}, "player": {}}
        for (kind, one), lines in pages.items():
            kinds[kind][one] = lines
        print_json(kinds)
    else:
        show_all(statistics)


HELP = """\
  start                      the game of those who have joined
  message [#GAME] TEXT       to all players
  tell [#GAME] PLAYER TEXT   to one
  boot [#GAME] PLAYER        close its connection; it may come back
  blacklist player NAME      boot it, and do not let it in again
  blacklist address ADDRESS  the same for all who come from there
  clear                      empty the blacklist
  skip [#GAME] REASON        the current player's turn
  abort [#GAME]              the game that runs
  quit                       abort all games and close the room
  show                       the room
  leave                      end this console, and nothing else
PLAYER is a name, the beginning of one, or a number; "in quotes" if it has blanks.
#GAME is the number of a game, like #2, and needed where there are several; `show` lists them.
The original's keys s m b p a c k r q do as well."""

KEYS = {
    "s": "start", "m": "message", "b": "boot", "p": "blacklist player", "a": "blacklist address",
    "c": "clear", "k": "skip", "q": "quit", "r": "show",
}  # fmt: skip
WORDS = {
    "start": "", "message": "text", "tell": "text", "boot": "player", "blacklist player": "player",
    "blacklist address": "address", "clear": "", "skip": "reason", "abort": "", "quit": "",
    "show": "", "leave": "", "help": "",
}  # fmt: skip
"""The commands, and the key of what follows each of them."""
IN_A_GAME = ("message", "tell", "boot", "skip", "abort")
"""Commands that can name a game."""


class BadCommand(Exception):
    """An unknown or incomplete command; the text has the reason."""


def order_in(typed: str) -> dict[str, Any]:
    """Read a typed line. Raise BadCommand if it is none."""
    word, rest = _command(typed.strip(BLANKS))
    order: dict[str, Any] = {"do": word}
    if word in IN_A_GAME and (number := re.match(r"#(\d{1,9})(?:\s+|$)", rest)):
        order["game"], rest = int(number[1]), rest[number.end() :]
    key = WORDS[word]
    if word == "tell":
        order["do"] = "message"
        order["to"], rest = _quoted(rest)
    elif key == "player" and rest.startswith('"'):
        rest, _ = _quoted(rest)
    return order | {key: rest} if key else order


def _command(typed: str) -> tuple[str, str]:
    for word in WORDS:
        if typed == word or typed.startswith(word + " "):
            return word, typed[len(word) :].strip(BLANKS)
    first, _, rest = typed.partition(" ")
    if first.lower() in KEYS:
        return KEYS[first.lower()], rest.strip(BLANKS)
    if first == "blacklist":
        raise BadCommand("it is `blacklist player NAME` or `blacklist address ADDRESS`")
    raise BadCommand(f"{first!r} is no command; `help` lists them")


def _quoted(text: str) -> tuple[str, str]:
    found = re.match(r'"([^"]*)"\s*(.*)|(\S+)\s*(.*)', text)
    if found is None:
        raise BadCommand("who?")
    return (found[1], found[2]) if found[3] is None else (found[3], found[4])


# Output.


def headline(room: dict[str, Any]) -> str:
    """Summarise the players and games in a line that does not change with every shot."""
    gathering = room["gathering"]
    waiting = (
        "nobody can join"
        if gathering is None
        else f"{len(gathering)} of {room['max']} joined: {_names(gathering)}"
    )
    running = [
        f"game {game['number']}: {', '.join(map(_with_status, game['players']))}"
        for game in room["games"]
    ]
    return "; ".join([waiting.removesuffix(": "), *running])


def _names(players: list[dict[str, Any]]) -> str:
    return ", ".join(player["name"] for player in players)


def _with_status(player: dict[str, Any]) -> str:
    return f"{player['name']} ({player['status']})" if player["status"] else str(player["name"])


def print_room(room: dict[str, Any]) -> None:
    """Print the room in full."""
    size = f"{room['width']} by {room['height']}"
    players = f"{room['min']} to {room['max']} players, boards of {size}, goal {room['goal']}"
    say(shown(f"{room['title']}: {players}"), "bold")
    say(f"boats: {' '.join(room['boats'])}")
    if room["gathering"]:
        waiting = [("", "address", f"game {room['gathers']}, not started")]
        for number, player in enumerate(room["gathering"], 1):
            waiting.append((str(number), player["address"], player["name"]))
        print_columns(waiting)
    for game in room["games"]:
        headings = "", "", "score", "skips", "turns", "hits taken", f"game {game['number']}"
        rows: list[tuple[str, ...]] = [headings]
        for number, row in enumerate(game["players"], 1):
            counts = [str(row[key]) for key in ("score", "skips", "turns")]
            hits = f"{row['hits']} of {game['squares']}"
            turn = "*" if row["toMove"] else ""
            rows.append((str(number), turn, *counts, hits, _with_status(row)))
        print_columns(rows)
    banned = room["blacklist"]["players"] + room["blacklist"]["addresses"]
    if banned:
        say(shown(f"blacklist: {', '.join(banned)}"))


def own_settings(values: dict[str, Any], config: Path | None, flags: dict[str, Any]) -> Settings:
    """Combine a configuration file of the original with the options."""
    given = {key: value for key, value in values.items() if value is not None}
    usual = {"title": "Botdrome", "max": 9, "auto_start": False, "repeat": False}
    plan = room_settings(usual | (_read(config) if config else {}) | given)
    own = {"boats.host_token": secrets.token_hex(16), "boats.rooms": (plan,)}
    settings = load_settings(
        {f"{name}.port": 0 for name in protocol_sections()} | flags | own, os.environ
    )
    if not settings.of(BoatsSection).port:
        raise BadSetting("port: a game needs one")
    return settings


def _read(file: Path) -> dict[str, Any]:
    try:
        return original_settings(text_of(file.read_bytes()))
    except (OSError, BadRoomSettings) as problem:
        raise BadRoomSettings(f"{file}: {problem}") from None


async def _own_server(settings: Settings, log: TextIO | None) -> int:
    configure_logs(settings, log)
    async with stop_signal() as wanted:
        server = await open_server(settings)
        try:
            _say_where(server)
            token = settings.of(BoatsSection).host_token
            url = server.url.replace("0.0.0.0", "127.0.0.1")
            bridge = HostClient(url, token, "", stays=True)
            sitting = asyncio.ensure_future(bridge.sit())
            stopping = asyncio.ensure_future(wanted.wait())
            await asyncio.wait([sitting, stopping], return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            return sitting.result() if sitting.done() else 0
        finally:
            await server.close()


def _say_where(server: RunningServer) -> None:
    where = f"{server.settings.host}:{server.ports['xbs']}"
    show_operator_token(server, Terminal())
    say(f"players join at {where}, spectators at {server.url}; `help` lists what can be done here")


class HostClient:
    """Sends typed commands to the server, and prints its answers."""

    def __init__(self, server: str, token: str, room: str, stays: bool = False) -> None:
        self._url, self._stays = socket_url(server, "/boats/host"), stays
        self._hello = {"token": token, "room": room}
        self._room: dict[str, Any] = {}
        self._headline = ""
        self._status = 0

    async def sit(self) -> int:
        try:
            async with connect(self._url, max_size=None) as socket:
                await socket.send(json.dumps(self._hello))
                typing = asyncio.ensure_future(self._type(socket))
                try:
                    await self._listen(socket)
                finally:
                    typing.cancel()
        except ConnectionClosed:
            pass
        except (OSError, InvalidHandshake, TimeoutError) as problem:
            complain(f"{self._url}: {connection_problem(problem)}")
            return 1
        return self._status

    async def _listen(self, socket: ClientConnection) -> None:
        async for text in socket:
            message = json.loads(text)
            if "error" in message:
                say(shown(message["error"]), "red")
                self._status = 0 if self._room else 1
            elif "done" in message:
                say(shown(message["done"]), "green")
            elif "room" in message:
                self._see(message["room"], message.get("asked", False))
                if message["room"]["over"]:
                    await socket.close()

    def _see(self, room: dict[str, Any], asked: bool) -> None:
        self._room = room
        if asked:
            print_room(room)
        line = headline(room)
        if line != self._headline:
            self._headline = line
            say(shown(line))

    async def _type(self, socket: ClientConnection) -> None:
        """Read commands until the input ends. A new server then keeps running."""
        typed = _typed_lines()
        while (line := await typed.get()) is not None:
            if not line.strip():
                continue
            try:
                order = order_in(line)
            except BadCommand as problem:
                say(problem, "red")
                continue
            if order["do"] == "leave" and not self._stays:
                break
            if order["do"] != "quit" or await self._is_sure(typed):
                await self._act(order, socket)
        if not self._stays:
            await asyncio.sleep(0)
            await socket.close()

    async def _is_sure(self, typed: "asyncio.Queue[str | None]") -> bool:
        """Ask for confirmation, as the original does, if the input is a terminal."""
        if not sys.stdin.isatty():
            return True
        say("abort all games and close the room? [y/N]")
        answer = await typed.get() or ""
        return answer.strip().lower() in ("y", "yes")

    async def _act(self, order: dict[str, Any], socket: ClientConnection) -> None:
        match order["do"]:
            case "help":
                say(HELP)
            case "leave":
                say("this console is the server's own: `quit` ends both", "red")
            case _:
                await socket.send(json.dumps(order))


def _typed_lines() -> "asyncio.Queue[str | None]":
    """Queue the lines of standard input, then None.

    A daemon thread reads them, so that it cannot delay the exit.
    """
    queue: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def put(line: str | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        for line in sys.stdin:
            put(line)
        put(None)

    threading.Thread(target=read, daemon=True).start()
    return queue


async def _read_statistics(url: str) -> BoatStatistics:
    async with opened_store(url) as store:
        statistics = BoatStatistics(store, None)
        await statistics.read()
        return statistics


Pages = dict[tuple[str, str], Mapping[str, Any]]
"""The statistics of games and players: kind, and title or name."""


def statistics_pages(statistics: BoatStatistics) -> Pages:
    games = [("game", title) for title in titles(statistics.games)]
    players = [("player", name) for name in sorted(statistics.players)]
    return {page: statistics.lines(*page) for page in games + players}


def show_page(kind: str, name: str, pages: Pages, as_json: bool) -> None:
    if (kind, name) not in pages:
        of = "the player" if kind == "player" else "games titled"
        raise CommandFailed(f"there are no statistics of {of} {name!r}")
    lines = pages[kind, name]
    if as_json:
        print_json(lines)
    else:
        say(written(lines).removesuffix("\n"))


def show_all(statistics: BoatStatistics) -> None:
    if not statistics.games:
        say("no boat game was played yet")
    for title in titles(statistics.games):
        page = statistics.games[title]
        games = page.get("gameCount", 0)
        aborted = page.get("total.aborted", 0)
        say(shown(f"{title}: {plural(games, 'game')}, {aborted} aborted"), "bold")
        rows = [("first places", "hits a game", "turns a game", "skips", "player")]
        for name, line in sorted(statistics.games.items()):
            of, sign, player = name.partition("|")
            if sign and of == title:
                played = line.get("total.games") or max(1, games)
                first, skips = (str(line.get(f"total.{key}", 0)) for key in ("firstPlace", "skips"))
                hits, turns = (
                    f"{line.get(f'total.{key}', 0) / played:.2f}" for key in ("score", "turns")
                )
                rows.append((first, hits, turns, skips, player))
        print_columns(rows)
