"""What a hosted bot can and cannot do: it tries what docs/playing-offline.md lists, as an upload
that plays, and as one that is built.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.app import RunningServer
from botdrome.client import join
from botdrome.client.sandbox import SANDBOXED
from botdrome.kit.runner import Runner
from botdrome.offline import remote_player
from botdrome.offline.isolation import Isolation
from botdrome.store.entries import Wanted
from botdrome.wire.upload import RunnerMachine
from tests.kit.hosted import GAME, HOSTING, Author, play_against, running, sandboxes
from tests.offline import attacks, failing_bots
from tests.offline.test_sandbox import skip_without_sandbox
from tests.offline.test_sandbox_promises import ATTACKS, KILLED
from tests.patience import PATIENCE, PAUSE
from tests.server.clients import server, unhurried

pytestmark = pytest.mark.anyio
LOW = Isolation(sandbox=True, limits=replace(SANDBOXED, memory=200))
TRIES = Path(attacks.__file__).read_text()
SPIES = """
import glob
def bot(_):
    readable = glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline")
    print(json.dumps({
        "texts": [answer(lambda: open(path, errors="replace").read()) for path in readable],
        "files": [answer(lambda: os.stat(path) and path) for path in FILES],
        "signals": [answer(lambda: os.kill(pid, 0)) for pid in (CLIENT, -CLIENT)],
        "server": answer(lambda: socket.create_connection(("127.0.0.1", PORT), 5)),
    }))
"""
"""Looks for what the runner, the server and another bot have."""
DEADLY = KILLED | {
    "flood standard output": (failing_bots.FLOODS, "flood: more than 64 MiB of output"),
    "flood standard error": (failing_bots.FLOODS_STDERR, "flood: more than 64 MiB of output"),
}
CODES = {name: code for name, (code, _) in DEADLY.items()} | {
    "try": "def bot(_): print(everything())",
    "spy": SPIES,
}
"""What the bot does at the start of a match, by its number: the opponent has it in its name."""
BOT = f"""{TRIES}
{failing_bots.PLAY}
CODES = {list(CODES.values())!r}
class Bot:
    def begin(self, match):
        opponent = next(name for name in match["players"] if name != "ada")
        if opponent.startswith("attack"):
            scope = dict(globals(), FILES=PLACES, CLIENT=RUNNER, PORT=LISTENS)
            exec(CODES[int(opponent.removeprefix("attack"))], scope)
            scope["bot"](None)
    def move(self, view):
        return play(view)
del bot
"""


class Hosted:
    """A hosted bot that attacks, its runner and its server."""

    def __init__(self, house: RunningServer, ada: Author, runner: Runner) -> None:
        self.house, self.ada, self.runner = house, ada, runner

    async def attacks(self, name: str) -> tuple[Any, dict[str, Any]]:
        """Return the match in which the bot attacks so, and what its author reads about it."""
        opponent = f"attack{list(CODES).index(name)}"
        await play_against(self.house, opponent)
        ended = await self.house.arena.store.matches(Wanted(status="ended"))
        (match,) = [one for one in ended if opponent in one.players]
        async with asyncio.timeout(PATIENCE):
            while True:
                for log in (await self.ada.ask("GET", "upload-logs")).json()["logs"]:
                    if log["match"] == match.id:
                        return match, log
                await asyncio.sleep(PAUSE)


def answers_in(text: str) -> Any:
    return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def hosted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hosted]:
    skip_without_sandbox()
    folder = tmp_path_factory.mktemp("hosted")
    with pytest.MonkeyPatch.context() as patch, unhurried(GAME):
        patch.setattr(remote_player, "START", PATIENCE)
        patch.setattr(join, "MOST_FAULTS", len(CODES))  # it is not paused between two tests
        patch.setenv("SECRET", "do not tell")
        other = folder / "builds of one" / "other" / "bot.py"
        other.parent.mkdir(parents=True)
        other.write_text("# a secret opening")
        async with server(folder, **HOSTING) as house:
            places = [*map(str, (other, other.parent, folder / "test.db")), __file__, "/home"]
            names = {"PLACES": repr(places), "RUNNER": str(os.getpid()), "LISTENS": str(house.port)}
            code = BOT
            for name, value in names.items():
                code = code.replace(f"={name}", f"={value}")
            ada = await Author.of_new_bot(house)
            await ada.push(code)
            # Nothing is attacked in its check, so another runner says that it is accepted.
            checks = await house.arena.hosting.beat("checks", RunnerMachine(), [], 1, 0)
            await house.arena.hosting.report(checks.given[0].credential, True, "fine")
            async with running(house, folder, "one", LOW) as runner:
                await ada.until(runner="one")
                yield Hosted(house, ada, runner)
    assert sandboxes() == []


ANSWERS = {name: value for line in ATTACKS.values() for name, value in line.items()}
"""Of the tries, wherever they are made."""


async def test_a_hosted_bot_can_do_what_the_page_says_and_nothing_else(hosted: Hosted) -> None:
    match, told = await hosted.attacks("try")
    assert answers_in(told["log"]) == ANSWERS | {"own_files": [True, ["bot.py"]]}
    assert told["fault"] == "" and match.result.causes == ("complete", "complete")


async def test_a_hosted_bot_finds_nothing_of_its_runner_or_of_other_bots(hosted: Hosted) -> None:
    match, told = await hosted.attacks("spy")
    found = answers_in(told["log"])
    texts = "".join(found.pop("texts"))
    secrets = [work.lease.credential for work in hosted.runner._work.values()]
    assert secrets
    secrets += [hosted.runner._token, "SECRET"]
    assert texts and not [one for one in secrets if one in texts]
    assert found == {"files": ["ENOENT"] * 5, "signals": ["ESRCH"] * 2, "server": "ECONNREFUSED"}
    assert match.result.causes == ("complete", "complete")


@pytest.mark.parametrize("attack", DEADLY)
async def test_a_hosted_bot_that_takes_too_much_is_killed_and_loses(
    attack: str, hosted: Hosted
) -> None:
    match, told = await hosted.attacks(attack)
    assert DEADLY[attack][1] in told["fault"]
    assert dict(zip(match.players, match.result.places, strict=True))["ada"] == 2
    assert not match.void
    await play_against(hosted.house, f"after{list(CODES).index(attack)}")
    assert (await hosted.ada.until(paused=""))["runner"] == "one"


BUILT: dict[str, Any] = {
    "own_files": [True, ["attacks.py", "bot.py", "bot.toml"]],
    "writing": ["/tmp/bot/attacks.py"],
    "chmod": None,
    "temporary_folders": [160 << 20, 160 << 20],
    "processes": ["bwrap", "python", "python", "sh"],
    "signals": [["ESRCH"], 3],
    "limits_of_a_process": [512 << 20, 300, 0, 256, 2048, "ValueError"],
}
"""What a build may do beyond that: write to its own folder, which is larger and temporary."""


async def test_a_build_can_do_no_more_than_a_bot_elsewhere(hosted: Hosted) -> None:
    eve = await Author.of_new_bot(hosted.house, "eve")
    project = f'command = "bot.py"\nbuild = "{sys.executable} attacks.py; exit 1"\n'
    await eve.push(**{"bot.toml": project, "attacks.py": TRIES})
    report = (await eve.until(state="rejected"))["report"]
    assert answers_in(report) == ANSWERS | BUILT
