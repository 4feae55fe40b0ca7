"""`botdrome duel`: its answers, exit statuses and summaries."""

import json
from pathlib import Path

import pytest

from botdrome.catalogue import restored
from botdrome.cli.play import DuelReport
from botdrome.contest.sequential import SequentialTest
from botdrome.match.record import verify
from botdrome.offline.tournament import DuelPlan, play_blocks
from tests.cli.commands import run

NOUGHTS = "noughts-and-crosses"


def test_a_better_bot_is_accepted_and_the_estimate_is_doubted(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    result = run("duel", NOUGHTS, "house:perfect", "house:random", "--summary", str(summary))
    assert result.exit_code == 0
    assert "house:perfect is better than house:random." in result.stdout
    assert "On average this estimate is too high" in result.stdout
    assert summary.read_text().startswith(
        "# Before\n### house:perfect is better than house:random.\n\n- "
    )


def test_a_worse_bot_is_not_better() -> None:
    result = run("duel", NOUGHTS, "house:random", "house:perfect", "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["decision"]) == (1, "not better")
    assert (
        data["llr"] <= data["bounds"][0]
        and data["games"] == 2 * data["blocks"]
        and data["score"] < 0.5
    )


def test_the_cap_leaves_it_undecided(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    result = run("duel", NOUGHTS, "house:perfect", "house:random", "--max-blocks", "16")
    assert result.exit_code == 2
    assert (
        "Undecided after 16 blocks: whether house:perfect is better than house:random by 20 Elo."
        in result.stdout
    )
    assert "Undecided" in (tmp_path / "step.md").read_text()
    assert "estimate" not in result.stdout


def test_faults_of_both_bots_are_told(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def bot(view):\n    raise KeyError('nothing')\n")
    result = run(
        "duel",
        NOUGHTS,
        str(tmp_path / "broken.py"),
        "house:random",
        "--max-blocks",
        "16",
        "--in-process",
    )
    assert "Faults of broken.py: crash 32" in result.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--sprt", "20"), "--sprt takes two Elo differences such as 0,20, not '20'"),
        (
            ("--sprt", "20,0"),
            "--sprt takes two rising Elo differences from -1000 to 1000 such as 0,20, not '20,0'",
        ),
        (("--players", "3"), "noughts-and-crosses is for 2 to 2 players, not 3"),
        (("--copies", "2"), "--copies is a number from 1 to 1 at a table of 2, not 2"),
        (("--option", "size=3"), "no option"),
        (("--summary", "/dev/null/nowhere"), "/dev/null/nowhere: Not a directory"),
    ],
)
def test_what_cannot_be_used_is_named(words: tuple[str, ...], complaint: str) -> None:
    result = run("duel", NOUGHTS, "house:random", "house:perfect", *words)
    assert result.exit_code == 3 and complaint in result.output


def test_a_bot_that_cannot_start_is_no_answer() -> None:
    result = run("duel", NOUGHTS, "house:random", "house:nobody")
    assert (
        result.exit_code == 3
        and "house:nobody: for noughts-and-crosses the house has" in result.output
    )


def test_a_command_that_is_wrong_is_no_answer() -> None:
    """Status 2, that of a wrong command elsewhere, means undecided."""
    for words in (
        ("house:random", "house:perfect"),
        (NOUGHTS, "house:random"),
        ("house:random", "house:random", "--nothing"),
    ):
        assert run("duel", *words).exit_code == 3
    assert run("duel", "--help").exit_code == 0


@pytest.mark.parametrize(
    "source",
    [
        "import no_such_module\n",
        "class Bot:\n    def __init__(self):\n        raise KeyError('no')\n",
    ],
)
def test_a_bot_that_fails_before_its_first_move_is_no_answer(tmp_path: Path, source: str) -> None:
    (tmp_path / "broken.py").write_text(source)
    result = run("duel", NOUGHTS, "house:random", str(tmp_path / "broken.py"))
    assert result.exit_code == 3 and "botdrome: broken.py: crash: " in result.stderr


def test_blocks_come_in_order_with_any_number_of_processes() -> None:
    bots = ("house:random", "house:random", "house:perfect", "house:perfect")
    plan = DuelPlan("noughts-and-crosses", bots, tuple("abcd"), 2, 40, seed=5)
    alone, together = list(play_blocks(plan, 1)), list(play_blocks(plan, 2))
    assert [block.outcomes[0].fixture.seed for block in together] == list(range(5, 45))
    assert [block.score for block in alone] == [block.score for block in together]


def test_a_half_of_the_seats_is_followed_by_the_other() -> None:
    plan = DuelPlan("bomberman", ("a",) * 8, tuple("abcdefgh"), 4, 6, seed=5)
    fixtures = list(plan.progress().open.values())
    assert [fixture.seed for fixture in fixtures] == [5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10]
    for one, two in zip(fixtures[::2], fixtures[1::2], strict=True):
        new = [entrant < 4 for entrant in one.entrants]
        assert sum(new) == 2 and [entrant >= 4 for entrant in two.entrants] == new


def test_one_copy_goes_round_the_table() -> None:
    plan = DuelPlan("bomberman", ("a",) * 6, tuple("abcdef"), 3, 2, seed=1, copies=1)
    tables = [fixture.entrants for fixture in plan.progress().open.values()]
    assert len(tables) == 6 and sorted(tables[:3]) == [(0, 4, 5), (3, 1, 5), (3, 4, 2)]
    report = DuelReport(plan, ("new", "old"), SequentialTest())
    assert report.as_data()["elo"] == [0.0, None, None] and report.decision is None


TWO_RANDOM = ("house:random", "house:random")
FIRST_FREE = """
def bot(view):
    free = [(row, column) for row in range(3) for column in range(3) if not view["board"][row][column]]
    return {"mark": view["marks"][view["you"]], "space": list(free[PLACE])}
"""


@pytest.fixture
def alike(tmp_path: Path) -> tuple[str, str]:
    """Two bots that always answer alike."""
    for name, place in (("first", "0"), ("last", "-1")):
        (tmp_path / f"{name}.py").write_text(FIRST_FREE.replace("PLACE", place))
    return str(tmp_path / "first.py"), str(tmp_path / "last.py")


def test_repeated_games_are_counted_once(alike: tuple[str, str]) -> None:
    words = ("--in-process", "--openings", "none", "--max-blocks", "100")
    result = run("duel", NOUGHTS, *alike, *words)
    assert result.exit_code == 2
    assert "2 distinct games in 200: the interval counts 1 of 100 blocks." in result.stdout
    data = json.loads(run("duel", NOUGHTS, *alike, *words, "--json").stdout)
    assert (data["distinctGames"], data["distinctBlocks"], data["openings"]) == (2, 1, "none")


def test_a_duel_that_only_repeats_itself_ends(
    alike: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.cli.play.REPEATED", 50)
    result = run("duel", NOUGHTS, *alike, "--in-process", "--openings", "none")
    assert result.exit_code == 2
    assert (
        "The last 50 blocks brought no new game, so more of them would decide nothing."
        in result.stdout
    )


def test_games_without_chance_have_random_openings(alike: tuple[str, str]) -> None:
    data = json.loads(
        run("duel", NOUGHTS, *alike, "--in-process", "--max-blocks", "40", "--json").stdout
    )
    assert data["openings"] == "random" and 25 < data["distinctBlocks"] <= 40
    seeded = run("duel", "bumblebots", *TWO_RANDOM, "--max-blocks", "16", "-o", "ticks=5", "--json")
    assert json.loads(seeded.stdout)["openings"] == "none"


def test_openings_from_a_file_are_played_once_per_seating(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("0,0, 1,1\n2,2, 3,3\n")
    words = ("--max-blocks", "16", "--json", "-o", "size=9")
    data = json.loads(run("duel", "gomoku", *TWO_RANDOM, *words, "--openings", str(file)).stdout)
    assert data["openings"] == 2
    assert (
        json.loads(run("duel", "gomoku", *TWO_RANDOM, *words, "-o", "opening=[[4,4]]").stdout)[
            "openings"
        ]
        == "none"
    )


def test_random_openings_are_refused_where_seeds_make_games_differ() -> None:
    result = run("duel", "battleship", *TWO_RANDOM, "--openings", "random")
    assert result.exit_code == 3
    assert (
        "--openings random is for games without chance; seeds make the matches of battleship differ"
        in result.output
    )


def test_both_seatings_have_the_same_opening_and_every_match_replays(tmp_path: Path) -> None:
    bots = ("house:random",) * 4
    plan = DuelPlan(
        "gomoku",
        bots,
        tuple("abcd"),
        2,
        3,
        seed=5,
        options={"size": 9},
        save=str(tmp_path),
        random_openings=True,
    )
    blocks = list(play_blocks(plan, 1))
    openings = []
    for outcome in (outcome for block in blocks for outcome in block.outcomes):
        record, game = restored(Path(outcome.file).read_bytes())
        verify(record, game)
        assert len(outcome.result.boards) == 1
        openings.append([line.say for line in record.lines[:4]])
        assert [line.t for line in record.lines[:4]] == [0] * 4
    assert openings[::2] == openings[1::2] and openings[0] != openings[2] != openings[4]
