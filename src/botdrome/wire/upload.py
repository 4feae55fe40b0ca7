"""Uploads: the files of a bot as a zip archive, packed and read within limits."""

import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from struct import error as struct_error
from typing import Annotated
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from msgspec import Meta, Struct

from botdrome.games.reading import plural

LONGEST_PATH = 200
CLASS_NAME = r"^[\w.+-]{0,64}$"
"""The name of a class of runners."""
KIND, REGULAR, FOLDER, EXECUTABLE = 0o170000, 0o100000, 0o040000, 0o111
"""Bits of a file's mode."""
ENCRYPTED = 1
UNREADABLE = (
    BadZipFile, struct_error, EOFError, LookupError, NotImplementedError, OSError, OverflowError,
    RuntimeError, ValueError, zlib.error,
)  # fmt: skip


class BadUpload(Exception):
    """An archive that is refused. The text says why."""


class UploadLimits(Struct, frozen=True):
    packed: int
    """Bytes of the archive."""
    unpacked: int
    """Bytes of all files together."""
    files: int


class Lease(Struct, frozen=True, rename="camel"):
    """A version that a runner has, and the credential for it."""

    credential: str
    bot: str
    game: str
    number: int
    version: str
    hash: str
    to_check: bool
    """It is built and checked; otherwise it plays."""
    limits: UploadLimits
    contest: str = ""
    """It plays in this contest alone; empty: any match."""


class RunnerMachine(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a runner says of its machine."""

    about: Annotated[str, Meta(max_length=1000)] = ""
    """For the operator."""
    runner_class: Annotated[str, Meta(pattern=CLASS_NAME)] = ""
    """The class of its machine: contests may demand one. Empty: it names none."""
    speed: Annotated[float, Meta(ge=0)] = 0.0
    """For bots in Python, as `offline/speed.py` measures it; 0: unknown."""


class RunnerNews(Struct, frozen=True):
    """The answer to a runner's beat. Leases are named by the hashes of their credentials."""

    given: list[Lease]
    ending: list[str]
    """Leases to give back after the current match."""
    lost: list[str]
    """Leases that have ended."""


class PackedFile(Struct, frozen=True):
    data: bytes
    executable: bool = False


def packed(files: Mapping[str, PackedFile]) -> bytes:
    """Return the same archive for the same files, so that its hash names them."""
    archive = BytesIO()
    with ZipFile(archive, "w") as target:
        for path, file in sorted(files.items()):
            entry = ZipInfo(path)
            entry.external_attr = (REGULAR | (0o755 if file.executable else 0o644)) << 16
            target.writestr(entry, file.data, ZIP_DEFLATED)
    return archive.getvalue()


def listed(data: bytes, limits: UploadLimits) -> dict[str, int]:
    """Return the size of each file without unpacking one. Raise BadUpload if it is refused."""
    with _opened(data, limits) as archive:
        return {entry.filename: entry.file_size for entry in _entries(archive, limits)}


def unpacked(data: bytes, limits: UploadLimits) -> dict[str, PackedFile]:
    """Return the files. Raise BadUpload if the archive is refused."""
    with _opened(data, limits) as archive:
        entries = list(_entries(archive, limits))
        try:
            return {
                entry.filename: PackedFile(
                    archive.read(entry), bool(entry.external_attr >> 16 & EXECUTABLE)
                )
                for entry in entries
            }
        except UNREADABLE as problem:
            raise BadUpload(f"the archive is damaged: {problem}") from None


def _opened(data: bytes, limits: UploadLimits) -> ZipFile:
    if len(data) > limits.packed:
        raise BadUpload(f"the archive has {len(data)} bytes; at most {limits.packed} are allowed")
    try:
        return ZipFile(BytesIO(data))
    except UNREADABLE as problem:
        raise BadUpload(f"this is no zip archive: {problem}") from None


def _entries(archive: ZipFile, limits: UploadLimits) -> Iterator[ZipInfo]:
    """Yield the entries of files. `zipfile` never unpacks more bytes than an entry announces."""
    found = archive.infolist()
    if len(found) > limits.files:
        raise BadUpload(f"it has {plural(len(found), 'file')}; at most {limits.files} are allowed")
    if (size := sum(entry.file_size for entry in found)) > limits.unpacked:
        raise BadUpload(f"its files have {size} bytes; at most {limits.unpacked} are allowed")
    names = [_name(entry) for entry in found]
    folders = {name[:at] for name in names for at, sign in enumerate(name) if sign == "/"}
    seen = set[str]()
    for name, entry in zip(names, found, strict=True):
        _check(name, entry)
        if not entry.is_dir():
            if name in seen or name in folders:
                raise BadUpload(f"{name!r} is there twice")
            seen.add(name)
            yield entry


def _name(entry: ZipInfo) -> str:
    """`orig_filename` has what `filename` hides: what comes after NUL, and what a field for Unicode
    replaces.
    """
    check_path(name := entry.orig_filename.rstrip("/"))
    if entry.filename != entry.orig_filename:
        raise BadUpload(f"{name!r} has two names")
    return name


def check_path(name: str) -> None:
    """Raise BadUpload unless a file of this name stays in the folder of the bot."""
    if len(name) > LONGEST_PATH or not name.isprintable() or "\\" in name:
        raise BadUpload(
            f"the path {name[:LONGEST_PATH]!r} is refused: a path has at most {LONGEST_PATH} "
            "printable characters, and no backslash"
        )
    if {"", ".", ".."} & set(name.split("/")):
        raise BadUpload(f"the path {name!r} leads out of the folder of the bot")


def _check(name: str, entry: ZipInfo) -> None:
    if entry.external_attr >> 16 & KIND not in (0, FOLDER if entry.is_dir() else REGULAR):
        raise BadUpload(f"{name!r} is a link or a special file")
    if entry.flag_bits & ENCRYPTED or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise BadUpload(f"{name!r} is encrypted, or compressed in another way than deflate")
