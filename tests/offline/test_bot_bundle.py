"""Bundles: the files of bots as a worker finds them, and the names of the bots there."""

import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from botdrome.client.program import CannotStart
from botdrome.offline import dask_pool
from botdrome.offline.dask_pool import ROOT, BotBundle, pack
from botdrome.offline.tournament import TournamentPlan


def packed(*entrants: str, **settings: Any) -> BotBundle:
    return pack(TournamentPlan("gomoku", entrants, entrants, 2, 1, 1), **settings)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "my bots"
    for name in (
        "a.py",
        "helpers/b.py",
        "data.txt",
        ".git/x",
        "__pycache__/y",
        "sub/c.py",
        "sub/d.txt",
        "cup.db",
        "run.sh",
    ):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(name)
    (here / "run.sh").chmod(0o755)
    (tmp_path / "other place").mkdir()
    for name in ("e.py", "f.txt"):
        (tmp_path / "other place" / name).write_text(name)
    monkeypatch.chdir(here)
    return here


def names(root: Path) -> list[str]:
    return sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())


def test_a_bot_travels_with_the_files_beside_it(folder: Path, tmp_path: Path) -> None:
    bundle = packed("a.py:Other", without=[folder / "cup.db"])
    root = bundle.unpacked(tmp_path)
    assert bundle.plan_in(root).entrants == ("a.py:Other",)
    expected = ["a.py", "data.txt", "helpers/b.py", "run.sh", "sub/c.py", "sub/d.txt"]
    assert names(root / "here") == expected
    assert os.access(root / "here/run.sh", os.X_OK) and not os.access(root / "here/a.py", os.X_OK)
    assert (
        bundle.unpacked(tmp_path) == root
        and packed("a.py:Other", without=[folder / "cup.db"]).checksum == bundle.checksum
    )
    (folder / "data.txt").write_text("changed")
    assert packed("a.py:Other").checksum != bundle.checksum


def test_bots_from_other_folders_are_renamed(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other place"
    bundle = packed(
        "../other place/e.py",
        f"policy:{folder}/sub/c.py:net",
        f"replay:{other}/f.txt:1",
        "house:random",
    )
    root = bundle.unpacked(tmp_path)
    moved, policy, replay, house = bundle.plan_in(root).entrants
    assert Path(moved).read_text() == "e.py" and (Path(moved).parent / "f.txt").exists()
    assert policy == f"policy:{root}/here/sub/c.py:net" and names(root / "here") == [
        "sub/c.py",
        "sub/d.txt",
    ]
    assert replay == f"replay:{Path(moved).parent}/f.txt:1" and house == "house:random"
    assert (
        bundle.as_at_home(f"in {moved} and {root}/here/x", root)
        == f"in {other}/e.py and {folder}/x"
    )
    assert ROOT not in "".join(bundle.plan_in(root).entrants)


def test_a_folder_stays_a_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "sub" / "bot.py").touch()
    (tmp_path / "other place" / "main.py").touch()
    bundle = packed("sub", "../other place:net")
    root = bundle.unpacked(tmp_path)
    here, there = bundle.plan_in(root).entrants
    assert here == "sub" and (root / "here/sub/bot.py").exists()
    assert (
        there.endswith("/other place:net")
        and (Path(there.removesuffix(":net")) / "main.py").exists()
    )


def test_only_the_recording_of_a_replay_travels(folder: Path, tmp_path: Path) -> None:
    root = packed("replay:sub/d.txt").unpacked(tmp_path)
    assert names(root) == ["here/sub/d.txt"]


def test_commands_keep_their_words_and_take_their_files_along(folder: Path, tmp_path: Path) -> None:
    bundle = packed(
        "cmd:python3 sub/c.py --level 3",
        f"view:./run.sh {tmp_path}/other\\ place/e.py",
        "cmd:/bin/cat helpers",
    )
    root = bundle.unpacked(tmp_path)
    first, second, third = (shlex.split(entrant) for entrant in bundle.plan_in(root).entrants)
    assert first == ["cmd:python3", "sub/c.py", "--level", "3"] and third == [
        "cmd:/bin/cat",
        "helpers",
    ]
    assert second[0] == "view:./run.sh" and Path(second[1]).read_text() == "e.py"
    assert {"here/run.sh", "here/sub/c.py", "here/helpers/b.py"} <= set(names(root))


def test_a_module_of_this_folder_travels_and_an_installed_one_does_not(
    folder: Path, tmp_path: Path
) -> None:
    assert "here/helpers/b.py" in names(packed("helpers.b:play").unpacked(tmp_path))
    assert names(packed("json.decoder:play").unpacked(tmp_path)) == []


def test_a_folder_that_is_too_large_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "MOST_FILES", 3)
    with pytest.raises(
        CannotStart,
        match=r"a\.py: .*my bots has more than 200 MB or 3 files.*into a folder of its own",
    ):
        packed("a.py")
