"""Builds of uploaded bots: an archive becomes the folder of a bot that can be started.

The archive is unpacked and built in the sandbox, in a temporary folder of limited size, because a
compiler runs code of the upload, too. The files after the build come out as text on standard
output. Only plain files are taken from it, so nothing in the sandbox writes to this machine.
"""

import os
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from errno import EDQUOT, EIO, ENOSPC, EROFS
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter
from typing import Annotated

import msgspec

from botdrome.client.program import CannotStart, Program
from botdrome.client.sandbox import BotFiles, Limits
from botdrome.offline.bot import PROJECT
from botdrome.offline.isolation import OWN_VARIABLES, PYTHON
from botdrome.offline.project import project_at
from botdrome.wire.upload import BadUpload, PackedFile, UploadLimits, check_path, unpacked

BUILDING = Limits(memory=2048, processes=128, cpu=300, cores=1, disk=512)
SECONDS = 180.0
"""For unpacking and building."""
LOOK = 0.5
"""Seconds between two looks whether a build should stop."""
LARGEST_BUILD = 64 << 20
"""Bytes of the files after a build."""
MOST_BUILT = 5000
"""Files after a build."""
PIECE = 48 << 10
"""Bytes of a line, before base64."""
KEPT_OUTPUT = 4000
"""Characters of a failed build's output."""
IN_SANDBOX = Path("/tmp/bot")
UNFINISHED = "building-"
"""The name of a folder in which a build is under way begins so; then comes the process."""
OF_MACHINE = (ENOSPC, EDQUOT, EIO, EROFS)
"""Errors that no upload causes."""
REFUSED = 1
"""The status of the part in the sandbox that has said what is wrong."""
PROGRAMS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin"
"""The PATH of a build. Other folders do not exist in the sandbox."""

_files = msgspec.msgpack.Decoder(
    Annotated[dict[str, PackedFile], msgspec.Meta(max_length=MOST_BUILT)]
)


class BuildFailed(Exception):
    """An upload cannot be built. The text is for its author."""


def build(
    archive: bytes, limits: UploadLimits, target: Path,
    stopped: Callable[[], bool] = lambda: False,
) -> None:  # fmt: skip
    """Make the folder `target` from an archive. Raise BuildFailed, also when it is stopped;
    CannotStart if there is no sandbox; or OSError if this machine is to blame.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(mkdtemp(dir=target.parent, prefix=f"{UNFINISHED}{os.getpid()}-"))
    try:
        upload = folder / "upload.zip"
        upload.write_bytes(archive)
        files = _built(upload, limits, stopped)
        upload.unlink()
        _write(files, folder)
        folder.chmod(0o755)
        if target.exists():  # built by another task meanwhile
            return
        folder.rename(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _built(
    upload: Path, limits: UploadLimits, stopped: Callable[[], bool]
) -> dict[str, PackedFile]:
    words = [str(upload), *map(str, (limits.packed, limits.unpacked, limits.files))]
    program = Program(
        [sys.executable, "-P", "-m", "botdrome.offline.build", *words],
        BUILDING,
        OWN_VARIABLES | {"PATH": PROGRAMS},
        BotFiles(PYTHON, (upload,)),
    )
    try:
        data = b"".join(_output(program, stopped))
        program.wait_for_end(1.0)
        if program.status != 0:
            program.hear_errors()
            why = "" if program.status == REFUSED else program.last_words()
            raise BuildFailed(f"{program.errors[-KEPT_OUTPUT:]}\n{why}".strip())
    finally:
        program.close(farewell=0)
    try:
        return _checked(_files.decode(data))
    except (msgspec.DecodeError, BadUpload) as problem:
        raise BuildFailed(f"the files after the build are refused: {problem}") from None


def _output(program: Program, stopped: Callable[[], bool]) -> Iterator[bytes]:
    """Yield what a build writes. Raise BuildFailed if it takes too long, or writes too much."""
    until, size = perf_counter() + SECONDS, 0
    while not program.ended:
        lines = program.next_lines(min(until, perf_counter() + LOOK))
        size += sum(map(len, lines))
        if program.flooding or size > 2 * LARGEST_BUILD:
            raise BuildFailed("the build writes too much")
        if stopped():
            raise BuildFailed("the build was stopped")
        if perf_counter() > until:
            raise BuildFailed(f"the build takes more than {SECONDS:g} s")
        try:
            yield from map(b64decode, lines)
        except ValueError:
            raise BuildFailed("the build writes to the output of its sandbox") from None


def _checked(files: Mapping[str, PackedFile]) -> dict[str, PackedFile]:
    if sum(len(file.data) for file in files.values()) > LARGEST_BUILD:
        raise BadUpload(f"at most {LARGEST_BUILD >> 20} MB are allowed")
    for path in files:
        check_path(path)
    return dict(files)


def _write(files: Mapping[str, PackedFile], folder: Path) -> None:
    """Other users may read the files: bots of root run as one."""
    try:
        for path, file in files.items():
            place = folder / path
            for above in reversed(Path(path).parents[:-1]):
                (folder / above).mkdir(mode=0o755, exist_ok=True)
            place.write_bytes(file.data)
            place.chmod(0o755 if file.executable else 0o644)
    except OSError as problem:
        if problem.errno in OF_MACHINE and folder != IN_SANDBOX:
            raise
        raise BuildFailed(f"{path}: {problem.strerror}") from None


# The part in the sandbox.


def main(upload: str, *limits: str) -> None:
    try:
        files = unpacked(Path(upload).read_bytes(), UploadLimits(*map(int, limits)))
        IN_SANDBOX.mkdir()
        _write(files, IN_SANDBOX)
        command = _build_command()
    except (BadUpload, BuildFailed, CannotStart) as problem:
        sys.exit(str(problem).replace(f"{IN_SANDBOX}/", ""))
    if command:
        done = subprocess.run(["sh", "-c", command], cwd=IN_SANDBOX, stdout=2, check=False)
        if done.returncode:
            sys.exit(f"`{command}` ended with status {done.returncode}")
    data = msgspec.msgpack.encode(dict(islice(_tree(), MOST_BUILT + 1)))
    for start in range(0, len(data), PIECE):
        sys.stdout.write(b64encode(data[start : start + PIECE]).decode() + "\n")


def _build_command() -> str:
    project = project_at(str(IN_SANDBOX))
    if project is not None:
        return project.build.strip()
    if not (IN_SANDBOX / "bot.py").is_file():
        raise BadUpload(f"there is no {PROJECT} at the top of the archive, and no bot.py")
    return ""


def _tree() -> Iterator[tuple[str, PackedFile]]:
    """Yield the plain files after the build. Links, such as those of package managers, are left
    out.
    """
    for path in IN_SANDBOX.rglob("*"):
        if path.is_file() and not path.is_symlink():
            executable = bool(path.stat().st_mode & 0o111)
            yield str(path.relative_to(IN_SANDBOX)), PackedFile(path.read_bytes(), executable)


if __name__ == "__main__":
    main(*sys.argv[1:])
