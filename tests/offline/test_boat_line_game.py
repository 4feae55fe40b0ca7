"""A board of a boat trial in the lines of Xterm Boat Sinker."""

import pytest

from botdrome.offline.boat_line_game import MOST_NAMES, MOST_REFUSALS, LineGame
from botdrome.offline.boat_trial import Trial
from tests.offline.boat_bots import boat_rows

TRIAL = Trial("tcp", 1, 5, 8, 8)
BLANK = "." * 64
OFFER = b"G|1.2.0|boat trial|N|2|2|1|17|8|8|5|A5|B4|C3|D3|E2"


def joined() -> LineGame:
    game = LineGame(TRIAL, 0)
    game.hear(f"J|walker|{boat_rows(8, 8)}".encode())
    return game


def lines(found: list[bytes]) -> list[str]:
    return b"\n".join(found).decode().split("\n") if found else []


def test_a_game_from_the_offer_to_the_results() -> None:
    game, squares = LineGame(TRIAL, 0), "".join(TRIAL.position(0))
    assert game.offer() == OFFER
    assert lines(game.hear(f"J|walker|{boat_rows(8, 8)}".encode())) == [
        "J|walker", "J|Skipper", f"B|walker||{BLANK}|0|0", f"B|Skipper||{BLANK}|0|0",
        "S|walker|Skipper", "N|walker",
    ]  # fmt: skip
    seen, hits = BLANK, 0
    for at, square in enumerate(squares.rstrip(".")):
        x, y = at % 8, at // 8
        hit = square != "."
        seen, hits = seen[:at] + "0X"[hit] + seen[at + 1 :], hits + hit
        told = lines(game.hear(f"S|Skipper|{x + 1}|{y + 1}".encode()))
        last = hits == 17
        assert told == [
            *(
                [f"H|walker|Skipper|{'abcdefgh'[x]}{y + 1}", f"B|walker||{BLANK}|{hits}|0"]
                if hit
                else []
            ),
            f"B|Skipper||{seen}|0|{at}",
            "N|Skipper",
            "K|Skipper|",
            *(
                [
                    f"F|finished|{at + 1}|2",
                    f"R|walker|17|0|{at + 1}|",
                    f"R|Skipper|0|{at + 1}|{at + 1}|",
                ]
                if last
                else ["N|walker"]
            ),
        ]
    assert game.over
    run = game.run()
    assert (run.turns, run.fault) == (len(squares.rstrip(".")), "")


def test_questions_are_answered_at_any_time() -> None:
    game = LineGame(TRIAL, 0)
    assert game.hear(b"G") == [OFFER]
    assert game.hear(b"P|still there? \r") == [b"P|still there?"]
    game = joined()
    assert game.hear(b"G") == [OFFER.replace(b"|N|2|2|1|", b"|Y|2|2|2|")]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("S|Skipper|1|1", b"protocol error"),
        ("J", b"protocol error"),
        ("hello", b"protocol error"),
        ("P|", b"protocol error"),
        ("|x", b"protocol error"),
        (f"J|walker|{BLANK}", b"invalid board"),
        ("J|walker", b"invalid board"),
    ],
)
def test_who_cannot_join_has_to_go(line: str, answer: bytes) -> None:
    game = LineGame(TRIAL, 0)
    assert game.hear(line.encode()) == [answer]
    assert game.over
    assert not game.begun
    assert game.fault == answer.decode()


def test_another_name_may_be_tried_some_times() -> None:
    game = LineGame(TRIAL, 0)
    for name, words in (
        ("Skipper", "name in use"),
        ("me", "invalid name"),
        ("somebody long", "name too long"),
    ):
        assert game.hear(f"J|{name}|{boat_rows(8, 8)}".encode()) == [f"E|{words}".encode()]
    for _ in range(MOST_NAMES - 4):
        game.hear(b"J|me")
    assert not game.over
    assert game.hear(b"J|me") == [b"protocol error"]
    assert game.over


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("S|nobody|1|1", "invalid target player name"),
        ("S|walker|1|1", "don't shoot at yourself stupid!"),
        ("S|Skipper|9|1", "illegal coordinates"),
        ("S|Skipper", "illegal coordinates"),
    ],
)
def test_a_refused_shot_may_be_made_again(line: str, words: str) -> None:
    game = joined()
    assert game.hear(line.encode()) == [f"M||{words}".encode(), b"N|walker"]
    assert lines(game.hear(b"S|Skipper|1|1"))[-1] == "N|walker"
    assert game.hear(b"S|Skipper|1|1") == [b"M||that spot has already been shot", b"N|walker"]


def test_a_skip_is_a_turn() -> None:
    game = joined()
    assert lines(game.hear(b"K|thinking")) == [
        "K|walker|thinking",
        "N|Skipper",
        "K|Skipper|",
        "N|walker",
    ]
    assert game.run().turns == 1


def test_nobody_talks_back() -> None:
    game = joined()
    assert [
        game.hear(line) for line in (b"M||hello", b"M|Skipper|hello", b"T|hit|ouch", b"J|walker|x")
    ] == [[], [], [], []]
    assert [game.hear(line) for line in (b"what", b"|", b"|x")] == [[b"protocol error"]] * 3
    assert not game.over


@pytest.mark.parametrize(
    ("line", "answer", "fault"),
    [
        (b"L|tired", [b"tired"], "it left"),
        (b"L", [], "it left"),
        (b"", [], "it left: it sent an empty line"),
        (b"P| ", [b"protocol error"], "protocol error"),
    ],
)
def test_a_bot_may_leave(line: bytes, answer: list[bytes], fault: str) -> None:
    game = joined()
    assert game.hear(line) == answer
    assert (game.over, game.run().fault) == (True, fault)


def test_a_bot_that_never_learns_is_given_up() -> None:
    game = joined()
    for _ in range(MOST_REFUSALS):
        game.hear(b"S|Skipper|0|0")
    assert not game.over
    game.hear(b"S|Skipper|0|0")
    assert game.over
    assert "illegal coordinates" in game.run().fault
