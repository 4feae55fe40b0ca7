"""Build the pages from `web/` into the package, check their types, or run their tests.

    python -m tools.web [build | check | test]

The packages come from npm, as in `tools/graphiql.py`, with the versions of `web/package-lock.json`.
The build does nothing if the pages in the package were built from the same sources.
"""

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.graphiql import Failure, npm, run
from tools.socketio import alone, node

WEB = Path(__file__).parents[1] / "web"
TARGET = WEB.parent / "src" / "botdrome" / "api" / "static" / "web"
MODULES = WEB / "node_modules"
LOCK = "package-lock.json"
STAMP = "sources.sha256"


def main() -> int:
    action = {"build": build, "check": check, "test": test}.get(
        sys.argv[1] if sys.argv[1:] else "build"
    )
    if action is None:
        sys.stderr.write(f"Unknown action {sys.argv[1]!r}; use build, check or test.\n")
        return 2
    try:
        return action()
    except Failure as failure:
        sys.stderr.write(f"The pages could not be built: {failure}\n")
        return 1


def build() -> int:
    stamp, wanted = TARGET / STAMP, digest()
    if not stamp.exists() or stamp.read_text() != wanted:
        install_packages()
        run([node(), "build.mjs", str(TARGET)], WEB)
        stamp.write_text(wanted)
    return 0


def check() -> int:
    install_packages()
    return subprocess.run(
        [node(), MODULES / "typescript" / "bin" / "tsc", "-p", "."], cwd=WEB, check=False
    ).returncode


def test() -> int:
    install_packages()
    with TemporaryDirectory() as folder:
        run([node(), "build.mjs", "--tests", folder], WEB)
        tests = sorted(str(file) for file in Path(folder).glob("*.mjs"))
        return subprocess.run([node(), "--test", *tests], cwd=WEB, check=False).returncode


def install_packages() -> None:
    """Install the packages of the lock file. A second process waits for the first."""
    wanted, stamp = (WEB / LOCK).read_text(), MODULES / ".installed"
    with alone(WEB):
        if stamp.exists() and stamp.read_text() == wanted:
            return
        with TemporaryDirectory() as folder, npm(Path(folder)) as command:
            run(
                [*command, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                WEB,
            )
        stamp.write_text(wanted)


def digest() -> str:
    """Return the hash of all sources of the pages."""
    sources = hashlib.sha256()
    for file in sorted(_sources()):
        sources.update(
            f"{file.relative_to(WEB)}\0{file.stat().st_size}\0".encode() + file.read_bytes()
        )
    return sources.hexdigest()


def _sources() -> Iterator[Path]:
    yield from (WEB / name for name in ("build.mjs", "package.json", LOCK))
    yield from (file for file in (WEB / "src").rglob("*") if file.is_file())


if __name__ == "__main__":
    sys.exit(main())
