"""Which files a sandboxed bot sees: its own file, its project, or the folder that was given."""

from pathlib import Path

import pytest

from botdrome.client.sandbox import MARK, BotFiles, files_of, files_of_command, project_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "bots").mkdir(parents=True, mode=0o755)
    monkeypatch.chdir(tmp_path / "home" / "bots")
    return tmp_path / "home" / "bots"


def made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_a_file_is_seen_alone(folder: Path) -> None:
    bot = made(folder / "my_bot.py")
    made(folder / "opponent.py")
    assert files_of([bot]) == files_of([Path("my_bot.py")]) == BotFiles((), (bot,))


def test_a_file_of_a_project_is_seen_with_the_project(folder: Path) -> None:
    made(folder / "mine" / MARK)
    for name in ("bot.py", "src/deep/bot.py"):
        assert files_of([made(folder / "mine" / name)]) == BotFiles((folder / "mine",))


def test_bots_that_were_collected_in_a_folder_do_not_see_each_other(folder: Path) -> None:
    """Even if one of them brought the mark of a project."""
    made(folder / MARK)
    assert files_of([made(folder / "ada.py")]) == BotFiles((), (folder / "ada.py",))


def test_a_folder_that_is_given_is_seen(folder: Path) -> None:
    assert files_of([folder]) == BotFiles((folder,))
    assert files_of([folder / "missing"]) == BotFiles()


def test_neither_a_home_folder_nor_one_for_everybody_is_a_project(folder: Path) -> None:
    bot = made(folder / "open" / "mine" / "bot.py")
    for place in (folder.parent, folder.parents[1]):
        made(place / MARK)
    assert project_of(bot) is None
    made(folder / "open" / MARK)
    assert project_of(bot) == folder / "open"
    (folder / "open").chmod(0o777)
    assert project_of(bot) is None


def test_a_command_shows_its_files_and_its_interpreter(folder: Path) -> None:
    bot, tool = made(folder / "bot.js"), made(folder / "tools" / "bin" / "node")
    (folder / "tools" / "lib").mkdir()
    out = folder / "out"
    out.mkdir()
    assert files_of_command([str(tool), "bot.js", "out", "--fast"]) == BotFiles(
        (out, folder / "tools"), (bot,)
    )


def test_a_program_is_seen_alone(folder: Path) -> None:
    program = made(folder / "bot")
    made(folder / "opponent")
    assert files_of_command(["./bot"]) == BotFiles((), (program,))
    home = made(folder.parent / "bin" / "bot")
    (folder.parent / "lib").mkdir()
    assert files_of_command([str(home)]) == BotFiles((), (home,)), (
        "the home folder is no place of libraries"
    )
    assert files_of_command(["true"]) == BotFiles((Path("/usr"),)), "every sandbox has it"


def test_the_system_s_program_runs_in_place_of_a_shim(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(folder / "shims" / "sh")
    monkeypatch.setenv("PATH", str(folder / "shims"))
    assert files_of_command(["sh"]).alone == ()
    assert files_of_command([str(folder / "shims" / "sh")]).alone == (folder / "shims" / "sh",)
    shell = made(folder / "shells" / "bin" / "sh")
    (folder / "shells" / "lib").mkdir()
    monkeypatch.setenv("PATH", str(shell.parent))
    assert files_of_command(["sh"]) == BotFiles((folder / "shells",))


@pytest.mark.parametrize(
    ("error", "missed"),
    [
        ("ModuleNotFoundError: No module named 'helper' (line 1 of my_bot.py)", "helper.py"),
        ("ModuleNotFoundError: No module named 'pack.part'", "pack"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'weights.npz'", "weights.npz"),
        ("Error: Cannot find module './helper'", "helper.py"),
        ("ModuleNotFoundError: No module named 'numpy'", ""),
        ("ModuleNotFoundError: No module named 'my_bot'", ""),
        ("KeyError: 'helper'", ""),
    ],
)
def test_the_error_about_a_file_beside_the_bot_says_what_to_do(
    folder: Path, error: str, missed: str
) -> None:
    bot = made(folder / "my_bot.py")
    for name in ("helper.py", "weights.npz", "pack/part.py"):
        made(folder / name)
    told = files_of([bot]).hint(error)
    assert told.startswith(error)
    assert (f"sees that file alone, without {missed}: make a folder for its files" in told) is bool(
        missed
    )
    assert BotFiles((folder,)).hint(error) == error
