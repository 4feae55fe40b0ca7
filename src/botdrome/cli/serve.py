"""`botdrome serve`: runs the server, and shows the start-up screen."""

import asyncio
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any

import structlog
import typer
from rich.text import Text
from typer import Option
from typer.core import TyperCommand

from botdrome.app import RunningServer, first_worker, serve
from botdrome.cli.logs import configure_logs
from botdrome.cli.terminal import REFUSED, Terminal, command, complain, say
from botdrome.client.sandbox import NOBODY
from botdrome.protocols import load_settings, protocol_sections
from botdrome.server.network.steady_loop import run
from botdrome.server.settings import (
    REMOVED,
    BadSetting,
    Setting,
    Settings,
    all_settings,
    sections_of,
)
from botdrome.store.entries import BadStoreUrl, StoreUnavailable
from botdrome.wire.battlebot.conversation import GAMES


class ServeCommand(TyperCommand):
    """Adds an option for each setting, which only `botdrome serve` needs to load."""

    def get_params(self, ctx: typer.Context) -> list[typer.CallbackParam]:  # type: ignore[override]
        return [*super().get_params(ctx), *setting_options()]

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        own = {parameter.name for parameter in self.params}
        ctx.obj = {name: ctx.params.pop(name) for name in ctx.params.keys() - own}
        return super().invoke(ctx)


@command(BadSetting, BadStoreUrl, StoreUnavailable, failed=REFUSED, name="serve", cls=ServeCommand)
def serve_command(
    ctx: typer.Context,
    config: Annotated[Path | None, Option(help="A TOML file with settings.")] = None,
    house: Annotated[
        bool | None,
        Option("--house", help="House bots play against bots that find no opponent."),
    ] = None,
    allow_bots: Annotated[
        list[str] | None,
        Option(
            metavar="CIDR|HOST",
            help="The server may call bots with a URL there; may be given several times.",
        ),
    ] = None,
    hosted: Annotated[
        bool, Option("--hosted", help="Run uploaded bots beside the server; needs hosting.uploads.")
    ] = False,
    setting: Annotated[
        list[str] | None,
        Option("--set", metavar="SECTION.KEY=VALUE", help="Any setting, as in the file."),
    ] = None,
    settings: Annotated[
        bool, Option("--settings", help="List all settings, each of which is an option.")
    ] = False,
) -> int:
    """Run the server: bots connect over WebSockets, TCP and HTTP, people use GraphQL, REST and the
    pages.

    Flags override the environment (BOTDROME_DUEL_PORT=...), and that overrides the file. Every
    setting is also an option: `botdrome serve --settings` lists them.
    SIGTERM stops the server when its matches have ended; a second one stops it at once.
    """
    if settings:
        return _list_settings()
    allowed = {"calls.allow": ",".join(allow_bots) if allow_bots else None}
    given = ctx.obj | {"house.fill": house} | allowed | _set(setting or [])
    notes: list[str] = []
    loaded = load_settings(given, os.environ, config, notes.append)
    configure_logs(loaded)
    for note in notes:
        log.warning(note)
    if hosted:
        return _serve_hosted(loaded)
    if loaded.workers > 1:
        from botdrome.cli.workers import run_workers

        return run_workers(loaded, given, config)
    worker = first_worker()
    run(serve(loaded, lambda server: show(server, Terminal(stderr=True)), worker=worker))
    return 0


def _serve_hosted(settings: Settings) -> int:
    if settings.hosting.uploads == "off" or settings.workers > 1:
        raise BadSetting(
            "--hosted needs hosting.uploads=invited or everybody, and one node; beside several, "
            "start `botdrome runner`"
        )
    runner, worker = RunnerBeside(), first_worker()

    def opened(server: RunningServer) -> None:
        show(server, Terminal(stderr=True))
        runner.start(server)

    try:
        run(serve(settings, opened, worker=worker))
    finally:
        runner.stop()
    return 0


STOPPING = 20.0
"""Seconds for the runner beside a server to give all bots back."""


class RunnerBeside:
    """The runner that `botdrome serve --hosted` starts. It ends with the server.

    If root runs the server, the runner is another user, who cannot read the server's files.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._folder: Path | None = None

    def start(self, server: RunningServer) -> None:
        self._starting = asyncio.ensure_future(self._start(server))

    async def _start(self, server: RunningServer) -> None:
        words = [sys.executable, "-m", "botdrome", "runner", "--beside"]
        words += ["--server", server.own_url, "--token", "-"]
        user: dict[str, Any] = {}
        if not os.geteuid():
            if closed := closed_folder(Path(sys.executable), Path(__file__)):
                complain(
                    f"the runner cannot start: beside a server of root it is the user {NOBODY}, "
                    f"which may not enter {closed}. Install Botdrome where all users can read it, "
                    "or start `botdrome runner` as another user"
                )
                return
            say(
                f"the runner is the user {NOBODY}: it reads what all users may read",
                "dim",
                error=True,
            )
            self._folder = Path(mkdtemp(prefix="botdrome-runner-"))
            os.chown(self._folder, NOBODY, NOBODY)
            words += ["--cache", str(self._folder)]
            user = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
        token = await server.arena.hosting.add_runner("beside the server")
        try:
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, start_new_session=True, env=_passed(), **user
            )
        except OSError as problem:
            complain(f"the runner cannot start: {problem}; start `botdrome runner` by itself")
            return
        assert self.process.stdin is not None
        self.process.stdin.write(token.encode())
        self.process.stdin.close()

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(STOPPING)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def closed_folder(*files: Path) -> Path | None:
    """Return the first folder on the way to these files that not every user may enter."""
    ways = (way for file in files for way in (file.absolute(), file.resolve()))
    folders = (folder for way in ways for folder in reversed(way.parents))
    return next((one for one in folders if not one.stat().st_mode & stat.S_IXOTH), None)


def _passed() -> dict[str, str]:
    """The variables of a runner. Others may have secrets of the server."""
    return {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}


def _list_settings() -> int:
    """Print each setting as an option, with its default and meaning, by section."""
    for name, section in sections_of(protocol_sections()).items():
        say(section.__doc__ or name, "bold")
        for one in all_settings(protocol_sections()):
            if one.section == name:
                say(f"  --{one.name.replace('_', '-')}{_default(one)}")
                say(f"      {one.meaning}", "dim")
    return 0


SHOWN = ("host", "port", "db", "workers", "log_level")
"""The settings that `--help` shows; `--settings` lists all."""
OLD_FLAGS = ("xbs_port", *(path.replace(".", "_") for path in REMOVED))
"""Flags of former names, and of settings that are gone: an error says what happens now."""


@cache
def setting_options() -> list[Any]:
    """Return an option of the command line for each setting."""

    def serve(**_: str | None) -> None:
        """Carries the options."""

    options = {one.name: _option(one) for one in all_settings(protocol_sections())}
    options |= {
        old: Annotated[str | None, Option(f"--{old.replace('_', '-')}", hidden=True)]
        for old in OLD_FLAGS
    }
    kind = Parameter.KEYWORD_ONLY
    serve.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, kind, default=None, annotation=option) for name, option in options.items()]
    )
    serve.__annotations__ = options
    carrier = typer.Typer(add_completion=False)
    carrier.command(add_help_option=False)(serve)
    return list(typer.main.get_command(carrier).params)


def _option(setting: Setting) -> Any:
    flag, hidden = f"--{setting.name.replace('_', '-')}", setting.name not in SHOWN
    meaning = (("" if hidden else setting.meaning) + _default(setting)).replace("[", "\\[")
    return Annotated[str | None, Option(flag, metavar="VALUE", help=meaning, hidden=hidden)]


def _default(setting: Setting) -> str:
    known = setting.default not in ("", (), None)
    return f" [default: {str(setting.default).lower()}]" if known else ""


log = structlog.get_logger()


def _set(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for key, sign, _ in pairs:
        if not sign:
            raise BadSetting(f"a setting is KEY=VALUE, not {key!r}")
    return {key: value for key, _, value in pairs}


def show_operator_token(server: RunningServer, console: Terminal) -> None:
    """Print the token if it was made at this start; it cannot be read later."""
    if server.new_operator_token:
        console.print(
            "\nThe operator's token, for the organiser pages. Keep it: it is shown only now.",
            soft_wrap=True,
        )
        console.print(Text(f"  {server.new_operator_token}", "cyan"), soft_wrap=True)


def show(server: RunningServer, console: Terminal) -> None:
    """Print what listens where, and how to begin."""
    console.print(Text("Botdrome is open.", style="bold green"))
    for what, where in _addresses(server):
        console.print(Text(f"  {what:24}").append(where, "cyan"), soft_wrap=True)
    show_operator_token(server, console)
    url, game = server.url, next(iter(GAMES))
    query = (
        f'mutation {{ registerBot(gameType: {game}, name: \\"MyBot\\", owner: \\"me\\") {{ '
        f"password }} }}"
    )
    console.print("\nRegister a bot, and keep the password in the answer:")
    command = (
        f"  curl {url}/graphql -H 'Content-Type: application/json' -d '{{\"query\": \"{query}\"}}'"
    )
    console.print(command, soft_wrap=True)
    end = (
        f"get {server.settings.drain:g} seconds to end" if server.settings.drain else "are aborted"
    )
    console.print(
        f"\nCtrl-C stops the server: running matches {end}. A second Ctrl-C stops it at once.",
        soft_wrap=True,
    )


def _addresses(server: RunningServer) -> Iterator[tuple[str, str]]:
    url = server.url
    yield "watch and play", f"{url}/ in a browser"
    yield "bots (WebSocket)", url.replace("http", "ws", 1)
    names = {row.port_name or row.name: (row.port_title, served) for row, served in server.served}
    for name, port in server.ports.items():
        if name != "http":
            title, served = names.get(name, (name, None))
            more = served.describe_port(name) if served else ""
            yield title, f"{server.host}:{port} ({more})" if more else f"{server.host}:{port}"
    yield "GraphQL and GraphiQL", f"{url}/graphql"
    yield "REST", f"{url}/api/v1/docs"
    yield from (
        (row.http_title, f"{url}{row.http_path}") for row, _ in server.served if row.http_title
    )
    yield "watch in the terminal", f"botdrome watch MATCH --server {url}"
    yield "for organisers", f"{url}/organise"
    yield "stored in", server.settings.store_shown
    if server.settings.nats:
        yield "NATS", server.settings.nats_shown
    filling = (
        "play against bots that find no opponent"
        if server.settings.house.fill
        else "on demand; --house: for all"
    )
    yield "house bots", filling
