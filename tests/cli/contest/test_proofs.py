"""`botdrome contest export` and `verify`, with and without a signature."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import run

CUP = (
    'name = "cup"\ngame = "noughts-and-crosses"\n'
    'entrants = [{bot = "house:random"}, {bot = "house:perfect"}]\n'
)


def test_an_archive_is_signed_and_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cup.toml").write_text(CUP)
    assert run("contest", "run", "cup.toml").exit_code == 0
    for name in ("olga", "eve"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name], check=True)
    exported = run("contest", "archive", "cup.db", "cup", "--key", "olga")
    assert (
        exported.exit_code == 0
        and "cup.zip has 2 matches" in exported.stdout
        and Path("cup.zip.sig").exists()
    )
    verified = run("verify", "cup.zip", "--key", "olga.pub")
    assert (
        verified.exit_code == 0
        and "cup holds: 2 matches, 2 entrants, signed with olga.pub" in verified.stdout
    )
    assert "was not signed with eve.pub" in run("verify", "cup.zip", "--key", "eve.pub").stdout
    Path("cup.zip").write_bytes(Path("cup.zip").read_bytes() + b"x")
    assert run("verify", "cup.zip", "--key", "olga").exit_code == 1
    Path("cup.zip.sig").unlink()
    assert (
        "there is no signature cup.zip.sig" in run("verify", "cup.zip", "--key", "olga.pub").stdout
    )
    refused = run("contest", "archive", "cup.toml", "--key", "none")
    assert refused.exit_code == 2 and "none cannot sign" in refused.stderr
