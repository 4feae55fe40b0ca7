"""Frames for players: snapshots, events with the player's own view, legal moves and time."""

import json
from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import Battlecube
from botdrome.match.events import Began
from botdrome.match.match import Match, News
from botdrome.match.terms import Terms, paced
from botdrome.wire.battlebot.messages import BadPlayerMessage, PlayerFrames, read_action
from botdrome.wire.writers import MatchHeader, match_status
from tests.match.telling import mark

HEADER = MatchHeader("m1", "noughts-and-crosses", ("ann", "bob"), None, 1_000_000, "slow")


class Play:
    """A match whose players are all told in frames."""

    def __init__(self, match: Match) -> None:
        self.match, self.dialect = match, PlayerFrames(HEADER)

    def tell(
        self, news: News, now: int = 0, players: tuple[int, ...] = (0, 1)
    ) -> list[list[dict[str, Any]]]:
        told = self.dialect.on_news(news, match_status(self.match, now), players)
        return [[json.loads(message) for message in told[player]] for player in players]


def noughts() -> Play:
    row = CATALOGUE["noughts-and-crosses"]
    return Play(Match(row.game, 2, paced(row.terms, "slow"), seed=1))


def seen(play: Play, player: int) -> Any:
    """The view of a player as JSON has it."""
    return json.loads(json.dumps(play.match.view(player)))


def test_a_match_begins_with_a_snapshot_and_the_event() -> None:
    play = noughts()
    ann, bob = play.tell(play.match.start())
    assert ann[0] == {
        "match": "m1", "game": "noughts-and-crosses", "players": ["ann", "bob"], "contest": None,
        "started": 1_000_000, "pace": "slow", "snapshot": True, "t": 0, "bots": ["ann", "bob"],
        "view": seen(play, 0),
    }  # fmt: skip
    assert (
        ann[1]["event"] == {"event": "began", "board": 0, "order": [0, 1]}
        and ann[1]["timeLeft"] == 300_000
    )
    assert len(ann[1]["legal"]) == 9 and "legal" not in bob[1] and bob[1]["view"]["you"] == 1


def test_views_come_without_the_legal_moves() -> None:
    play = noughts()
    with_them = play.tell(play.match.start())[0]
    play.dialect = PlayerFrames(HEADER, legal=False)
    without = play.tell([(Began(0, (0, 1)), play.match.position)])[0]
    assert with_them[1].pop("legal")
    assert without == with_them


def test_a_turn_is_one_frame_with_the_moves_of_the_next_player() -> None:
    play = noughts()
    play.tell(play.match.start())
    (ann,), (bob,) = play.tell(play.match.submit(0, mark(0, 1, 1), 700), 700)
    assert ann == {
        "match": "m1",
        "t": 700,
        "event": {"event": "played", "step": 0, "moves": {"0": mark(0, 1, 1)}},
        "view": seen(play, 0),
        "timeLeft": 300_000,
    }
    assert len(bob["legal"]) == 8


def test_a_refused_move_is_told_to_its_player_alone() -> None:
    play = noughts()
    play.tell(play.match.start())
    (ann,), bob = play.tell(play.match.submit(0, mark(1, 1, 1), 5), 5)
    assert (
        ann["event"]["event"] == "refused"
        and ann["event"]["why"]
        and len(ann["legal"]) == 9
        and bob == []
    )


def test_a_player_that_returns_gets_a_snapshot_and_the_others_an_event() -> None:
    play = noughts()
    play.tell(play.match.start())
    (left,), (bob,) = play.tell(play.match.leave(1, 10), 10)
    assert left["event"] == bob["event"] == {"event": "left", "player": 1}
    (ann,), (snapshot, returned) = play.tell(play.match.rejoin(1, 20), 20)
    assert ann["event"] == returned["event"] == {"event": "returned", "player": 1}
    assert snapshot["snapshot"] and snapshot["t"] == 20


def test_a_player_that_was_told_otherwise_before_gets_a_snapshot() -> None:
    play = noughts()
    play.tell(play.match.start(), players=(0,))
    ((snapshot, _),) = play.tell(play.match.submit(0, mark(0, 1, 1), 700), 700, players=(1,))
    assert snapshot["snapshot"] and snapshot["view"]["board"][1][1] == "X"


def test_the_end_has_neither_time_nor_moves() -> None:
    play = noughts()
    play.tell(play.match.start())
    ann, _ = play.tell(play.match.expel(0, "resigned", 30), 30)
    assert [frame["event"]["event"] for frame in ann] == ["out", "board ended", "ended"]
    assert not any("legal" in frame or "timeLeft" in frame for frame in ann)


def test_the_second_board_has_the_seats_moved_on() -> None:
    row = CATALOGUE["gomoku"]
    play = Play(Match(row.game, 2, row.terms, seed=1))
    play.tell(play.match.start())
    ann, bob = play.tell(play.match.submit(0, "nonsense", 30), 30)
    assert [frame["event"]["event"] for frame in ann] == ["refused", "out", "board ended", "began"]
    assert [frame["view"]["you"] for frame in ann] == [0, 0, 0, 1] and bob[-1]["view"]["you"] == 0
    assert "legal" in bob[-1] and "legal" not in ann[-1]


@pytest.mark.parametrize("game", [Battlecube(edge=10), Battlecube(tasks=2)])
def test_moves_that_cannot_be_listed_are_left_out(game: Battlecube) -> None:
    play = Play(Match(game, 2, Terms(), seed=1))
    ann, _ = play.tell(play.match.start())
    assert "legal" not in ann[-1] and ann[-1]["timeLeft"] == 5000


def test_actions_are_read() -> None:
    assert read_action({"move": {"x": 1}}) == ("move", {"x": 1})
    assert read_action({"resign": True}) == ("resign", True)
    assert read_action({"resign": "no idea"}) == ("resign", "no idea")
    assert read_action({"ping": None}) == ("ping", None)


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        {},
        7,
        {"x": 1},
        {"resign": False},
        {"move": 1, "x": 2},
        {"resign": True, "x": 2},
        {"ping": 1, "x": 2},
    ],
)
def test_what_is_no_action_is_answered_with_what_would_be_one(message: Any) -> None:
    with pytest.raises(
        BadPlayerMessage, match=r'send \{"move": ...\}, \{"resign": true\} or \{"ping": ...\}, not '
    ):
        read_action(message)
