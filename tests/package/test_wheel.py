"""The wheel: built from version control, installed in an empty environment, and read like a browser
would.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import httpx
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "BOTDROME"))
}


def run(*command: str | Path, folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=ELSEWHERE,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def clean_copy(target: Path) -> Path:
    """The files of a fresh clone, and those about to be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target


def fetched(clone: Path) -> Path:
    """What the build would fetch, in the versions of the lock files, is here already."""
    if (packages := ROOT / "web" / "node_modules").exists():
        (clone / "web" / "node_modules").symlink_to(packages)
    for static in (Path("src/botdrome/api/static/graphiql"), Path("src/botdrome/api/site")):
        if (ROOT / static).exists():
            shutil.copytree(ROOT / static, clone / static, dirs_exist_ok=True)
    return clone


def required(wheel: Distribution) -> list[Distribution]:
    """The distributions of this environment that a wheel names as its requirements, and theirs."""
    found: dict[tuple[str, str], Distribution] = {}
    left = [(wheel, "")]
    while left:
        one, extra = left.pop()
        for requirement in map(Requirement, one.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                for wanted in ("", *requirement.extras):
                    key = canonicalize_name(requirement.name), wanted
                    if key not in found:
                        found[key] = distribution(requirement.name)
                        left.append((found[key], wanted))
    return [one for (_, extra), one in found.items() if not extra]


def link(one: Distribution, packages: Path) -> None:
    """Make a distribution of this environment one of another environment."""
    for file in one.files or ():
        if ".." not in file.parts:
            (packages / file).parent.mkdir(parents=True, exist_ok=True)
            (packages / file).symlink_to(str(one.locate_file(file)))


def installed(folder: Path) -> Path:
    """The command of an environment with the wheel and its requirements, and nothing else."""
    clone = fetched(clean_copy(folder / "clone"))
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist")
    run(*build, folder=clone)
    (wheel,) = (folder / "dist").glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "env", folder=folder)
    pip = (sys.executable, "-m", "pip", "--python", folder / "env", "install", "--quiet")
    run(*pip, "--no-deps", "--no-index", "--no-compile", wheel, folder=folder)
    (packages,) = (folder / "env" / "lib").glob("python*/site-packages")
    (botdrome,) = distributions(name="botdrome", path=[str(packages)])
    for one in required(botdrome):
        link(one, packages)
    return folder / "env" / "bin" / "botdrome"


@contextmanager
def serving(command: Path, folder: Path) -> Iterator[str]:
    words: list[str | Path] = [
        command,
        "serve",
        "--port",
        "0",
        "--duel-port",
        "0",
        "--xbs-port",
        "0",
        "--db",
        f"sqlite:///{folder}/botdrome.db",
    ]
    with subprocess.Popen(
        words, cwd=folder, env=ELSEWHERE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            seen = ""
            while not (found := re.search(r"http://127\.0\.0\.1:\d+", seen)):
                line = process.stderr.readline()
                assert line, f"the server ended: {seen}"
                seen += line
            yield found[0]
        finally:
            process.terminate()


def check_pages(browser: httpx.Client) -> None:
    """The front page and all chunks of its script are there: users of the wheel need no node."""
    names = set(re.findall(r'/static/web/([\w.-]+)"', browser.get("/").text))
    assert {"app.js", "style.css"} <= names
    seen = set[str]()
    while names - seen:
        name = (names - seen).pop()
        answer = browser.get(f"/static/web/{name}")
        assert answer.status_code == 200, name
        seen.add(name)
        names |= {
            f"chunks/{chunk}" for chunk in re.findall(r"([\w.-]+-[A-Z0-9]{8}\.js)", answer.text)
        }
    assert len(seen) > 20


def test_an_installed_wheel_plays_and_has_all_files_of_its_pages(tmp_path: Path) -> None:
    botdrome = installed(tmp_path)
    run(
        botdrome,
        "play",
        "gomoku",
        "house:threat",
        "house:random",
        "-n",
        "2",
        "--save",
        "matches",
        folder=tmp_path,
    )
    assert len(list((tmp_path / "matches").glob("*.jsonl"))) == 2
    with (
        serving(botdrome, tmp_path) as url,
        httpx.Client(base_url=url, timeout=PATIENCE) as browser,
    ):
        page = browser.get("/graphql", headers={"accept": "text/html"})
        assert page.status_code == 200
        files = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert any("graphiql.min.js" in file for file in files)
        for file in files:
            answer = browser.get(str(page.url.join(file)))
            assert (answer.status_code, bool(answer.content)) == (200, True), file
        check_pages(browser)
        client = browser.get("/socket.io/socket.io.js")
        assert client.status_code == 200
        assert len(client.content) > 100_000
