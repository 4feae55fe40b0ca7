"""Every template of `botdrome new` is built, tested and plays, with the commands of its
own README.
"""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from tools import bubblewrap
from tools.toolchains import PROGRAMS
from typer.testing import CliRunner

from botdrome.catalogue import CATALOGUE
from botdrome.cli.app import app
from botdrome.cli.new import LANGUAGES

NEEDED = "NEED_TOOLCHAINS"
"""With this variable set, a missing compiler is a failure."""
TOOLS = {
    "python": (),
    "javascript": ("node", "npm"),
    "typescript": ("node", "npm"),
    "java": ("java", "javac"),
    "go": ("go",),
    "rust": ("cargo",),
    "cpp": ("g++",),
}
QUICK = ["python", "javascript"]
"""Languages that need nothing that other tests do not need. `make templates` runs the others."""
OTHERS = [pytest.param(one, marks=pytest.mark.toolchain) for one in LANGUAGES if one not in QUICK]
NODE_MODULES = Path(__file__).parents[2] / "web" / "node_modules"
"""The same versions of TypeScript and Node's types as in the template, so nothing has to be
fetched.
"""


JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java starts and ends so often here that its best compiler takes more time than it saves."""


def commands_of(readme: str) -> list[str]:
    return [
        line.partition("  #")[0].strip() for line in readme.splitlines() if line.startswith("    ")
    ]


def run(command: str, folder: Path) -> None:
    done = subprocess.run(
        command, check=False, shell=True, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def botdrome(*words: str) -> str:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, f"{words}\n{result.output}"
    return result.stdout


@pytest.mark.parametrize("language", [*QUICK, *OTHERS])
def test_a_project_of_each_game_builds_tests_and_plays(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The games share a folder, so that only the strategy is compiled anew."""
    absent = [tool for tool in TOOLS[language] if shutil.which(tool) is None]
    if absent:
        assert not os.environ.get(NEEDED), f"install {', '.join(PROGRAMS[tool] for tool in absent)}"
        pytest.skip(f"{', '.join(absent)} missing")
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", JAVA)
    if language == "typescript":
        (folder / "node_modules").symlink_to(NODE_MODULES)
    for game in CATALOGUE:
        botdrome("new", game, str(tmp_path / game), "--lang", language)
        shutil.copytree(tmp_path / game, folder, dirs_exist_ok=True)
        *preparing, play, _ = commands_of((folder / "README.md").read_text())
        for command in preparing:
            run(command.removeprefix("npm install && "), folder)
        assert beats_random(play) == (2, {}), game
    folder.chmod(0o755)
    assert beats_random(play, *(() if bubblewrap.problem() else ("--sandbox",))) == (2, {}), (
        "in the sandbox"
    )


def beats_random(play: str, *options: str) -> tuple[float, dict[str, int]]:
    """Return the points and faults of a bot after two matches."""
    _, *words = shlex.split(play)
    report = msgspec.json.decode(
        botdrome(*words, *options, "-n", "2", "--limit", "600000", "--json")
    )
    bot = next(row for row in report["standings"] if not row["bot"].startswith("house:"))
    return bot["points"], bot["faults"]


def test_the_versions_of_typescript_are_those_of_the_pages() -> None:
    template = Path(__file__).parents[2] / "src/botdrome/templates/typescript/package.json"
    wanted = msgspec.json.decode(template.read_bytes())["devDependencies"]
    pages = msgspec.json.decode((NODE_MODULES.parent / "package.json").read_bytes())[
        "devDependencies"
    ]
    assert wanted == {name: pages[name] for name in wanted}


def test_every_language_has_every_game() -> None:
    templates = Path(__file__).parents[2] / "src/botdrome/templates"
    for language, row in LANGUAGES.items():
        found = {
            file.stem.replace("_", "-")
            for file in (templates / language / "strategies").iterdir()
            if file.is_file()
        }
        assert found == set(CATALOGUE), language
        assert re.fullmatch(r"[\w/]+\.\w+", row.strategy)
        assert shlex.split(row.bot)
