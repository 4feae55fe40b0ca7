"""The native tongue: as the original spoke it for its games, and in the same manner for
the others.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.games.chance import Chance
from botdrome.games.gomoku import KNOWN_STONES
from botdrome.games.reading import UNREADABLE
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms
from botdrome.wire.battlebot.messages import (
    DECODER,
    ENCODER,
    Battlebot,
    UpdateParts,
    greeting,
    update_of,
)
from botdrome.wire.boats.lines import plain_shots
from botdrome.wire.writers import MatchHeader, match_status
from tests.docs.example_game import FORMAT as ROCK_PAPER_SCISSORS
from tests.match.telling import mark
from tests.server.rooms.boats.clients import BOARD

RECORDINGS = Path(__file__).parent / "recordings"
UPDATES = [
    json.loads(line)["update"]
    for line in (Path(__file__).parents[2] / "games/bumblebots/updates.jsonl")
    .read_text()
    .splitlines()
]
NAMES = ("Ada", "Bob")


class Conversation:
    """A match, and the messages to each player."""

    def __init__(
        self, row: CatalogueEntry, names: tuple[str, ...] = NAMES, extras: bool = False
    ) -> None:
        self.match = Match(row.game, len(names), row.terms, seed=1)
        header = MatchHeader("", row.name, names, None, 1_000_000)
        self._writer = Battlebot(header, extras)
        self.told: list[list[Any]] = [[] for _ in names]
        self.hear(self.match.start(), 0)

    def hear(self, news: News, now: int) -> None:
        told = (
            self._writer.on_news(news, match_status(self.match, now), range(self.match.players))
            if news
            else {}
        )
        for player, messages in told.items():
            self.told[player] += map(json.loads, messages)

    def say(self, player: int, raw: Any, now: int = 0) -> None:
        self.hear(self.match.submit(player, raw, now), now)


def recorded(scenario: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (RECORDINGS / f"battlebot-nac-{scenario}.jsonl").read_text().splitlines()
    ]


def without_times(message: dict[str, Any]) -> dict[str, Any]:
    return message | {"turn": message["turn"] | {"time": 0}} if "turn" in message else message


@pytest.mark.parametrize("scenario", ["win", "invalid", "timeout", "disconnect"])
def test_the_original_said_the_same(scenario: str) -> None:
    lines = recorded(scenario)
    names = tuple(dict.fromkeys(line["bot"] for line in lines if line["dir"] == "open"))
    began = next(line["t"] for line in lines if "state" in line.get("msg", {}))
    terms = Terms(Pace(4000), strikes=3, hasty="illegal")
    talk = Conversation(CatalogueEntry(CATALOGUE["noughts-and-crosses"].game, terms), names)
    for line in lines:
        now = int(line["t"] - began)
        if line["dir"] == "send" and "gameType" not in line["msg"]:
            talk.say(names.index(line["bot"]), line["msg"], now)
        elif line.get("note") == "client closed":
            talk.hear(talk.match.leave(names.index(line["bot"]), now), now)
    talk.hear(talk.match.wake(4000), 4000)
    for player, name in enumerate(names):
        heard = [
            line["msg"]
            for line in lines
            if line["dir"] == "recv" and line["bot"] == name and "state" in line["msg"]
        ]
        said = [without_times(message) for message in talk.told[player]]
        if scenario == "disconnect" and player == 1:
            assert len(said) == len(heard) + 1, (
                "the one who left has nobody to listen to the last word"
            )
            said.pop()
        assert json.dumps(said) == json.dumps([without_times(message) for message in heard]), (
            "keys in the same order"
        )


def test_the_greeting_is_the_answer_to_a_login() -> None:
    assert json.loads(greeting("noughts-and-crosses", "Bob")) == {
        "authentication": "OK",
        "gameType": "NOUGHTS_AND_CROSSES",
        "name": "Bob",
    }


@pytest.mark.parametrize(
    ("said", "repeated"),
    [
        ("1.0", "1"),
        ("-0.0", "0"),
        ("2e0", "2"),
        ("1e20", "1" + "0" * 20),
        ("0.5", "0.5"),
        ("1e300", "1e300"),
        ("1e-400", "0"),
        ("1e400", "null"),
        ("-1e400", "null"),
        ("9" * 400 + ".5", "null"),
        ("12345678901234567890123", "12345678901234567890123"),
        ('{"space":[1.0,true,1e400]}', '{"space":[1,true,null]}'),
    ],
)
def test_numbers_are_repeated_as_javascript_does(said: str, repeated: str) -> None:
    """A client in a language with types reads 1 where it wants a whole number, and fails at 1.0."""
    assert ENCODER.encode(DECODER.decode(said)).decode() == repeated


@pytest.mark.parametrize(
    "said", ["NaN", "Infinity", "-Infinity", "[1e400, NaN]", "1.", "01.5", "1.0x", "9" * 5000]
)
def test_what_is_no_number_is_not_read(said: str) -> None:
    with pytest.raises(UNREADABLE):
        DECODER.decode(said)


def test_a_turn_has_the_time_of_day() -> None:
    talk = Conversation(CATALOGUE["noughts-and-crosses"])
    talk.say(0, mark(0, 1, 1), 250)
    assert talk.told[1][-1]["turn"]["time"] == 1_000_250


@pytest.mark.parametrize(
    ("sent", "spread"),
    [
        (["a", 1], {"0": "a", "1": 1}),
        ("no", {"0": "n", "1": "o"}),
        (5, {}),
        (None, {}),
        ([], {}),
        ({"type": "x", "name": "y"}, {}),
    ],
)
def test_a_turn_that_is_no_object_is_spread_into_one(sent: Any, spread: dict[str, Any]) -> None:
    talk = Conversation(CATALOGUE["noughts-and-crosses"])
    talk.say(0, sent)
    assert talk.told[0][-1]["turn"] == spread | {"name": "Ada", "time": 1_000_000, "valid": False}


def test_a_turn_from_another_protocol_is_told_whole() -> None:
    """Readers of other protocols share parsed moves, which are dictionaries of their own kind."""
    told = {"name": "Ada", "time": 1_000_000, "valid": True}
    talk = Conversation(CATALOGUE["gomoku"])
    talk.say(0, KNOWN_STONES[3, 4])
    assert talk.told[1][-1]["turn"] == {"x": 3, "y": 4} | told
    talk = Conversation(CATALOGUE["battleship"])
    for player in range(2):
        talk.say(player, {"board": BOARD})
    talk.say(0, plain_shots(1, 10, 10)[b"3|4"])
    assert talk.told[1][-1]["turn"] == {"target": 1, "x": 2, "y": 3} | told


def test_bumblebots_is_flat_and_by_name() -> None:
    talk = Conversation(CATALOGUE["bumblebots"])
    first = talk.told[0][0]
    assert set(first) >= {
        "bots",
        "spawnPoints",
        "territory",
        "maxDrones",
        "board",
        "drones",
        "score",
        "result",
        "turnNumber",
    }
    assert "you" not in first
    assert "state" not in first
    assert first["bots"] == ["Ada", "Bob"]
    assert first["territory"] == {"Ada": 5, "Bob": 6}
    assert first["score"] == {"Ada": 0, "Bob": 0}
    assert first["spawnPoints"]["Ada"] == [[1, 3], [1, 4], [1, 5]]
    for tick in range(100):
        talk.hear(talk.match.wake(500 + 250 * tick), 500 + 250 * tick)
    assert len(talk.told[0]) == 101
    assert talk.told[0] == talk.told[1]
    assert talk.told[0][-1]["turnNumber"] == 100
    assert list(talk.told[0][-1]["result"].items()) == [
        ("victor", None),
        ("reason", "BUMBLEBOTS_FULL_TIME"),
    ]


def test_bumblebots_has_the_keys_of_the_original_in_their_order_and_our_own_on_request() -> None:
    original = [
        "bots",
        "spawnPoints",
        "territory",
        "maxDrones",
        "board",
        "drones",
        "score",
        "result",
        "turnNumber",
    ]
    assert list(Conversation(CATALOGUE["bumblebots"]).told[0][0]) == original
    extended = Conversation(CATALOGUE["bumblebots"], extras=True).told[0][0]
    assert list(extended) == [*original, "ticks", "record"]
    assert extended["ticks"] == 100
    assert extended["record"]["Ada"] == {"missed": 0, "invalid": 0, "blocked": 0}


@pytest.mark.parametrize("update", UPDATES)
def test_an_update_of_bumblebots_has_the_bytes_of_the_original(update: dict[str, Any]) -> None:
    by_name = {"spawnPoints", "territory", "drones", "score"}
    view = {key: list(value.values()) if key in by_name else value for key, value in update.items()}
    bots = tuple(update["bots"])
    scene = UpdateParts(bots, bots, None, (0, 0), (), None, None)
    assert ENCODER.encode(update_of("bumblebots", extras=False)(scene, view)) == ENCODER.encode(
        update
    )


def test_a_match_of_the_original_has_no_record_of_conduct() -> None:
    view = CATALOGUE["bumblebots"].game.start(2, Chance(1)).view(None)
    del view["record"]
    scene = UpdateParts(NAMES, NAMES, None, (0, 0), (), None, None)
    assert list(update_of("bumblebots", extras=True)(scene, view))[-2:] == ["turnNumber", "ticks"]


def test_a_bot_is_told_the_id_with_which_it_can_come_back() -> None:
    view = CATALOGUE["gomoku"].game.start(2, Chance(1)).view(None)
    state = update_of("gomoku", extras=True)(
        UpdateParts(NAMES, NAMES, None, (0, 0), (), None, None, match="m1"), view
    )["state"]
    assert state["match"] == "m1"


@pytest.mark.parametrize("nonsense", [None, 5, "go", [], {"orders": None}, {"orders": "UL"}])
def test_bumblebots_answers_nothing_to_what_are_no_orders(nonsense: Any) -> None:
    """A client that counts updates would take an answer for the next tick."""
    talk = Conversation(CATALOGUE["bumblebots"])
    talk.say(0, nonsense, 100)
    assert [len(told) for told in talk.told] == [1, 1]
    talk.say(0, nonsense, 507)
    assert [[message["turnNumber"] for message in told] for told in talk.told] == [[0, 1], [0, 1]]


def test_bumblebots_without_bots_ends_as_a_disconnection() -> None:
    talk = Conversation(CATALOGUE["bumblebots"])
    talk.hear(talk.match.leave(0, 1), 1)
    talk.hear(talk.match.leave(1, 2), 2)
    assert talk.told[0][-1]["result"] == {"reason": "BUMBLEBOTS_DISCONNECT", "victor": None}


def test_any_other_game_is_its_view_with_who_is_awaited_and_for_how_long() -> None:
    talk = Conversation(ROCK_PAPER_SCISSORS)
    assert talk.told[1] == [
        {
            "state": {
                "you": 1, "toMove": [0, 1], "round": 0, "rounds": 5, "scores": [0, 0],
                "thrown": [None, None], "bots": ["Ada", "Bob"], "waitingFor": ["Ada", "Bob"],
                "timeLeft": 5000, "result": None,
            }
        }
    ]  # fmt: skip


def test_a_refused_move_comes_with_the_reason_to_its_sender_alone() -> None:
    talk = Conversation(ROCK_PAPER_SCISSORS)
    talk.say(0, {"throw": "gun"}, 1200)
    assert talk.told[0][-1]["why"] == "a throw is rock, paper, scissors, not 'gun'"
    assert talk.told[0][-1]["turn"] == {
        "throw": "gun",
        "name": "Ada",
        "time": 1_001_200,
        "valid": False,
    }
    assert talk.told[0][-1]["state"]["timeLeft"] == 3800
    assert len(talk.told[1]) == 1


def test_a_late_move_is_told_by_how_much() -> None:
    row = CatalogueEntry(ROCK_PAPER_SCISSORS.game, Terms(Pace(5000), late="pass"))
    talk = Conversation(row)
    talk.say(0, {"throw": "rock"}, 5037)
    assert [message.get("why") for message in talk.told[0]] == [None, None, "late by 37 ms"]


def test_the_end_names_places_scores_and_causes() -> None:
    talk = Conversation(ROCK_PAPER_SCISSORS)
    for _ in range(5):
        talk.say(0, {"throw": "rock"})
        talk.say(1, {"throw": "paper"})
    last = talk.told[0][-1]["state"]
    assert last["waitingFor"] == []
    assert last["result"] == {
        "reason": "complete",
        "victor": "Bob",
        "players": {
            "Ada": {"place": 2, "score": 0, "cause": "complete"},
            "Bob": {"place": 1, "score": 5, "cause": "complete"},
        },
    }


def test_seats_are_named_anew_on_every_board() -> None:
    talk = Conversation(CATALOGUE["gomoku"])
    assert talk.told[0][0]["state"]["bots"] == ["Ada", "Bob"]
    assert talk.told[0][0]["state"]["timeLeft"] == 5000, "the grace is not announced"
    talk.hear(talk.match.wake(5500), 5500)
    second = talk.told[0][-1]["state"]
    assert second["bots"] == ["Bob", "Ada"]
    assert second["you"] == 1
    assert second["waitingFor"] == ["Bob"]
    assert second["boardsPlayed"] == [{"Ada": 2, "Bob": 1}]


def test_a_secret_move_is_told_to_nobody() -> None:
    talk = Conversation(CATALOGUE["battleship"])
    talk.hear(talk.match.wake(60_000), 60_000)
    assert "turn" not in talk.told[0][-1]


def test_who_comes_back_is_told_how_it_stands_and_nobody_else() -> None:
    talk = Conversation(CATALOGUE["battleship"])
    talk.hear(talk.match.leave(0, 10), 10)
    talk.hear(talk.match.rejoin(0, 20), 20)
    assert [len(messages) for messages in talk.told] == [2, 1]
    assert talk.told[0][-1]["state"]["phase"] == "placement"


def test_time_without_limit_has_no_time_left() -> None:
    talk = Conversation(CatalogueEntry(ROCK_PAPER_SCISSORS.game, Terms(Pace(None))))
    assert talk.told[0][0]["state"]["timeLeft"] is None
