"""The limits of a bot's processes, and their sandbox: bubblewrap, with the files that the bot needs and nothing else."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt")
"""Folders that every sandbox has, if they exist here."""
SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "java-17-openjdk", "dotnet")
"""Files of /etc that interpreters need."""
NO_BUBBLEWRAP = "--sandbox needs bubblewrap; on Debian: apt-get install bubblewrap"
MEGABYTE = 1 << 20


class Limits(Struct, frozen=True):
    """What the processes of a bot may use together; None: anything."""

    memory: int | None = None
    """Megabytes."""
    processes: int | None = None
    cpu: int | None = None
    """Seconds of CPU time of each process."""
    cores: int | None = None
    disk: int | None = None
    """Megabytes of each file, and of the temporary folder."""

    def words(self) -> str:
        """Return the limits as the guard reads them."""
        names = ("memory", "processes", "cpu", "cores", "disk")
        return " ".join(f"{name}={value}" for name in names if (value := getattr(self, name)) is not None)


UNLIMITED = Limits()
SANDBOXED = Limits(memory=1024, processes=64, cpu=3600, cores=1, disk=64)


class NoSandbox(Exception):
    """Bubblewrap is missing or does not work here; the text says which."""


def sandboxed(command: Sequence[str], folders: Iterable[Path], limits: Limits, env: Mapping[str, str]) -> list[str]:
    """Return the command that runs a command in a sandbox: without network, and with these folders, read-only."""
    return [*bubblewrap(), *_mounts(folders, limits), *_environment(env), "--", *command]


def check_sandbox() -> None:
    """Raise NoSandbox if no program can run in a sandbox here."""
    try:
        tried = subprocess.run(sandboxed(["true"], [], SANDBOXED, {}), capture_output=True, text=True, check=False, timeout=60)
    except OSError as error:
        raise NoSandbox(f"bubblewrap cannot run here: {error.strerror}") from None
    if tried.returncode:
        raise NoSandbox(f"bubblewrap cannot run here: {tried.stderr.strip().partition(chr(10))[0]}")


@cache
def bubblewrap() -> tuple[str, ...]:
    path = shutil.which("bwrap")
    if path is None:
        raise NoSandbox(NO_BUBBLEWRAP)
    own = ("--uid", "65534", "--gid", "65534", "--cap-drop", "ALL", "--hostname", "sandbox")
    return (path, "--unshare-all", "--unshare-user", "--die-with-parent", *own)


def _mounts(folders: Iterable[Path], limits: Limits) -> Iterator[str]:
    size = str((limits.disk or 64) * MEGABYTE)
    for name in SYSTEM:
        if Path(name).is_symlink():
            yield from ("--symlink", str(Path(name).readlink()), name)
        elif Path(name).exists():
            yield from ("--ro-bind", name, name)
    for name in SETTINGS:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    yield from ("--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp")
    for folder in sorted({Path(os.path.normpath(folder.absolute())) for folder in folders}):
        if not folder.is_relative_to("/usr"):
            yield from ("--ro-bind", str(folder), str(folder))
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _environment(env: Mapping[str, str]) -> Iterator[str]:
    yield "--clearenv"
    for name, value in ({"PATH": os.defpath, "HOME": "/tmp", "LANG": "C.UTF-8"} | dict(env)).items():
        yield from ("--setenv", name, value)


def folders_of(command: Sequence[str]) -> list[Path]:
    """Return the folders of the files that a command names, and of its program with its libraries."""
    files = [Path(word) for word in command[1:]]
    folders = [file if file.is_dir() else file.parent for file in files if file.exists()]
    program = shutil.which(command[0])
    return folders + [_prefix(path) for path in ({Path(program), Path(program).resolve()} if program else ())]


def _prefix(program: Path) -> Path:
    """Return the folder with the libraries of an interpreter, such as a virtual environment; else the folder of the program."""
    folder = program.absolute().parent
    above = folder.parent
    installed = folder.name == "bin" and above != Path.home() and (above / "lib").is_dir()
    return above if installed and above != Path("/") else folder
