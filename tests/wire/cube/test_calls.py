"""The calls to Battlecube's bots, and their answers."""

import json
from typing import Any

import pytest

from botdrome.games.battlecube import Battlecube
from botdrome.games.options import with_options
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms
from botdrome.wire import cube as cube_writer
from botdrome.wire.cube import CubeWriter, UnreadableAnswer, read_answer
from botdrome.wire.writers import match_status

NOOP = {"task": "NOOP"}
RECORDED = (
    '{"currentPlayer":{"name":"Ann","url":"http://127.0.0.1:4701"},"gameInfo":{"id":"abc",'
    '"edgeLength":4,"numOfTasksPerTick":1,'
    '"numOfBotsInPlay":2,"currentTick":0},"players":[{"name":"Ann","x":1,"y":0,"z":0},'
    '{"name":"Bob","x":3,"y":3,"z":3}],"items":[]}'
)


def writer(match: Match) -> CubeWriter:
    return CubeWriter(
        "abc", ("Ann", "Bob"), ("http://127.0.0.1:4701", "http://127.0.0.1:4702"), match.position
    )


class Called:
    """Two bots that are called, or one beside another that is not."""

    def __init__(self, players: tuple[int, ...] = (0, 1), pause: int = 0, **options: Any) -> None:
        game = with_options(Battlecube(edge=4, starts=((1, 0, 0), (3, 3, 3))), options)
        self.match, self.players = (
            Match(game, 2, Terms(Pace(5000, pause=pause), strikes=1), seed=1),
            players,
        )
        self.calls = writer(self.match)
        self.first = self.hear(self.match.start())

    def hear(self, news: News) -> dict[int, Any]:
        if not news:
            return {}
        told = self.calls.on_news(news, match_status(self.match, 0), self.players)
        return {
            player: json.loads(messages[0])
            for player, messages in told.items()
            if len(messages) == 1
        }


def test_the_body_is_that_of_the_original() -> None:
    match = Match(Battlecube(edge=4, starts=((1, 0, 0), (3, 3, 3))), 2, Terms(), seed=1)
    told = writer(match).on_news(match.start(), match_status(match, 0), (0, 1))
    assert told[0] == [RECORDED.encode()]
    assert b'"currentPlayer":{"name":"Bob","url":"http://127.0.0.1:4702"}' in told[1][0]


def test_bots_and_watchers_get_the_same_state() -> None:
    game = Called()
    (called,) = game.calls.next_tick()
    (watched,) = writer(game.match).next_tick()
    state = "{" + RECORDED.partition("},")[2]
    assert called.packet == watched.packet == f'42["NEXT_TICK",{state}]'.encode()


def test_a_large_state_is_one_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parts together are the whole body."""
    whole = Called().first
    monkeypatch.setattr(cube_writer, "LARGE", 10)
    match = Match(Battlecube(edge=4, starts=((1, 0, 0), (3, 3, 3))), 2, Terms(), seed=1)
    told = writer(match).on_news(match.start(), match_status(match, 0), (0, 1))
    assert {player: json.loads(b"".join(parts)) for player, parts in told.items()} == whole
    assert told[0][1] is told[1][1]


def test_each_step_is_asked_once() -> None:
    game = Called()
    assert game.hear(game.match.submit(0, [NOOP], 1)) == {}
    told = game.hear(game.match.submit(1, [NOOP], 2))
    assert {player: body["gameInfo"]["currentTick"] for player, body in told.items()} == {
        0: 1,
        1: 1,
    }


def test_nothing_is_asked_when_a_move_was_refused_or_the_setup_changes() -> None:
    game = Called(edge=5)
    assert game.hear(game.match.amend({"edge": 4}, 1)) == {}
    assert game.hear(game.match.submit(0, 5, 1)) == {}


def test_planned_ticks_call_no_bot() -> None:
    game = Called(tasks=2, pause=40)
    game.match.submit(0, [NOOP] * 2, 0)
    assert game.hear(game.match.submit(1, [NOOP] * 2, 0)) == {}
    assert set(game.hear(game.match.wake(40))) == {0, 1}


def test_only_living_bots_with_a_url_are_called() -> None:
    game = Called(players=(1,))
    assert set(game.first) == {1}
    game.match.submit(0, [NOOP], 1)
    assert game.hear(game.match.submit(1, [{"task": "MOVE", "direction": "+X"}], 1)) == {}, (
        "nobody is left to be asked"
    )


def test_no_bot_is_called_after_the_end() -> None:
    game = Called()
    assert game.hear(game.match.abort(5)) == {}


@pytest.mark.parametrize(
    ("body", "answer"),
    [(b"[]", []), (b' [{"task":"NOOP"}]\n', [NOOP]), (b'"[]"', "[]"), (b"null", None)],
)
def test_any_json_is_an_answer(body: bytes, answer: Any) -> None:
    assert read_answer(body) == answer


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"[",
        b"\xef\xbb\xbf[]",
        b'["\xff"]',
        b"[NaN]",
        b"[" * 100_000,
        b"[" * 900 + b"]" * 900,
    ],
)
def test_an_answer_must_be_json(body: bytes) -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer(body)
