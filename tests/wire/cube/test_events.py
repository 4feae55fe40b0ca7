"""A Battlecube game in events, from the news of a match."""

from typing import Any

import pytest

from botdrome.games.battlecube import Battlecube
from botdrome.games.options import with_options
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms
from botdrome.wire import cube
from botdrome.wire.cube import CubeEvent, CubeWriter
from botdrome.wire.writers import MatchHeader

Told = tuple[str, Any]

NOOP = {"task": "NOOP"}
EAST = {"task": "MOVE", "direction": "+X"}
WEST = {"task": "MOVE", "direction": "-X"}


class Game:
    """A match of Ann in a corner and Bob in the opposite one, and all that is told of it."""

    def __init__(self, pause: int = 0, **options: Any) -> None:
        game = with_options(Battlecube(edge=3, starts=((0, 0, 0), (2, 2, 2))), options)
        self.match = Match(game, 2, Terms(Pace(5000, pause=pause), strikes=1), seed=1)
        self.writer = CubeWriter(
            "abc", ("Ann", "Bob"), ("http://a", "http://b"), self.match.position
        )
        self.hear(self.match.start())

    def hear(self, news: News) -> list[Told]:
        told = self.writer.events(news)
        return plain(
            told if self.match.resting or self.match.result else told + self.writer.next_tick()
        )

    def answers(self, ann: Any, bob: Any, now: int = 0) -> list[Told]:
        return self.hear(self.match.submit(0, ann, now)) + self.hear(self.match.submit(1, bob, now))

    def end(self, with_urls: bool = True) -> Any:
        assert self.writer.final is not None
        return self.writer.game_ended(self.writer.final, with_urls).payload


def plain(events: list[CubeEvent]) -> list[Told]:
    return [(event.name, event.payload) for event in events]


def names(told: list[Told]) -> list[str]:
    return [event for event, _ in told]


def state(tick: int, *players: dict[str, Any], items: Any = (), tasks: int = 1) -> Told:
    info = {
        "id": "abc",
        "edgeLength": 3,
        "numOfTasksPerTick": tasks,
        "numOfBotsInPlay": len(players),
        "currentTick": tick,
    }
    return "NEXT_TICK", {"gameInfo": info, "players": list(players), "items": list(items)}


def player(name: str, x: int, y: int, z: int) -> dict[str, Any]:
    return {"name": name, "x": x, "y": y, "z": z}


def test_one_tick_in_all_its_events() -> None:
    told = Game().answers([EAST], [{"task": "PLACE_BOMB", "x": 0, "y": 0, "z": 0}])
    assert told == [
        (
            "PLAYER_MOVE_ATTEMPT",
            {"name": "Ann", "x": 1, "y": 0, "z": 0, "direction": "+X", "id": "abc"},
        ),
        ("PLAYER_PLACED_BOMB", {"x": 0, "y": 0, "z": 0, "name": "Bob", "id": "abc"}),
        state(
            1,
            player("Ann", 1, 0, 0),
            player("Bob", 2, 2, 2),
            items=[{"x": 0, "y": 0, "z": 0, "type": "BOMB"}],
        ),
    ]


def test_events_that_come_again_are_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cube, "MOST_EVENTS", 2)
    game = Game()
    ticks = [game.answers([NOOP], [task]) for task in (NOOP, WEST, EAST, NOOP)]
    assert [names(told)[1] for told in ticks] == [
        "PLAYER_DID_NOTHING",
        "PLAYER_MOVE_ATTEMPT",
        "PLAYER_MOVE_ATTEMPT",
        "PLAYER_DID_NOTHING",
    ]
    assert ticks[0][:2] == ticks[3][:2]


def test_the_first_state_comes_before_anything_else() -> None:
    assert Game().writer.next_tick() == [], "it has been told"
    game = Match(Battlecube(edge=3, starts=((0, 0, 0),)), 1, Terms(), seed=1)
    writer = CubeWriter("abc", ("Ann",), (), game.position)
    assert writer.events(game.start()) == []
    assert plain(writer.next_tick()) == [state(0, player("Ann", 0, 0, 0))]


def test_of_a_round_of_several_tasks_every_tick_has_its_state() -> None:
    told = Game(tasks=2).answers([EAST, WEST], [NOOP, NOOP])
    assert names(told) == ["PLAYER_MOVE_ATTEMPT", "PLAYER_DID_NOTHING", "NEXT_TICK"] * 2
    assert told[2] == state(1, player("Ann", 1, 0, 0), player("Bob", 2, 2, 2), tasks=2)


def test_with_a_pause_the_next_state_comes_when_it_is_over() -> None:
    game = Game(pause=40, tasks=2)
    assert names(game.answers([NOOP] * 2, [NOOP] * 2)) == ["PLAYER_DID_NOTHING"] * 2
    assert names(game.hear(game.match.wake(40))) == [
        "NEXT_TICK",
        "PLAYER_DID_NOTHING",
        "PLAYER_DID_NOTHING",
    ]
    assert names(game.hear(game.match.wake(80))) == ["NEXT_TICK"]


def test_losing_by_the_rules() -> None:
    game = Game()
    told = game.answers([WEST], [NOOP])
    assert told[1] == (
        "PLAYER_LOST",
        {"cause": "Player moved out of bounds", "name": "Ann", "id": "abc"},
    )
    assert names(told) == ["PLAYER_MOVE_ATTEMPT", "PLAYER_LOST", "PLAYER_DID_NOTHING"]
    bob = {"name": "Bob", "url": "http://b", "highScore": 1, "score": 1}
    ann = {"name": "Ann", "url": "http://a", "highScore": 0, "score": 0}
    assert game.end() == {
        "winner": bob,
        "scores": [ann, bob],
        "id": "abc",
        "result": "WINNER_FOUND",
    }
    assert game.end(with_urls=False)["winner"] == {"name": "Bob", "highScore": 1, "score": 1}


def lost(told: list[Told]) -> Any:
    return next(payload for event, payload in told if event == "PLAYER_LOST")


def test_a_wrong_number_of_tasks() -> None:
    told = lost(Game().answers([NOOP, NOOP], [NOOP]))
    assert told == {
        "cause": {"error": "VALIDATION_ERROR", "details": "Invalid amount of directions sent"},
        "name": "Ann",
        "details": "Invalid amount of directions sent: 2, where exactly 1 must be",
        "id": "abc",
    }


def test_a_wrong_shape_is_told_as_in_the_original() -> None:
    assert lost(Game().answers(5, [NOOP]))["cause"]["details"] == [
        {
            "message": '"value" must be an array',
            "path": [],
            "type": "array.base",
            "context": {"label": "value"},
        }
    ]
    assert lost(Game(tasks=2).answers([NOOP, {"task": ""}], [NOOP] * 2))["cause"]["details"] == [
        {
            "message": '"value" at position 1 does not match any of the allowed types',
            "path": [1],
            "type": "array.includes",
            "context": {"pos": 1, "key": 1, "label": "value"},
        }
    ]


def test_a_wrong_shape_inside_a_text() -> None:
    told = lost(Game().answers('[{"task": "NOOP", "why": 1}]', [NOOP]))
    assert (
        told["cause"]["details"][0]["message"]
        == '"value" at position 0 does not match any of the allowed types'
    )


def test_a_missing_answer_is_explained() -> None:
    game = Game()
    game.writer.reasons[0] = "127.0.0.1:1 refused the connection"
    game.match.expel(0, "disconnect", 5, "there is no answer")
    told = game.hear(game.match.submit(1, [NOOP], 6))
    assert lost(told) == {
        "cause": "CONNECTION_ERROR",
        "name": "Ann",
        "details": "127.0.0.1:1 refused the connection",
        "id": "abc",
    }
    game = Game()
    assert lost(game.hear(game.match.wake(5000)))["details"] == "no move within 5000 ms"
    game = Game()
    game.match.leave(0, 5)
    assert lost(game.hear(game.match.submit(1, [NOOP], 6)))["details"] == "disconnect"


def test_a_tie_and_a_game_that_was_stopped() -> None:
    game = Game(ticks=1)
    game.answers([NOOP], [NOOP])
    assert game.end(with_urls=False) == {
        "scores": [
            {"name": "Ann", "highScore": 1, "score": 1},
            {"name": "Bob", "highScore": 1, "score": 1},
        ],
        "id": "abc",
        "result": "TIE",
    }
    game = Game()
    game.hear(game.match.abort(5))
    assert game.end()["result"] == "STOPPED"


def test_another_edge_is_shown_with_the_next_state() -> None:
    game = Game()
    assert game.hear(game.match.amend({"edge": 9}, 5)) == []
    told = game.answers([NOOP], [NOOP])
    assert told[-1][1]["gameInfo"]["edgeLength"] == 9


def test_an_event_is_encoded_once_for_all_watchers() -> None:
    event = CubeEvent("GAME_STARTED", {"id": "😀"})
    assert event.packet == '42["GAME_STARTED",{"id":"😀"}]'.encode()
    assert event.packet is event.packet


def test_all_bots_of_a_game_share_its_writer() -> None:
    writer = Game().writer
    assert writer.for_match(MatchHeader("abc", "battlecube", ("Ann", "Bob"), None, 0)) is writer
