"""`botdrome new`: a project for a bot, from the templates of its language."""

import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct
from typer import Argument, Option

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.catalogue import CatalogueEntry
from botdrome.cli.options import Game
from botdrome.cli.terminal import CommandError, CommandFailed, command, game_called, offered, say
from botdrome.contest.document import toml_pairs
from botdrome.match.match import Match
from botdrome.offline.bot import PROJECT
from botdrome.offline.project import LONGEST_NAME


@command()
def new(
    game: Game,
    folder: Annotated[Path, Argument(help="The folder of the project; it must not exist yet.")],
    lang: Annotated[
        str, Option(help="python, javascript, typescript, java, go, rust or cpp.")
    ] = "python",
) -> None:
    """Create a bot: a project that plays at once, with its build and a test."""
    row = game_called(game)
    if lang not in LANGUAGES:
        raise CommandError(f"there is no template for {lang!r}; {offered(lang, LANGUAGES)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} exists already; name a new folder")
    try:
        _write(row, lang, LANGUAGES[lang], folder)
    except OSError as problem:
        raise CommandFailed(f"{folder}: {problem.strerror}") from None
    say(_next_steps(row.name, LANGUAGES[lang], folder))


TEMPLATES = Path(__file__).parents[1] / "templates"
STRATEGIES = "strategies"
POSITIONS, EVERY = 24, 3
"""The positions for the test of a project, and the number of a match's questions of which one is
taken.
"""
MOST_MOVES = 1000


class Language(Struct, frozen=True):
    title: str
    strategy: str
    """The file that chooses the moves."""
    bot: str
    """The command of `bot.toml`."""
    test: str
    """The command that tests the project."""
    build: str = ""


LANGUAGES = {
    "python": Language("Python", "bot.py", "bot.py", "python3 -m unittest"),
    "javascript": Language("JavaScript", "strategy.js", "view:node bot.js", "npm test"),
    "typescript": Language(
        "TypeScript",
        "strategy.ts",
        "view:node dist/bot.js",
        "npm test",
        "npm install && npm run build",
    ),
    "java": Language(
        "Java",
        "Strategy.java",
        "view:java -cp out Bot",
        "java -cp out TestBot",
        "javac -d out *.java",
    ),
    "go": Language("Go", "strategy.go", "view:./bot", "go test", "go build -o bot"),
    "rust": Language(
        "Rust", "src/strategy.rs", "view:target/release/bot", "cargo test", "cargo build --release"
    ),
    "cpp": Language("C++", "strategy.cpp", "view:./bot", "make test", "make"),
}


def _write(row: CatalogueEntry, language: str, chosen: Language, folder: Path) -> None:
    source = TEMPLATES / language
    strategy = source / STRATEGIES / (row.name.replace("-", "_") + Path(chosen.strategy).suffix)
    if not strategy.exists():
        raise CommandError(f"there is no template for {row.name} yet")
    shutil.copytree(
        source, folder, ignore=shutil.ignore_patterns(STRATEGIES, "__pycache__"), dirs_exist_ok=True
    )
    shutil.copyfile(strategy, folder / chosen.strategy)
    (folder / "positions.jsonl").write_bytes(
        msgspec.json.Encoder().encode_lines(list(islice(positions(row), POSITIONS)))
    )
    keys = {
        "name": folder.resolve().name[:LONGEST_NAME],
        "game": row.name,
        "language": language,
        "command": chosen.bot,
        "build": chosen.build or None,
    }
    (folder / PROJECT).write_text(
        "# How the bot is built and started, from this folder. `botdrome play` and the other\n"
        f"# commands read this file when the folder is named as a bot.\n{toml_pairs(keys)}"
    )
    (folder / "README.md").write_text(_readme(row.name, chosen))


def positions(row: CatalogueEntry) -> Iterator[dict[str, object]]:
    """Views of matches between random bots, each with the legal moves if there is a list of all."""
    seed = questions = 0
    while True:
        seed += 1
        match = Match(row.game, max(2, row.game.players[0]), row.terms, seed)
        bots = [
            seated(house_bots(row.name)["random"], seed + player) for player in range(match.players)
        ]
        match.start()
        while match.result is None:
            for player in tuple(match.awaited):
                questions += 1
                if questions % EVERY == 1:
                    yield _position(match, player)
                match.submit(
                    player, bots[player](house_view(match.position, match.seat_of(player))), 0
                )
            if match.deadline is not None and (match.terms.pace.beat or not match.awaited):
                match.wake(match.deadline)


def _position(match: Match, player: int) -> dict[str, object]:
    seat = match.seat_of(player)
    moves = (
        list(islice(match.position.moves(seat), MOST_MOVES))
        if match.position.lists_all_moves
        else []
    )
    return {"view": match.view(player)} | ({"moves": moves} if moves else {})


def _commands(game: str, language: Language) -> list[tuple[str, str]]:
    build = [(language.build, "build it")] if language.build else []
    return [
        *build,
        (language.test, "test it with the positions of positions.jsonl"),
        (f"botdrome play {game} . house:random", "play on this machine"),
        ("botdrome join . --server URL", "play on a server"),
    ]


def _readme(game: str, language: Language) -> str:
    commands = "\n".join(
        f"    {command}  # {purpose}" for command, purpose in _commands(game, language)
    )
    return (
        f"# A bot for {game} in {language.title}\n\n"
        f"`{language.strategy}` chooses the moves: change it.\n"
        f"`{PROJECT}` has the bot's name, and how it is built and started.\n"
        f"`botdrome games {game}` shows the options of the game, a view and a move.\n\n"
        f"{commands}\n"
    )


def _next_steps(game: str, language: Language, folder: Path) -> str:
    lines = [f"{folder} has a bot for {game} in {language.title}. Next:", "", f"    cd {folder}"]
    return "\n".join([*lines, *(f"    {command}" for command, _ in _commands(game, language)[:-1])])
