"""Bomberman as the terminal shows it."""

import msgspec
from rich.text import Text

from botdrome.cli.pictures import picture_of
from botdrome.games.bomberman import Bomberman
from botdrome.games.chance import Chance
from tests.games.bombermen import after, drawn


def picture(position: Bomberman) -> Text:
    names = [f"player {seat}" for seat in range(len(position.at))]
    return picture_of(
        "bomberman", msgspec.json.decode(msgspec.json.encode(position.view(None))), names
    )


def lines(position: Bomberman) -> list[str]:
    return [line.rstrip() for line in picture(position).plain.splitlines()]


def test_users_bombs_crates_and_upgrades_are_drawn_below_the_list_of_users() -> None:
    position = after(drawn("A..+.b. .#.#.#. C..r..B"), "A BOMB", "A RIGHT, B BOMB")
    assert lines(position) == [
        "round 2 of 500",
        "A player 0             bombs  0  range  3  kills 0  crates   0  upgrades  0",
        "B player 1             bombs  0  range  3  kills 0  crates   0  upgrades  0",
        "C player 2             bombs  1  range  3  kills 0  crates   0  upgrades  0",
        "o3A · ▒▒· +o·",
        "· ██· ██· ██·",
        "C · · +*· · B4",
    ]


def test_what_burned_in_the_last_round_shows() -> None:
    assert lines(after(drawn("A.+.... .#.#.#. B.....C"), "A BOMB", *[""] * 4))[4:] == [
        "~~~~~~· · · ·",
        "~~██· ██· ██·",
        "~~· · · · · C",
    ]


def test_the_tiles_that_close_in_at_the_end_of_the_round_show() -> None:
    start = drawn("A.... .#.#. ..... .#.#. B...+", closing=1, rounds=40)
    assert lines(start)[3:] == ["A · · · ·", "· ██· ██·", "· · · · ·", "· ██· ██·", "B · · · ▒▒"]
    assert lines(after(start, ""))[3] == "A · · · !"


def test_the_dead_are_struck_out() -> None:
    text = picture(drawn("A...... .#.#.#. B.....C").without(1))
    assert "dim strike" in {str(span.style) for span in text.spans if text.plain[span.start] == "B"}
    assert "dim strike" not in {
        str(span.style) for span in text.spans if text.plain[span.start] in "AC"
    }


def test_the_usual_map_with_eight_users_fits_a_terminal() -> None:
    rows = lines(Bomberman().start(8, Chance(0)))
    assert len(rows) == 1 + 8 + 13
    assert max(map(len, rows)) <= 80
