"""`botdrome join` and `botdrome bots` against a real server."""

import asyncio
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from botdrome.cli.join import bot_name
from botdrome.client.kept_tokens import KeptBot, changing_tokens, kept_bots
from botdrome.contest.document import document_from
from botdrome.offline.entrants import bot_version
from botdrome.store.entries import Wanted
from tests.cli.commands import run_beside
from tests.patience import until
from tests.server.clients import NOTICES, bot, deaf_port, registered, server, unhurried

pytestmark = pytest.mark.anyio
FIRST_FREE = """
def bot(view):
    print("thinking")
    for row in range(3):
        for column in range(3):
            if not view["board"][row][column]:
                return {"mark": view["marks"][view["you"]], "space": [row, column]}
"""
GAME = "noughts-and-crosses"
BOTDROME = [sys.executable, "-c", "from botdrome.cli.app import main; main()"]


@pytest.fixture(autouse=True)
def _no_hurry() -> Iterator[None]:
    """A process may take longer than 5 s for its first move."""
    with unhurried("noughts-and-crosses"):
        yield


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    Path("my_bot.py").write_text(FIRST_FREE)


async def started(*words: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(*BOTDROME, *words, stdout=pipe, stderr=pipe)


async def test_a_new_bot_is_registered_and_plays_again_with_the_kept_token(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        words = (
            "join",
            GAME,
            "my_bot.py",
            "--server",
            house.url,
            "--against",
            "house:random",
            "--games",
            "2",
        )
        result = await run_beside(*words)
        assert result.exit_code == 0, result.output
        *lines, summary = result.stdout.splitlines()
        assert len(lines) == 2
        assert all(
            re.fullmatch(r"[0-9a-f]{16}  house:random  (won|lost|drew) at step \d", line)
            for line in lines
        )
        assert summary.startswith("my_bot.py: 2 matches, ")
        assert "my_bot.py is registered on" in result.stderr
        assert "thinking\nthinking\n" in result.stderr, "what a bot prints is shown to its author"
        token = kept_bots()[house.url]["my_bot.py"].token
        again = await run_beside(*words, "--version", "1.2")
        assert again.exit_code == 0 and "is registered" not in again.stderr
        assert kept_bots()[house.url]["my_bot.py"].token == token
        matches = await house.arena.store.matches(Wanted(oldest_first=True))
        assert [match.versions[0] for match in matches] == [bot_version("my_bot.py")] * 2 + [
            "1.2"
        ] * 2


async def test_a_program_is_shown_its_headline_too(tmp_path: Path) -> None:
    Path("bad.py").write_text(
        "import sys\nprint(7)\nprint(7)\nprint(7, flush=True)\nsys.stdin.read()\n"
    )
    async with server(tmp_path) as house:
        result = await run_beside(
            "join",
            GAME,
            f"cmd:{sys.executable} bad.py",
            "--against",
            "house:perfect",
            "--games",
            "1",
            "--server",
            house.url,
        )
        assert result.exit_code == 0
        line, summary = result.stdout.splitlines()
        assert re.fullmatch(
            r"[0-9a-f]{16}  house:perfect  lost at step 0: .*, third illegal move", line
        )
        assert summary == "bad.py: 1 match, 1 lost"


async def test_a_bot_that_fails_is_shown_with_its_line(tmp_path: Path) -> None:
    Path("bad.py").write_text("def bot(view):\n    return view['nothing']\n")
    async with server(tmp_path) as house:
        words = ("join", GAME, "bad.py", "--server", house.url, "--against", "house:random")
        result = await run_beside(*words)
        assert result.exit_code == 1
        fault = "crash: KeyError: 'nothing' (line 2 of bad.py)"
        assert (
            result.stderr.count(f"bad.py failed: {fault}")
            == result.stderr.count("Traceback (most recent call last):")
            == 3
        )
        match, _, headline = result.stdout.splitlines()[0].split("  ")
        assert re.fullmatch(rf"lost at step [01]: resigned: {re.escape(fault)}", headline)
        token = kept_bots()[house.url]["bad.py"].token
        why = await run_beside("why", match, "--server", house.url, "--token", token)
        assert headline in why.stdout, "the server knows the reason"
        assert "botdrome: the bot failed in 3 matches in a row" in result.stderr
        assert result.stdout.splitlines()[-1] == "bad.py: 3 matches, 3 lost; the bot failed in 3"


async def test_a_contest_with_a_password(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        entry = {"kind": "password", "password": "sesame"}
        bots = [{"bot": "house:random"}]
        document = document_from(
            {
                "name": "cup",
                "game": "noughts-and-crosses",
                "games": 1,
                "entry": entry,
                "entrants": bots,
            }
        )
        house.desk.workers.start()
        await house.contests.create(document, "operator")
        await house.contests.act("cup", "open", "operator")
        words = ("join", GAME, "my_bot.py", "--server", house.url, "--contest", "cup")
        wrong = await run_beside(*words, "--contest-password", "barley")
        assert wrong.exit_code == 1 and "the contest 'cup' needs its password" in wrong.stderr
        playing = asyncio.create_task(run_beside(*words, "--contest-password", "sesame"))
        await until(lambda: len(house.contests.known("cup").entrants) >= 2)
        await house.contests.act("cup", "start", "operator")
        result = await playing
        assert result.exit_code == 0 and "the contest cup is over for my_bot.py" in result.stderr


async def test_two_commands_play_a_contest(tmp_path: Path) -> None:
    async with server(tmp_path, contest_games=1, contest_wait=0.0) as house:
        words = ("join", GAME, "my_bot.py", "--server", house.url, "--contest", "cup")
        processes = [await started(*words, "--name", name) for name in ("ada", "bob")]
        outputs = await asyncio.gather(*[process.communicate() for process in processes])
        assert [process.returncode for process in processes] == [0, 0]
        assert [len(output.splitlines()) for output, _ in outputs] == [3, 3]
        assert [b"the contest cup is over for" in errors for _, errors in outputs] == [True, True]
        assert set(kept_bots()[house.url]) == {"ada", "bob"}


async def test_a_server_that_has_forgotten_a_bot_gets_it_anew(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        with changing_tokens() as servers:
            servers[house.url] = {
                "my_bot.py": KeptBot("noughts-and-crosses", "of an earlier database")
            }
        words = ("--against", "house:random", "--games", "1", "--server", house.url)
        result = await run_beside("join", "my_bot.py", *words)
        assert result.exit_code == 0
        assert "my_bot.py is registered on" in result.stderr


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        (
            ("my_bot.py",),
            2,
            "my_bot.py is not registered here yet: name its game, as in `botdrome join GAME "
            "my_bot.py`; `botdrome games` lists them",
        ),
        (("chess", "my_bot.py"), 2, "there is no game 'chess'; there are "),
        ((GAME, "my_bot.py", "--server", "ftp://x"), 2, "ftp://x is not the address of a server"),
        ((GAME, "my_bot.py", "-o", "size"), 2, "an option is NAME=VALUE, not 'size'"),
        ((GAME, "my_bot.py", "--players", "3"), 2, "noughts-and-crosses is for 2 players, not 3"),
        (
            (GAME, "nothing.py"),
            1,
            "nothing.py: the file cannot be read: No such file or directory",
        ),
        (
            (GAME, "house:kasparov"),
            1,
            "house:kasparov: for noughts-and-crosses the house has random, blocker, perfect",
        ),
        (
            (GAME, "cmd:no-such-program"),
            1,
            "cmd:no-such-program: there is no program 'no-such-program'",
        ),
        (
            (GAME, "my_bot.py", "--token", "wrong"),
            1,
            "the server does not know my_bot.py with this token",
        ),
        (
            (GAME, "my_bot.py", "--name", "house:me"),
            1,
            "names that begin with house: are those of house bots",
        ),
        (("nothing.py",), 1, "nothing.py: the file cannot be read: No such file or directory"),
    ],
)
async def test_a_command_that_cannot_work_says_why(
    tmp_path: Path, words: tuple[str, ...], status: int, complaint: str
) -> None:
    async with server(tmp_path) as house:
        await registered(house, "taken")
        given = words if "--server" in words else (*words, "--server", house.url)
        result = await run_beside("join", *given)
        assert result.exit_code == status
        assert result.stderr.splitlines()[-1].startswith(f"botdrome: {complaint}")


@pytest.mark.parametrize(
    "command", [("join", GAME, "my_bot.py", "--name"), ("bots", "register", GAME)]
)
@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "taken",
            "the name taken is taken on URL; choose another one, for example: OPTION taken-3",
        ),
        (
            "t\u0430ken",
            "the name t\u0430ken is taken on URL: it looks like taken; choose another one, for "
            "example: OPTION taken-3",
        ),
    ],
)
async def test_a_name_that_is_taken_is_told_with_one_that_is_free(
    tmp_path: Path, command: tuple[str, ...], name: str, complaint: str
) -> None:
    async with server(tmp_path) as house:
        await registered(house, "taken")
        await registered(house, "taken-2")
        result = await run_beside(*command, name, "--server", house.url)
        option = " ".join(command) if "register" in command else command[-1]
        words = complaint.replace("URL", house.url).replace("OPTION", option)
        assert (result.exit_code, result.stderr) == (1, f"botdrome: {words}\n")


async def test_two_projects_play_under_the_names_of_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with server(tmp_path) as house:
        for folder in ("one", "two"):
            monkeypatch.chdir(tmp_path)
            await run_beside("new", "noughts-and-crosses", folder)
            monkeypatch.chdir(tmp_path / folder)
            monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / folder / "config"))
            result = await run_beside(
                "join",
                GAME,
                "bot.py",
                "--against",
                "house:random",
                "--games",
                "1",
                "--server",
                house.url,
            )
            assert result.stdout.splitlines()[-1].startswith(f"{folder}: 1 match, "), result.stderr


async def test_a_challenge_says_that_nobody_has_that_name(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        process = await started(
            "join", GAME, "my_bot.py", "--against", "nosuch", "--server", house.url
        )
        words = (
            f"no bot is registered as nosuch on {house.url}; the challenge waits until nosuch "
            "is there; Ctrl-C ends the wait\n"
        )
        await told(process, words.encode())
        await told(process, b"my_bot.py waits for nosuch")
        process.send_signal(signal.SIGINT)
        await process.communicate()
        assert process.returncode == 130


async def test_a_server_that_is_not_there_cannot_register_a_bot() -> None:
    with deaf_port() as port:
        for words in (["join", GAME, "my_bot.py"], ["bots", "register", GAME, "ada"]):
            result = await run_beside(*words, "--server", f"http://127.0.0.1:{port}")
            assert result.exit_code == 1
            assert (
                f"botdrome: http://127.0.0.1:{port}: connection refused: is the server running?\n"
                in result.stderr
            )


async def test_a_kept_bot_plays_one_game(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await run_beside("bots", "register", GAME, "ada", "--server", house.url)
        result = await run_beside(
            "join", "gomoku", "house:random", "--name", "ada", "--server", house.url
        )
        assert result.exit_code == 2
        assert (
            "ada is registered for noughts-and-crosses; choose another name for gomoku with --name"
            in result.stderr
        )


async def test_a_bot_is_registered_and_listed(tmp_path: Path) -> None:
    long = "a bot with a name of exactly sixty-four letters, which is a lot."
    assert len(long) == 64
    async with server(tmp_path) as house:
        nothing = await run_beside("bots", "list")
        assert (nothing.exit_code, nothing.stdout) == (0, "")
        result = await run_beside(
            "bots", "register", GAME, long, "--server", house.url, "--owner", "Ann"
        )
        assert result.exit_code == 0
        assert result.stdout.strip() == kept_bots()[house.url][long].token
        assert "Its token is kept in " in result.stderr
        own = await run_beside("bots", "list", width=80)
        assert own.stdout.splitlines()[-1] == f"{house.url}  noughts-and-crosses  {long}"
        await registered(house, "bob", "gomoku")
        listed = (
            await run_beside("bots", "list", "--server", house.url, width=80)
        ).stdout.splitlines()
        assert [line.split(maxsplit=2)[0] for line in listed] == [
            "game",
            "noughts-and-crosses",
            "gomoku",
        ]
        assert listed[1].endswith(f"*  {long}") and listed[2].endswith("   bob")
        again = await run_beside("bots", "register", GAME, long, "--server", house.url)
        assert (again.exit_code, again.stdout) == (1, "")
        bad = await run_beside("bots", "list", "chess")
        assert bad.exit_code == 2


async def told(process: asyncio.subprocess.Process, words: bytes) -> None:
    """Wait for words on standard error."""
    assert process.stderr is not None
    while words not in (line := await process.stderr.readline()):
        assert line, "it has ended"


async def test_ctrl_c_ends_a_wait_with_a_summary(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        process = await started("join", GAME, "my_bot.py", "--server", house.url)
        await told(process, b"my_bot.py waits for an opponent")
        process.send_signal(signal.SIGINT)
        output, errors = await process.communicate()
        assert (process.returncode, output, errors) == (130, b"my_bot.py: 0 matches\n", b"")


async def test_ctrl_c_lets_the_match_end_and_a_second_one_does_not(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        bob = await registered(house, "bob") | NOTICES
        for signals in (1, 2):
            process = await started("join", GAME, "my_bot.py", "--server", house.url)
            await told(process, b"waits for an opponent")
            async with bot(house, bob) as one:
                await one.receive()
                await (
                    one.receive()
                )  # its first move has come, so it has seen that the match has begun
                process.send_signal(signal.SIGINT)
                await told(process, b"stopping after this match")
                if signals == 2:
                    process.send_signal(signal.SIGINT)
                    await one.until_closed()
            output, _ = await process.communicate()
            assert process.returncode == 130
            summary = output.decode().splitlines()[-1]
            assert summary == (
                "my_bot.py: 1 match, 1 won" if signals == 1 else "my_bot.py: 0 matches"
            )


@pytest.mark.parametrize(
    ("entrant", "name"),
    [
        ("bots/my_bot.py", "my_bot.py"),
        ("bots/my_bot.py:other", "my_bot.py:other"),
        ("package.module:name", "package.module:name"),
        ("cmd:node --stack-size=1 bots/my_bot.js", "my_bot.js"),
        ("cmd:./engine", "engine"),
        ("view:node my_bot.js", "my_bot.js"),
        ("house:threat", "my threat"),
        ("bots/ada/bot.py", "ada"),
        ("bots/ada/main.py:other", "ada:other"),
        ("view:node ada/dist/bot.js", "ada"),
        ("view:ada/target/release/bot", "ada"),
        ("/bot.py", "bot.py"),
        ("policy:model.py", "policy:model.py"),
    ],
)
def test_a_bot_without_a_name_has_that_of_its_file_or_project(entrant: str, name: str) -> None:
    assert bot_name(entrant) == name
