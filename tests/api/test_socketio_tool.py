"""The tool that installs socket.io's clients, with an npm that a test wrote."""

import base64
import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

import pytest
from tools import socketio

NPM = """import pathlib, shutil, sys
if sys.argv[1] == "pack":
    shutil.copy({folder!r} + "/package.tgz", "package.tgz")
    print("package.tgz")
elif pathlib.Path("package-lock.json").exists():
    with open({folder!r} + "/runs", "a") as file:
        file.write(" ".join(sys.argv[1:]) + "\\n")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the same make as the real one, and an npm that has it."""
    with tarfile.open(tmp_path / "package.tgz", "w:gz") as tar:
        for name in (*socketio.PAGE.files, "LICENSE"):
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(name)
            tar.addfile(info, io.BytesIO(name.encode()))
    digest = base64.b64encode(
        hashlib.sha512((tmp_path / "package.tgz").read_bytes()).digest()
    ).decode()
    npm = tmp_path / "npm"
    npm.write_text(f"#!{sys.executable}\n" + NPM.format(folder=str(tmp_path)))
    npm.chmod(0o755)
    monkeypatch.setattr(socketio, "PAGE", socketio.PAGE._replace(integrity=f"sha512-{digest}"))
    monkeypatch.setattr("shutil.which", lambda name: str(npm))
    monkeypatch.setattr(socketio, "TARGET", tmp_path / "page")
    monkeypatch.setattr(socketio, "CLIENTS", tmp_path / "clients")
    return tmp_path


def test_the_clients_are_installed_once(folder: Path) -> None:
    assert socketio.main() == 0
    assert socketio.main() == 0
    assert (folder / "page" / "socket.io.js").read_text() == "dist/socket.io.js"
    assert (folder / "page" / "socket.io-client.LICENSE").exists()
    assert (folder / "runs").read_text().splitlines() == [
        "ci --ignore-scripts --no-audit --no-fund --loglevel=error"
    ]


def test_others_are_installed_when_others_are_wanted(folder: Path) -> None:
    assert socketio.main() == 0
    (folder / "clients" / "versions.json").write_text("older")
    assert socketio.main() == 0
    assert len((folder / "runs").read_text().splitlines()) == 2


def test_a_package_that_has_changed_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(socketio, "PAGE", socketio.PAGE._replace(integrity="sha512-other"))
    assert socketio.main() == 1
    assert "socket.io-client 4.8.4 is not what it was" in capsys.readouterr().err
    assert not (folder / "page").exists()


def test_the_page_has_the_client_that_is_tested() -> None:
    lock = json.loads((socketio.WANTED / socketio.LOCK).read_text())
    assert lock["packages"]["node_modules/client-4.8.4"]["integrity"] == socketio.PAGE.integrity
    assert "resolved" not in (socketio.WANTED / socketio.LOCK).read_text(), (
        "a lock file without addresses"
    )
