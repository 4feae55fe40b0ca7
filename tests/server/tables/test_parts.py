"""The small parts: flight records, rates, the audience, names and tokens."""

import json

import msgspec
import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match.events import Played, Refused
from botdrome.server.lobby.house import house_bot
from botdrome.server.lobby.registry import BadName, check_name, holds
from botdrome.server.network.limits import Bucket
from botdrome.server.tables.audience import Audience
from botdrome.server.tables.flight_records import FlightRecord, FlightRecords, written
from botdrome.store.entries import BotEntry, hashed
from botdrome.wire.writers import MatchHeader


def test_a_flight_record_tells_what_came_and_went_and_how_long_it_took() -> None:
    flight = FlightRecord(10_000)
    flight.out(100, [b'{"state":1}'], 4)
    flight.came(350, b'{"mark":"X"}', "illegal: space [2, 2] is taken", 4)
    flight.came(1380, b"\xff", "late by 37 ms", 5)
    assert [json.loads(line) for line in written(flight.packed("timeout")).splitlines()] == [
        {"t": 100, "dir": "out", "message": '{"state":1}', "step": 4},
        {
            "t": 350,
            "dir": "in",
            "message": '{"mark":"X"}',
            "verdict": "illegal: space [2, 2] is taken",
            "used": 250,
            "step": 4,
        },
        {
            "t": 1380,
            "dir": "in",
            "message": "�",
            "verdict": "late by 37 ms",
            "used": 1280,
            "step": 5,
        },
        {"cause": "timeout"},
    ]


def test_a_flight_record_of_an_early_store_is_read_as_well() -> None:
    one, other = (100, False, b'{"state":1}', ""), (350, True, b'{"mark":"X"}', "accepted")
    by_entry, in_one_row = (
        msgspec.msgpack.encode((0, parts, "complete")) for parts in ((one, other), one + other)
    )
    lines = written(by_entry)
    assert [json.loads(line).get("used") for line in lines.splitlines()] == [None, 250, None]
    assert written(in_one_row) == lines == written(lines)
    assert (
        written(FlightRecord(10).packed("aborted"), "the host left")
        == b'{"cause":"aborted","reason":"the host left"}\n'
    )


def test_of_a_long_message_the_beginning_and_the_end_are_kept_and_the_cut_is_marked() -> None:
    flight = FlightRecord(10_000)
    flight.out(1, [b"b" * 300 + b"m" * 1000 + b"e" * 200], 0)
    flight.came(2, b"x" * 400, "accepted", 0)
    long, whole, _ = [
        json.loads(line)["message"] for line in written(flight.packed("complete")).splitlines()[:-1]
    ] + [""]
    assert long == "b" * 250 + " [... 1100 bytes ...] " + "e" * 150
    assert whole == "x" * 400


def test_a_records_says_who_let_the_time_run_out_and_that_what_came_then_was_late() -> None:
    logbook, position = FlightRecords(2, 10_000), NoughtsAndCrosses().start(2, Chance(1))
    logbook.silence([0], 5003, 5000, 3)
    refused = (Refused(0, "it is not your turn", {}, 0), position)
    logbook.move(0, 5012, b"mine", [refused], 3)
    logbook.move(0, 5020, b"again", [refused], 3)
    logbook.silence([1], 6000, 6000, 4)
    logbook.move(1, 9000, b"right", [(Played(1, {}), position)], 5)
    zero, one = (written(packed).splitlines() for packed in logbook.packed(("complete", "timeout")))
    assert [json.loads(line).get("verdict") for line in zero] == [
        "no answer in time", "late by 12 ms; illegal: it is not your "
                             "turn", "illegal: it is not your turn", None,
    ]  # fmt: skip
    assert [json.loads(line).get("verdict") for line in one] == [
        "no answer in time",
        "accepted",
        None,
    ]


def test_a_flight_record_is_bounded_and_says_what_it_lost() -> None:
    flight = FlightRecord(2000)
    for number in range(1000):
        flight.came(number, b"x" * 5000, "accepted", number)
    packed = flight.packed("complete")
    assert len(packed) < 2000
    first, *entries, last = [json.loads(line) for line in written(packed).splitlines()]
    assert first["lost"] > 900
    assert [entry["t"] for entry in entries] == list(range(first["lost"], 1000)), (
        "of those that are left none is missing"
    )
    assert last == {"cause": "complete"}


@pytest.mark.parametrize(
    ("message", "verdict"),
    [(b"%099d", "accepted"), (b"%d", "refused: " + "for many reasons, " * 20)],
)
@pytest.mark.parametrize("entries", range(2000, 2300, 10))
def test_of_a_long_match_most_of_what_there_is_room_for_is_kept(
    entries: int, message: bytes, verdict: str
) -> None:
    flight = FlightRecord(65_536)
    for number in range(entries):
        flight.came(number, message % number, verdict, number)
    assert 0.8 * 65_536 < len(flight.packed("complete")) <= 65_536 + 20


def test_full_rows_of_all_players_are_packed_together() -> None:
    logbook = FlightRecords(2, 2000)
    for row in logbook.rows:
        row.extend([0] * logbook.full)
    logbook.turn_over()
    assert logbook.rows == [[], []]
    assert [flight.row for flight in logbook.flights] == logbook.rows
    assert logbook.flights[1].row is logbook.rows[1]


def test_of_much_that_is_said_at_once_the_last_is_kept() -> None:
    flight = FlightRecord(1024)
    flight.out(0, [b"%099d" % number for number in range(20)], 0)
    first, *entries, _ = [
        json.loads(line) for line in written(flight.packed("complete")).splitlines()
    ]
    assert [int(entry["message"]) for entry in entries] == list(range(first["lost"], 20))
    assert len(entries) > 5


def test_a_bucket_runs_dry_and_fills_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("botdrome.server.network.limits.monotonic", lambda: clock[0])
    bucket = Bucket(rate=10, size=3)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    clock[0] = 0.1
    assert [bucket.take() for _ in range(2)] == [True, False]
    clock[0] = 100.0
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


class Watcher:
    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.ended = False

    def show(self, message: bytes) -> None:
        self.seen.append(message)

    def end(self) -> None:
        self.ended = True


def test_an_audience_sees_the_same_bytes() -> None:
    audience = Audience(MatchHeader("m1", "gomoku", ("ada", "bob"), None, 5))
    one, two = Watcher(), Watcher()
    audience.join(one, 10, ("ada", "bob"), {"you": None})
    audience.join(two, 20, ("ada", "bob"), {"you": None})
    assert json.loads(one.seen[0])["snapshot"] is True
    audience.see(30, [({"event": "x"}, {"you": None})])  # type: ignore[list-item]
    assert one.seen[1] is two.seen[1]
    audience.leave(two)
    audience.leave(two)
    audience.see(40, [({"event": "y"}, {"you": None})])  # type: ignore[list-item]
    assert (len(one.seen), len(two.seen)) == (3, 2)
    audience.dismiss()
    assert (one.ended, two.ended, len(audience)) == (True, False, 0)


@pytest.mark.parametrize("name", ["", "   ", "x" * 65, "house:me", "line\nbreak", "nul\x00"])
def test_some_names_no_bot_can_have(name: str) -> None:
    with pytest.raises(BadName):
        check_name(name)


def test_most_names_are_fine() -> None:
    for name in ("my.bot", "$where", "a/b", "Ünïcödé 🤖", "x" * 64, " blank"):
        check_name(name)


def test_a_token_is_known_by_its_hash_alone() -> None:
    bot = BotEntry("ada", "gomoku", "me", 0, hashed("secret"))
    assert holds(bot, "secret")
    assert not holds(bot, "Secret")
    assert not holds(bot, "\ud800")
    assert not holds(BotEntry("ada", "gomoku", "me", 0, None), "secret")


def test_the_house_sends_a_bot_of_middle_strength_unless_one_is_named() -> None:
    usual = {game: found[0] for game in CATALOGUE if (found := house_bot(game, "house"))}
    assert usual == {
        "noughts-and-crosses": "house:blocker", "battlecube": "house:dodger",
        "battleship": "house:trawler", "bomberman": "house:sapper", "bumblebots": "house:forager",
        "gomoku": "house:threat",
    }  # fmt: skip
    named = house_bot("noughts-and-crosses", "house:random")
    assert named is not None
    assert (
        named[1]({"board": [["", "X", "O"]] * 3, "you": 0, "marks": "XO"}, Chance(1))["mark"] == "X"
    )
    assert house_bot("noughts-and-crosses", "house:nobody") is None
