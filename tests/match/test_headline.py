"""Headlines: every outcome of a match in one line."""

from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.match.events import Event, Refused
from botdrome.match.headline import Headlines, headlines_of, ordinal
from botdrome.match.match import Match
from botdrome.match.record import match_file, read
from botdrome.match.terms import Pace, Terms

STRICT = Terms(Pace(5000), strikes=3)
CENTRE = {"mark": "X", "space": [1, 1]}


class Course:
    """A match and its headlines."""

    def __init__(
        self, game: str = "noughts-and-crosses", players: int = 2, terms: Terms = STRICT
    ) -> None:
        self.match = Match(CATALOGUE[game].game, players, terms, 1)
        self.headlines = Headlines()
        self.take(self.match.start())

    def take(self, news: Any) -> None:
        for event, position in news:
            self.headlines.add(event, position)

    def submit(self, player: int, raw: Any, now: int = 0) -> None:
        self.take(self.match.submit(player, raw, now))

    def expel(self, player: int, *why: Any) -> None:
        self.take(self.match.expel(player, why[0], 0, *why[1:]))

    @property
    def all(self) -> list[str]:
        return [self.headlines.of(player) for player in range(self.match.players)]


def test_the_third_illegal_move() -> None:
    course = Course()
    course.submit(0, CENTRE)
    assert course.all == ["still playing at step 1"] * 2
    for _ in range(3):
        course.submit(1, CENTRE | {"mark": "O"})
    story = "space [1, 1] is taken, third illegal move"
    assert course.all[1] == f"lost at step 1: {story}"
    assert course.all[0] == f"won at step 1: the opponent is out: {story}"
    assert headlines_of(read(match_file(course.match, ("a", "b"))), course.match.game) == tuple(
        course.all
    )


def test_a_timeout_after_a_refused_move_names_the_refusal() -> None:
    course = Course()
    course.submit(0, 5)
    course.take(course.match.wake(5000))
    assert (
        course.all[0]
        == "lost at step 0: a move is a JSON object, not 5, and no legal move within 5000 ms"
    )


def test_a_plain_timeout_and_a_late_move() -> None:
    course = Course()
    course.submit(0, CENTRE, now=5312)
    assert course.all[0] == "lost at step 0: no move within 5000 ms, late by 312 ms"
    quiet = Course()
    quiet.take(quiet.match.wake(5000))
    assert quiet.all[0] == "lost at step 0: no move within 5000 ms"


def test_a_late_move_of_a_player_that_stays_is_no_news() -> None:
    course = Course(terms=Terms(Pace(5000), late="pass"))
    course.submit(0, CENTRE, now=5312)
    assert course.all[0] == "still playing at step 1"


@pytest.mark.parametrize(
    ("why", "story"),
    [
        (
            ("crash", "KeyError: 'x' (line 2 of my_bot.py)"),
            "crash: KeyError: 'x' (line 2 of my_bot.py)",
        ),
        (("resigned",), "resigned"),
        (("timeout",), "timeout"),
        (("illegal moves",), "first illegal move"),
    ],
)
def test_other_causes(why: Any, story: str) -> None:
    course = Course()
    course.expel(1, *why)
    assert course.all[1] == f"lost at step 0: {story}"


def test_an_end_by_the_rules() -> None:
    course = Course()
    for number, space in enumerate([[0, 0], [1, 0], [0, 1], [1, 1], [0, 2]]):
        course.submit(number % 2, {"mark": "XO"[number % 2], "space": space})
    assert course.all == ["won at step 5", "lost at step 5"]


def test_a_draw() -> None:
    course = Course()
    for number, space in enumerate(
        [[0, 0], [1, 1], [2, 2], [0, 1], [2, 1], [2, 0], [0, 2], [1, 2], [1, 0]]
    ):
        course.submit(number % 2, {"mark": "XO"[number % 2], "space": space})
    assert course.all == ["drew at step 9"] * 2


def test_matches_that_were_aborted_or_left() -> None:
    course = Course()
    course.take(course.match.abort(0))
    assert course.all == ["aborted at step 0"] * 2
    left = Course(terms=Terms(Pace(5000), gone="pass"))
    left.take(left.match.leave(0, 0))
    left.take(left.match.leave(1, 0))
    assert left.all == ["drew at step 1: disconnect"] * 2


def test_more_than_two_players() -> None:
    course = Course("battleship", 4, Terms(Pace(5000)))
    course.take(course.match.conclude(0))
    assert course.all == ["tied for first of 4 at step 0"] * 4
    other = Course("battlecube", 4, Terms(Pace(5000)))
    for player in range(3):
        other.expel(player, "flood")
    other.submit(3, next(iter(other.match.position.moves(3))))
    assert [line.partition(";")[2] for line in other.all[:3]] == [" tied for second of 4"] * 3
    assert other.all[3].startswith("won at step ")


def test_a_player_alone() -> None:
    course = Course("battlecube", 1, Terms(Pace(5000)))
    course.take(course.match.conclude(0))
    assert course.all == ["ended at step 0"]


def test_several_boards() -> None:
    course = Course("gomoku", terms=Terms(Pace(5000), strikes=1, boards=2))
    course.submit(0, 5)
    assert course.all[0].startswith("out at step 0: a move is")
    course.take(course.match.expel(0, "crash", 0, "it ended"))
    assert course.all[0] == "lost at step 0 on board 2: crash: it ended"
    dismissed = Course("gomoku", terms=Terms(Pace(5000), strikes=1, boards=2))
    dismissed.expel(0, "crash", "it ended")
    assert dismissed.all[0] == "lost at step 0: crash: it ended"


def test_ordinals() -> None:
    words = [ordinal(number) for number in (1, 10, 11, 12, 13, 21, 22, 23, 24, 111)]
    assert words == [
        "first",
        "tenth",
        "11th",
        "12th",
        "13th",
        "21st",
        "22nd",
        "23rd",
        "24th",
        "111th",
    ]


def test_refusals_without_penalty_are_counted() -> None:
    headlines = Headlines()
    for _ in range(30):
        headlines.add(Refused(0, "there is a crate", "MOVE_UP", 0))
    headlines.add(Event())
    assert headlines.of(0) == "still playing at step 0"


def test_the_verdict_of_a_match_that_ended_by_the_rules() -> None:
    course = Course()
    assert (course.headlines.verdict(("ann", "bob")), course.headlines.losers) == (
        "",
        frozenset(),
    ), "it is still played"
    for player, space in enumerate(([0, 0], [1, 0], [0, 1], [1, 1], [0, 2])):
        course.submit(player % 2, {"mark": "XO"[player % 2], "space": space})
    words = "ann has three in a row: [0, 0], [0, 1], [0, 2]"
    assert (course.headlines.verdict(("ann", "bob")), course.headlines.losers) == (
        words,
        frozenset({1}),
    )


def test_other_ends_have_headlines_alone() -> None:
    course = Course()
    course.expel(1, "crash")
    assert (course.headlines.verdict(("ann", "bob")), course.headlines.losers) == (
        "",
        frozenset({1}),
    )
    aborted = Course()
    aborted.expel(0, "aborted")
    assert aborted.headlines.verdict(("ann", "bob")) == ""


def test_the_verdict_of_several_boards_counts_them() -> None:
    course = Course(terms=Terms(Pace(5000), boards=2))
    for board in range(2):
        for turn, space in enumerate(([0, 0], [1, 0], [0, 1], [1, 1], [0, 2])):
            course.submit((turn + board) % 2, {"mark": "XO"[turn % 2], "space": space})
    assert course.headlines.verdict(("ann", "bob")) == "boards won: ann 1, bob 1"
