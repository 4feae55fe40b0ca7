"""`botdrome boats --test` in a real terminal."""

from pathlib import Path

from tests.cli.test_terminal import Terminal
from tests.offline.boat_bots import FUNCTION, walker


def test_every_shot_is_shown_until_somebody_has_seen_enough(tmp_path: Path) -> None:
    terminal = Terminal(
        "boats", "test", "pilot", "--seed", "1", "--watch", "--test-db", str(tmp_path)
    )
    for number in range(3):
        terminal.expect(f"round {number}, goal 17: pilot ")
        terminal.expect("Enter: the next shot")
        terminal.press("\r" if number < 2 else "q\r")
    terminal.expect("positions        0")
    assert terminal.end() == 130


def test_progress_is_one_line_that_changes(tmp_path: Path) -> None:
    """The bot takes its time, so that a second passes before it is done."""
    bot = walker(tmp_path, "function")
    Path(bot).write_text(
        FUNCTION.replace("    y, x", '    __import__("time").sleep(0.03)\n    y, x')
    )
    words = (
        "--positions",
        "2",
        "--seed",
        "1",
        "--width",
        "8",
        "--height",
        "8",
        "--test-db",
        str(tmp_path),
    )
    terminal = Terminal("boats", "test", bot, *words)
    terminal.expect("50 %  1 of 2 positions, ")
    terminal.expect(" shots on average, ")
    terminal.expect("\rpositions        2, 2 of them unique")
    terminal.expect("kept in ")
    assert terminal.end() == 0
