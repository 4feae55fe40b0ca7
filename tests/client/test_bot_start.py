"""The control group of a sandboxed bot, in folders that look like those of the kernel."""

import os
from pathlib import Path

import pytest

from botdrome.client import guard
from botdrome.client.guard import new_group

LIMITS = {"sandbox": 0, "memory": 256, "processes": 64, "cores": 1}


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A group `app` that is delegated to an ordinary user, with this process in the group
    `app/shell`.
    """
    (tmp_path / "groups" / "app" / "shell").mkdir(parents=True)
    (tmp_path / "groups" / "app" / "cgroup.procs").touch()
    (tmp_path / "groups" / "app" / "cgroup.subtree_control").write_text("cpu memory pids")
    (tmp_path / "own").write_text("1:cpu:/other\n0::/app/shell\n")
    monkeypatch.setattr(guard, "CONTROL_GROUPS", str(tmp_path / "groups"))
    monkeypatch.setattr(guard, "OWN_GROUP", str(tmp_path / "own"))
    monkeypatch.setattr(guard, "write", written)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return tmp_path / "groups" / "app"


def written(path: str, text: str) -> None:
    """The kernel adds a controller to the file, where ours replaces the text."""
    if path.endswith("subtree_control"):
        text = f"{Path(path).read_text()} {text.removeprefix('+')}"
    Path(path).write_text(text)


def test_a_group_has_the_limits_of_the_sandbox(groups: Path) -> None:
    group = Path(new_group(LIMITS))
    assert group == groups / f"botdrome-{os.getpid()}"
    assert {file.name: file.read_text() for file in group.iterdir()} == {
        "memory.max": str(256 << 20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "512",
        "cpu.max": "100000 100000",
    }


def test_missing_controllers_are_turned_on(groups: Path) -> None:
    (groups / "cgroup.subtree_control").write_text("")
    assert new_group(LIMITS)


def test_a_setting_that_the_kernel_does_not_have_is_left_out(
    groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written_without_swap(path: str, text: str) -> None:
        if "swap" in path:
            raise OSError
        written(path, text)

    monkeypatch.setattr(guard, "write", written_without_swap)
    assert sorted(
        file.name for file in Path(new_group({"sandbox": 0, "memory": 256})).iterdir()
    ) == [
        "memory.max",
        "memory.oom.group",
    ]


def test_there_is_no_group_where_none_can_be_made(groups: Path) -> None:
    (groups / f"botdrome-{os.getpid()}").mkdir()
    assert new_group(LIMITS) == ""


def test_there_is_no_group_without_the_sandbox(groups: Path) -> None:
    assert new_group({"memory": 256}) == ""
    assert sorted(file.name for file in groups.iterdir()) == [
        "cgroup.procs",
        "cgroup.subtree_control",
        "shell",
    ]


def test_there_is_no_group_without_controllers(
    groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str, text: str) -> None:
        raise OSError

    monkeypatch.setattr(guard, "write", refused)
    (groups / "cgroup.subtree_control").write_text("cpu memory")
    assert new_group(LIMITS) == ""


@pytest.mark.parametrize("own", ["0::/\n", "3:memory:/app/shell\n", "0::/elsewhere/shell\n"])
def test_there_is_no_group_in_the_top_group_or_with_the_older_kind(groups: Path, own: str) -> None:
    (groups.parents[1] / "own").write_text(own)
    assert new_group(LIMITS) == ""


def test_root_makes_groups_only_where_systemd_delegates_them(
    groups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    marks: dict[tuple[str, str], bytes] = {}

    def mark(path: str, name: str) -> bytes:
        if (path, name) not in marks:
            raise OSError
        return marks[path, name]

    monkeypatch.setattr(os, "getxattr", mark)
    assert new_group(LIMITS) == ""
    marks[str(groups), "user.delegate"] = b"1"
    assert new_group(LIMITS)
