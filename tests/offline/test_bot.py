"""A bot in Python: what may be written, what is called, and what it is given."""

from pathlib import Path
from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.terms import Pace, Terms
from botdrome.offline.bot import Bot, BotInstance, CannotLoad, load
from botdrome.offline.entrants import distinct_names
from botdrome.offline.seats import FunctionSeat, make_seat
from botdrome.offline.table import OfflineTable
from tests.offline import programs
from tests.offline.programs import program

NOUGHTS = CATALOGUE["noughts-and-crosses"].game
TERMS = Terms(Pace(60_000), strikes=3)
MATCH = {"game": "gomoku", "options": {}, "players": ["a", "b"], "you": 0, "seed": 5, "limit": 5000}


def loaded(folder: Path, code: str, name: str = "") -> BotInstance:
    path = folder / "my_bot.py"
    path.write_text(code)
    return BotInstance(load(f"{path}:{name}" if name else str(path)))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def bot(view): return view", ""),
        ("async def bot(view): return view", ""),
        ("class Bot:\n    def move(self, view): return view", ""),
        ("class Bot:\n    async def move(self, view): return view", ""),
        (
            "import botdrome.offline.bot as it\nclass Bot(it.Bot):\n"
            "    def move(self, view): return view",
            "",
        ),
        ("from botdrome.offline.bot import Bot\ndef other(view): return view", "other"),
        ("class Old:\n    def __call__(self, view): return view", "Old"),
        ("class Old:\n    def move(self, view): return view\nmade = Old()", "made"),
        (
            "from dataclasses import dataclass\n@dataclass\nclass Bot:\n    x: 'int' = 1\n"
            "    def move(self, view): return view",
            "",
        ),
    ],
)
def test_functions_classes_and_objects_are_bots(tmp_path: Path, code: str, name: str) -> None:
    bot = loaded(tmp_path, code, name)
    bot.begin(MATCH)
    assert bot.move({"you": 1}) == {"you": 1}
    bot.end({"places": [1, 2], "scores": [1, 0], "causes": ["complete"] * 2, "you": 0})
    bot.close()


def test_an_async_bot_keeps_its_event_loop() -> None:
    class Waiting:
        async def begin(self, match: dict[str, Any]) -> None:
            import asyncio

            self.task = asyncio.ensure_future(asyncio.sleep(0, "ready"))

        async def move(self, view: Any) -> Any:
            return await self.task

    bot = BotInstance(Waiting)
    bot.begin(MATCH)
    assert bot.move({}) == "ready"
    bot.close()


def test_the_seed_of_the_bot_sets_random() -> None:
    import random

    bot = BotInstance(lambda view: random.random())
    bot.begin(MATCH)
    once = bot.move({})
    bot.begin(MATCH)
    assert bot.move({}) == once


def test_a_bot_without_move_says_so() -> None:
    with pytest.raises(NotImplementedError, match="Bot has no method `move`"):
        BotInstance(Bot).move({})


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("x = 1", "there is no function `bot` and no class `Bot` in "),
        (
            "from botdrome.offline.bot import Bot",
            "there is no function `bot` and no class `Bot` in ",
        ),
        ("bot = 5", "there is no function `bot` and no class `Bot` in "),
        ("def bot(view: return 1", r"SyntaxError: .* \(line 1 of my_bot.py\)"),
        ("if 1:\nbot = 1", r"IndentationError: .* \(line 2 of my_bot.py\)"),
        ("bot = '\0'", "source code string cannot contain null bytes"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, code: str, problem: str) -> None:
    with pytest.raises(CannotLoad, match=problem):
        loaded(tmp_path, code)


def test_a_wrong_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(CannotLoad, match="this is a directory"):
        load(str(tmp_path / "folder.py"))
    with pytest.raises(CannotLoad, match="No such file or directory"):
        load(str(tmp_path / "missing.py"))
    with pytest.raises(CannotLoad, match=r"there is no module 'json\.missing'"):
        load("json.missing:bot")


def test_a_folder_is_the_bot_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "mine"
    folder.mkdir()
    with pytest.raises(
        CannotLoad, match=r"this is a directory without bot\.py or main\.py; name a file in it"
    ):
        load("mine")
    for name in ("main.py", "bot.py"):
        (folder / name).write_text(
            f"def bot(view): return {name!r}\ndef other(view): return 'other'"
        )
        assert load("mine")({}) == load(f"{folder}/")({}) == name
    assert load("mine:other")({}) == "other"
    assert distinct_names(["mine", f"{folder}/"]) == ("mine", "mine #2")


def test_a_package_is_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "packed_bot"
    package.mkdir()
    (package / "__init__.py").write_text("def bot(view): return 'package'")
    (package / "bot.py").touch()
    assert load("packed_bot:bot")({}) == "package"


def test_a_module_that_imports_a_missing_one_fails_by_itself(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        loaded(tmp_path, "import no_such_library")


class Recorder:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def __call__(self, view: dict[str, Any]) -> Any:
        self.told.append(view)
        free = next(
            [row, column]
            for row in range(3)
            for column in range(3)
            if not view["board"][row][column]
        )
        return {"mark": view["marks"][view["you"]], "space": free}

    def begin(self, match: Any) -> None:
        self.told.append(match)

    def end(self, result: Any) -> None:
        self.told.append(result)


def test_a_bot_is_told_of_the_match_the_views_as_json_and_the_result() -> None:
    recorder = Recorder()
    match = Match(NOUGHTS, 2, TERMS, 1)
    OfflineTable(
        match,
        [make_seat("house:random", NOUGHTS.name, "a", 1), FunctionSeat(recorder, False, 7)],
        ("a", "b"),
    ).play()
    begun, view, *_, ended = recorder.told
    assert begun == {
        "game": NOUGHTS.name,
        "options": {},
        "players": ["a", "b"],
        "you": 1,
        "seed": 7,
        "limit": 60_000,
    }
    assert type(view["board"]) is list
    assert type(view["marks"]) is list
    assert match.result is not None
    assert ended == {
        "places": [*match.result.places],
        "scores": [*match.result.scores],
        "causes": ["complete"] * 2,
        "you": 1,
    }


def test_a_match_in_progress_is_continued(tmp_path: Path) -> None:
    """A function is asked, and a program is told the position as after a reconnection."""
    recorder = Recorder()
    match = Match(NOUGHTS, 2, TERMS, 1)
    match.start()
    match.submit(0, {"mark": "X", "space": [1, 1]}, 700)
    seats = [
        make_seat(program(tmp_path, programs.GOOD), NOUGHTS.name, "a", 1),
        FunctionSeat(recorder, False),
    ]
    OfflineTable(match, seats, ("a", "b")).play()
    for seat in seats:
        seat.close()
    assert recorder.told[1]["board"][1] == ["", "X", ""]
    assert match.result is not None
    assert match.result.causes == ("complete", "complete")
    assert {now for now, *_ in match.inputs} == {700}


def test_a_match_that_is_over_is_only_told() -> None:
    recorder = Recorder()
    match = Match(NOUGHTS, 2, TERMS, 1)
    match.start()
    match.abort(0)
    OfflineTable(
        match, [FunctionSeat(recorder, False), FunctionSeat(recorder, False)], ("a", "b")
    ).play()
    assert [told.get("causes") for told in recorder.told] == [
        None,
        None,
        ["aborted"] * 2,
        ["aborted"] * 2,
    ]


def test_the_second_board_is_continued_with_the_result_of_the_first(tmp_path: Path) -> None:
    game = CATALOGUE["gomoku"].game
    seen = tmp_path / "seen"
    code = f"import sys\nfor _ in range(2): open({str(seen)!r}, 'a').write(sys.stdin.readline())\n"
    match = Match(game, 2, Terms(Pace(60_000), strikes=1, boards=2), 1)
    match.start()
    match.submit(0, "nonsense", 0)
    seats = [
        make_seat(program(tmp_path, code), "gomoku", "a", 1),
        make_seat("house:random", "gomoku", "b", 1),
    ]
    OfflineTable(match, seats, ("a", "b")).play()
    for seat in seats:
        seat.close()
    assert '"boardsPlayed":[{"a":2,"b":1}]' in seen.read_text()
    assert '"bots":["b","a"]' in seen.read_text()
