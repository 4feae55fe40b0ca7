"""A bundle of bots: the plan of a tournament and the files of its bots, for machines that do not
have them.

Files inside the current folder keep their place below it, and a match is played in that folder, so
commands with relative paths work unchanged. Other files get a folder of their own, and the bot is
renamed to it.
"""

import hashlib
import io
import os
import pickle
import platform
import shlex
import shutil
import tarfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from botdrome.client.program import CannotStart
from botdrome.offline.bot import folder_of, parts_of
from botdrome.offline.entrants import PROGRAM, module_files
from botdrome.offline.seats import PREFIX, file_and_player
from botdrome.offline.tournament import TournamentPlan
from botdrome.version import __version__

BUNDLE = "botdrome-"
"""The beginning of the name of a bundle's folder."""
ROOT = "\0"
"""Stands for the folder of the bundle in the names of bots."""
HERE, THERE = "here", "there"
"""The folders of the bundle for files inside the current folder, and for others."""
MOST_BYTES = 200 << 20
MOST_FILES = 20_000
MINOR = ".".join(platform.python_version_tuple()[:2])


class BotBundle(Struct, frozen=True):
    """What a worker needs to play the matches of a plan."""

    plan: TournamentPlan
    files: bytes
    folders: tuple[tuple[str, str], ...]
    """The folders of the bundle, and the folders from which they come."""
    checksum: str
    sound: frozenset[str] = frozenset()
    """The bots that the sender could load."""
    version: str = __version__
    python: str = MINOR

    def unpacked(self, base: Path) -> Path:
        """Unpack the files below this folder, unless they are there already, and return their
        folder.
        """
        root = base / f"{BUNDLE}{self.checksum}"
        if not root.exists():
            draft = base / f"{root.name}-{os.getpid()}-{os.urandom(4).hex()}"
            (draft / HERE).mkdir(parents=True)
            with tarfile.open(fileobj=io.BytesIO(zlib.decompress(self.files))) as archive:
                archive.extractall(draft, filter="data")
            try:
                draft.rename(root)
            except OSError:  # another worker of this machine was faster
                shutil.rmtree(draft)
        return root

    def plan_in(self, root: Path) -> TournamentPlan:
        return replace(
            self.plan,
            entrants=tuple(entrant.replace(ROOT, str(root)) for entrant in self.plan.entrants),
        )

    def as_at_home(self, text: str, root: Path) -> str:
        """Return a text of a bot with the paths of its sender."""
        for folder, origin in self.folders:
            text = text.replace(str(root / folder), origin)
        return text


def pack(
    plan: TournamentPlan, sound: Collection[str] = (), without: Collection[Path] = ()
) -> BotBundle:
    """Pack the bots of a plan, without these files and folders.

    Raise CannotStart if the files cannot be read or are too many.
    """
    packing = _Packing({path.resolve() for path in without})
    names = {entrant: packing.add(entrant) for entrant in dict.fromkeys(plan.entrants)}
    plan = replace(plan, entrants=tuple(names[entrant] for entrant in plan.entrants))
    files = packing.archive()
    folders = tuple(sorted(packing.folders.items()))
    kept = frozenset(names[entrant] for entrant in sound)
    checksum = hashlib.sha256(files + pickle.dumps((plan, folders, sorted(kept)))).hexdigest()[:32]
    return BotBundle(plan, files, folders, checksum, kept)


class _Packing:
    def __init__(self, without: Collection[Path]) -> None:
        self._without, self._here = without, Path.cwd()
        self.folders = {HERE: str(self._here)}
        self._files: dict[str, Path] = {}
        self._bytes = 0

    def add(self, entrant: str) -> str:
        """Pack a bot, and return its name in the bundle."""
        if entrant.startswith("house:"):
            return entrant
        if entrant.startswith(PREFIX):
            file, _ = file_and_player(entrant, 0)
            return entrant.replace(file, self._packed(entrant, file, alone=True), 1)
        if PROGRAM.match(entrant):
            return self._program(entrant)
        kind, place, name = parts_of(entrant)
        if folder := folder_of(entrant):
            return kind + ":".join(filter(None, (self._packed(entrant, str(folder)), name)))
        if place.endswith(".py"):
            return kind + ":".join(filter(None, (self._packed(entrant, place), name)))
        if any(file.resolve().is_relative_to(self._here) for file in module_files(place)):
            self._take(entrant, self._here, HERE)
        return entrant

    def _program(self, entrant: str) -> str:
        """Pack the files that a command names.

        A program outside the current folder must be installed on each worker.
        """
        prefix, _, command = entrant.partition(":")
        program, *words = shlex.split(command)
        if "/" in program and self._is_here(Path(program)):
            program = self._packed(entrant, program)
        words = [
            self._packed(entrant, word)
            if Path(word).is_file() or (Path(word).is_dir() and self._is_here(Path(word)))
            else word
            for word in words
        ]
        return f"{prefix}:{shlex.join([program, *words])}"

    def _is_here(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self._here)

    def _packed(self, entrant: str, given: str, alone: bool = False) -> str:
        """Pack a file with the folder around it, or a folder. Return its path in the bundle."""
        path = Path(given).resolve()
        top = path if path.is_dir() or alone else path.parent
        if self._is_here(path):
            place = f"{HERE}/{top.relative_to(self._here)}".removesuffix("/.")
            relative = not Path(given).is_absolute() and path == self._here / given
            told = given if relative else f"{ROOT}/{HERE}/{path.relative_to(self._here)}"
        else:
            folder = f"{THERE}/{hashlib.sha256(str(path.parent).encode()).hexdigest()[:12]}"
            self.folders[folder] = str(path.parent)
            place = f"{folder}/{path.name}" if alone or path.is_dir() else folder
            told = f"{ROOT}/{folder}/{path.name}"
        self._take(entrant, top, place)
        return told

    def _take(self, entrant: str, top: Path, place: str) -> None:
        for file in [top] if top.is_file() else self._below(top):
            name = f"{place}/{file.relative_to(top)}".removesuffix("/.")
            if name not in self._files:
                self._files[name] = file
                self._bytes += file.stat().st_size
            if self._bytes > MOST_BYTES or len(self._files) > MOST_FILES:
                raise CannotStart(
                    f"{entrant}: {top} has more than {MOST_BYTES >> 20} MB or {MOST_FILES} files "
                    "to send to the workers; "
                    "put the bot into a folder of its own"
                )

    def _below(self, top: Path) -> Iterator[Path]:
        for folder, folders, files in os.walk(top):
            here = Path(folder)
            folders[:] = sorted(one for one in folders if self._travels(here / one))
            yield from (
                here / one
                for one in sorted(files)
                if self._travels(here / one) and (here / one).is_file()
            )

    def _travels(self, path: Path) -> bool:
        return (
            not path.name.startswith(".")
            and path.name != "__pycache__"
            and path not in self._without
        )

    def archive(self) -> bytes:
        """Return the same bytes for the same files."""
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w") as archive:
            for name, file in sorted(self._files.items()):
                try:
                    data = file.read_bytes()
                except OSError as error:
                    raise CannotStart(
                        f"{file} cannot be sent to the workers: {error.strerror}"
                    ) from None
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o755 if os.access(file, os.X_OK) else 0o644
                archive.addfile(entry, io.BytesIO(data))
        return zlib.compress(target.getvalue(), 1)
