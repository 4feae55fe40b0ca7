"""Duel arena's messages, as its manual shows them."""

import json
from collections.abc import Collection

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.gomoku import Gomoku
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms
from botdrome.wire.duel import Duel, Ignored, starting_game
from botdrome.wire.writers import match_status

BOTH = (0, 1)


class Play:
    """A match of ada and bob, and their messages."""

    def __init__(
        self,
        players: Collection[int] = BOTH,
        terms: Terms = CATALOGUE["gomoku"].terms,
        size: int = 15,
    ) -> None:
        self.players = players
        self.match = Match(Gomoku(size=size), 2, terms, 7)
        self.ids = iter(b"id%d" % number for number in range(1000))
        self.duel = Duel(("ada", "bob"), 15509, lambda: next(self.ids))
        self.now = 0

    def start(self) -> list[list[str]]:
        return self.tell(self.match.start())

    def move(self, player: int, x: int, y: int) -> list[list[str]]:
        return self.tell(self.match.submit(player, {"x": x, "y": y}, self.now))

    def tell(self, news: News) -> list[list[str]]:
        told = self.duel.on_news(news, match_status(self.match, self.now), self.players)
        assert set(told) <= set(self.players)
        return [[message.decode("ascii") for message in told.get(player, [])] for player in BOTH]


def test_the_stones_of_an_opening_are_told_with_the_first_question() -> None:
    play = Play()
    play.match = Match(Gomoku(opening=((7, 7), (8, 8), (6, 6))), 2, CATALOGUE["gomoku"].terms, 7)
    assert '"_moves": [[7, 7], [8, 8], [6, 6]]}' in play.start()[1][1]
    assert '"_moves": [[7, 7], [8, 8], [6, 6], [0, 1]]}' in play.move(1, 0, 1)[0][0]


def test_a_pass_puts_no_stone_on_the_board() -> None:
    play = Play(terms=Terms(Pace(5000), late="pass"))
    play.start()
    play.now = 5000
    assert play.tell(play.match.wake(play.now)) == [
        [],
        [
            '{"event": "get_move", "id": "id1", "board": {"_id": 15509, "_size": 15, '
            '"_win_length": 5, "_moves": []}, "timeout": 5.0, "color": "O"}'
        ],
    ]


def test_a_board_as_the_manual_shows_it() -> None:
    play = Play()
    assert play.start() == [
        [
            '{"event": "starting_game", "against": "bob"}',
            '{"event": "get_move", "id": "id0", "board": {"_id": 15509, "_size": 15, '
            '"_win_length": 5, "_moves": []}, '
            '"timeout": 5.0, "color": "X"}',
        ],
        ['{"event": "starting_game", "against": "ada"}'],
    ]
    assert play.move(0, 5, 8) == [
        [],
        [
            '{"event": "get_move", "id": "id1", "board": {"_id": 15509, "_size": 15, '
            '"_win_length": 5, "_moves": [[5, 8]]}, '
            '"timeout": 5.0, "color": "O"}'
        ],
    ]
    board = '{"_id": 15509, "_size": 15, "_win_length": 5, "_moves": [[5, 8], [4, 0]]}'
    assert play.move(1, 4, 0)[0] == [
        f'{{"event": "get_move", "id": "id2", "board": {board}, "timeout": 5.0, "color": "X"}}'
    ]


def won_by_the_starter(play: Play, starter: int) -> list[list[str]]:
    for step in range(8):
        play.move((starter + step) % 2, step // 2, step % 2)
    return play.move(starter, 4, 0)


def events(messages: list[str]) -> list[tuple[str, int]]:
    """With the board that each is about."""
    return [(message["event"], message["board"]["_id"]) for message in map(json.loads, messages)]


def test_the_result_goes_before_the_next_question_and_the_starter_is_swapped() -> None:
    play = Play()
    play.start()
    told = won_by_the_starter(play, 0)
    assert [events(messages) for messages in told] == [
        [("win", 15509)],
        [("lose", 15509), ("get_move", 15510)],
    ]
    assert json.loads(told[0][0])["board"]["_moves"][-1] == [4, 0]
    assert json.loads(told[1][1])["color"] == "X"
    assert play.duel.moves == 9
    told = won_by_the_starter(play, 1)
    assert [events(messages) for messages in told] == [[("lose", 15510)], [("win", 15510)]]


def test_the_board_is_the_same_text_for_both() -> None:
    play = Play()
    play.start()
    one, two = won_by_the_starter(play, 0)
    assert one[0].partition("board")[2] == two[0].partition("board")[2]


@pytest.mark.parametrize(("x", "y"), [(0, 0), (15, 0), (-1, 3)])
def test_an_illegal_move_loses_the_board_at_once(x: int, y: int) -> None:
    play = Play()
    play.start()
    play.move(0, 0, 0)
    board = '{"_id": 15509, "_size": 15, "_win_length": 5, "_moves": [[0, 0]]}'
    one, two = play.move(1, x, y)
    assert one == [f'{{"event": "win", "board": {board}}}']
    assert two[:2] == [
        f'{{"event": "invalid_move", "x": {x}, "y": {y}, "board": {board}}}',
        f'{{"event": "lose", "board": {board}}}',
    ]
    assert events(two[2:]) == [("get_move", 15510)]


def test_out_of_time_is_an_invalid_move_of_nulls() -> None:
    play = Play()
    play.start()
    play.now = 5499
    assert play.tell(play.match.wake(5499)) == [[], []]
    play.now = 5500
    one, two = play.tell(play.match.wake(5500))
    board = '{"_id": 15509, "_size": 15, "_win_length": 5, "_moves": []}'
    assert one == [
        f'{{"event": "invalid_move", "x": null, "y": null, "board": {board}}}',
        f'{{"event": "lose", "board": {board}}}',
    ]
    assert events(two) == [("win", 15509), ("get_move", 15510)]


def test_whoever_stays_wins_both_boards_at_once() -> None:
    play = Play()
    play.start()
    play.move(0, 7, 7)
    play.players = (1,)
    _, two = play.tell(play.match.leave(0, 10))
    assert events(two) == [("win", 15509), ("win", 15510)]
    assert [json.loads(message)["board"]["_moves"] for message in two] == [[[7, 7]], []]


def test_somebody_of_another_tongue_is_not_asked() -> None:
    play = Play(players=(1,))
    assert play.start() == [[], ['{"event": "starting_game", "against": "ada"}']]
    assert events(play.move(0, 7, 7)[1]) == [("get_move", 15509)]
    assert play.move(1, 7, 8) == [[], []]
    with pytest.raises(Ignored, match="no move is asked for"):
        play.duel.read_move(1, {"id": "id0", "x": 1, "y": 1})
    _, two = play.move(0, 7, 7)
    assert events(two) == [("win", 15509), ("get_move", 15510)]
    assert play.move(1, 3, 3) == [[], []]
    assert play.tell(play.match.expel(0, "expelled", 20))[1] != []


def test_a_move_out_of_turn_is_nobody_s_fault() -> None:
    play = Play()
    play.start()
    assert play.move(1, 7, 7) == [[], []]


@pytest.mark.parametrize(("draws", "told"), [(set(), ["get_move"]), ({1}, ["draw", "get_move"])])
def test_a_full_board_is_told_to_those_alone_who_asked_for_it(
    draws: set[int], told: list[str]
) -> None:
    play = Play(size=5)
    play.duel.draws |= draws
    play.start()
    marks = ["XXOOX", "OOXXO", "XXOOX", "OOXXO", "XXOOX"]
    places = {
        mark: [(x, y) for y in range(5) for x in range(5) if marks[y][x] == mark] for mark in "XO"
    }
    for step in range(25):
        one, two = play.move(step % 2, *places["XO"[step % 2]][step // 2])
    assert one == []
    assert [event for event, _ in events(two)] == told
    assert len(json.loads(two[-2])["board"]["_moves"]) == 25 if draws else True


def test_a_turn_that_passes_adds_no_stone() -> None:
    play = Play(terms=Terms(Pace(None), late="pass", gone="pass"))
    assert json.loads(play.start()[0][1])["timeout"] is None
    play.move(0, 7, 7)
    one, _ = play.tell(play.match.leave(1, 0))
    assert json.loads(one[0])["board"]["_moves"] == [[7, 7]]
    assert play.duel.moves == 1


def test_whoever_takes_over_is_told_where_it_stands_and_asked_anew() -> None:
    play = Play()
    play.start()
    play.now = 1500
    again = play.duel.resume(0, match_status(play.match, 1500))
    assert again[0] == starting_game("bob")
    question = json.loads(again[1])
    assert (question["id"], question["timeout"], question["color"]) == ("id1", 3.5, "X")
    assert play.duel.resume(1, match_status(play.match, 1500)) == [starting_game("ada")]
    with pytest.raises(Ignored):
        play.duel.read_move(0, {"id": "id0", "x": 1, "y": 1})
    assert play.duel.read_move(0, {"id": "id1", "x": 1, "y": 1}) == {"x": 1, "y": 1}


def test_names_are_written_as_python_writes_them() -> None:
    assert (
        starting_game('\u017dofie \u26a1 "x"')
        == b'{"event": "starting_game", "against": "\\u017dofie \\u26a1 \\"x\\""}'
    )
