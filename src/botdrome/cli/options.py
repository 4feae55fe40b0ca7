"""Options that several commands share, and the words that a shell completes."""

from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

if TYPE_CHECKING:
    from botdrome.offline.isolation import Isolation

InProcess = Annotated[
    bool,
    typer.Option(
        "--in-process", help="Run Python bots inside the runner: faster, without protection."
    ),
]
Sandbox = Annotated[
    bool,
    typer.Option(
        "--sandbox",
        help="Run bots with bubblewrap: no network, no files but their own, limited resources.",
    ),
]
Memory = Annotated[
    int | None,
    typer.Option(
        min=16, metavar="MB", help="Memory of a bot. \\[default: no limit; in a sandbox 1024]"
    ),
]


class IsolationFlags(Struct, frozen=True):
    """The options as they were given."""

    in_process: bool = False
    sandbox: bool = False
    memory: int | None = None

    def words(self) -> list[str]:
        """Return the options as they are written in a command."""
        memory = ["--memory", str(self.memory)] if self.memory else []
        return ["--in-process"] * self.in_process + ["--sandbox"] * self.sandbox + memory

    def isolation(self) -> "Isolation":
        """Raise CommandError if they contradict each other."""
        from msgspec.structs import replace

        from botdrome.cli.terminal import CommandError
        from botdrome.client.sandbox import SANDBOXED, UNLIMITED
        from botdrome.offline.isolation import Isolation

        if self.in_process and (self.sandbox or self.memory):
            raise CommandError(
                "--in-process cannot be combined with --sandbox and --memory, which need processes"
            )
        limits = SANDBOXED if self.sandbox else UNLIMITED
        return Isolation(
            self.in_process,
            self.sandbox,
            replace(limits, memory=self.memory) if self.memory else limits,
        )


def game_names(incomplete: str) -> list[str]:
    from botdrome.catalogue import CATALOGUE

    return [name for name in CATALOGUE if name.startswith(incomplete)]


Database = Annotated[
    str, typer.Option("--db", metavar="URL", envvar="BOTDROME_DB", help="As for `botdrome serve`.")
]
