"""Builds of uploads in the real sandbox: what they make, and what an evil one cannot do."""

import os
from collections.abc import Iterator
from errno import ENOSPC
from pathlib import Path

import pytest
from tools import bubblewrap

from botdrome.client.guard import descendants
from botdrome.offline import build as building
from botdrome.offline.build import BuildFailed, build
from botdrome.wire.upload import PackedFile, UploadLimits, packed
from tests.offline.test_sandbox import bwrap  # noqa: F401

LIMITS = UploadLimits(packed=1 << 20, unpacked=1 << 20, files=50)
pytestmark = [
    pytest.mark.usefixtures("bwrap"),
    pytest.mark.skipif(bool(bubblewrap.problem()), reason="there is no sandbox"),
]


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    """The folder of a build. Nothing else is left beside it."""
    before = set(descendants(os.getpid()))
    yield tmp_path / "builds" / "digest"
    left = [path.name for path in (tmp_path / "builds").glob("*")]
    assert left in ([], ["digest"], ["other"])
    assert set(descendants(os.getpid())) <= before


def project(command: str = "", **files: bytes) -> bytes:
    toml = f'command = "view:./bot"\ngame = "gomoku"\nbuild = """\n{command}\n"""\n'
    return packed(
        {"bot.toml": PackedFile(toml.encode())}
        | {name: PackedFile(data) for name, data in files.items()}
    )


def failure(archive: bytes, target: Path) -> str:
    with pytest.raises(BuildFailed) as why:
        build(archive, LIMITS, target)
    assert not target.exists()
    return str(why.value)


def test_a_file_in_python_needs_no_build(target: Path) -> None:
    build(packed({"bot.py": PackedFile(b"def bot(view): ...")}), LIMITS, target)
    assert [path.name for path in target.iterdir()] == ["bot.py"]
    assert (target / "bot.py").read_bytes() == b"def bot(view): ..."


def test_a_build_makes_files_that_every_user_may_read(target: Path) -> None:
    command = "mkdir out && cp source out/bot && chmod 700 out/bot && ln -s /etc/passwd out/link"
    build(project(command, source=b"#!/bin/sh"), LIMITS, target)
    found = {
        str(path.relative_to(target)): path.stat().st_mode & 0o777 for path in target.rglob("*")
    }
    assert found == {"bot.toml": 0o644, "source": 0o644, "out": 0o755, "out/bot": 0o755}


def test_the_output_of_a_build_that_fails_is_told(target: Path) -> None:
    told = failure(project("echo here it is wrong; exit 3"), target)
    assert told.startswith("here it is wrong\n") and "ended with status 3" in told


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (packed({"main.c": PackedFile(b"")}), "there is no bot.toml at the top of the archive"),
        (packed({"bot.toml": PackedFile(b"game = 7")}), "bot.toml"),
        (packed({"bot.toml": PackedFile(b"\xff")}), "bot.toml"),
        (b"no archive", "this is no zip archive"),
    ],
)
def test_an_archive_without_a_bot_is_refused(archive: bytes, words: str, target: Path) -> None:
    assert words in failure(archive, target)


ATTACKS = {
    "reads the environment": ("env; exit 1", "LANG=C.UTF-8"),
    "looks at other bots": ("cat {folder}/other/bot.py", "No such file"),
    "reads files of the machine": ("cat /etc/passwd", "No such file"),
    "reaches a network": (
        "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 5)'",
        "unreachable",
    ),
    "fills the disk": ("head -c 2000000000 /dev/zero > big", "status"),
    "fills the disk with files": (
        "for i in 1 2 3 4 5; do head -c 200000000 /dev/zero > $i || exit 1; done",
        "status",
    ),
    "is a fork bomb": ("b() {{ b | b & }}; b; sleep 100", "it had more than 128 processes"),
    "floods its log": ("yes >&2", "the build writes too much"),
    "writes to the output of the sandbox": (
        "echo '!' > /proc/$PPID/fd/1; sleep 1; exit 1",
        "",
    ),
    "makes a file with an odd name": ("touch \"$(printf 'a\\\\nb')\"", "are refused"),
    "makes too many files": (
        "mkdir m; cd m; seq 6000 | xargs touch",
        "are refused: Expected `object` of length <= 5000",
    ),
    "stops the builder": ("kill -9 $PPID", ""),
    "signals everybody": ("kill -9 -1", ""),
}
"""What an upload does when it is compiled, and what its author is told."""


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_evil_build_harms_nobody(
    attack: str, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "do not tell")
    command, words = ATTACKS[attack]
    other = target.parent / "other"
    build(packed({"bot.py": PackedFile(b"do not tell")}), LIMITS, other)
    told = failure(project(command.format(folder=target.parent)), target)
    assert words in told
    assert "do not tell" not in told


def test_a_build_that_takes_too_long_is_stopped(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "SECONDS", 1.0)
    assert failure(project("sleep 600"), target) == "the build takes more than 1 s"


def test_a_build_is_stopped(target: Path) -> None:
    with pytest.raises(BuildFailed, match="the build was stopped"):
        build(project("sleep 600"), LIMITS, target, lambda: True)


def test_an_upload_is_not_to_blame_for_a_full_disk(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(building, "_built", lambda *_: {"bot.py": PackedFile(b"")})
    monkeypatch.setattr(Path, "chmod", full)
    with pytest.raises(OSError, match="No space left"):
        build(project(), LIMITS, target)


def test_no_process_of_a_build_is_left(target: Path) -> None:
    build(project("setsid sleep 600 & touch done"), LIMITS, target)
    assert (target / "done").exists()
