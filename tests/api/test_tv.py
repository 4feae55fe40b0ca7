"""Many running matches over one connection."""

import asyncio
import json
from typing import Any

import pytest

from botdrome.api.app import Api
from botdrome.api.spectators import LISTS_BURST, MOST_MATCHES, TvSession
from botdrome.match.events import Began
from botdrome.server.arena import Arena
from botdrome.server.network.dispatcher import SocketOptions
from tests.api.tables import HandTables, entry_of, mark
from tests.api.test_live_spectator import Line
from tests.patience import until

pytestmark = pytest.mark.anyio


def wish(*matches: str) -> bytes:
    return json.dumps({"watch": matches}).encode()


async def shown(line: Line, count: int) -> list[Any]:
    """Return the next `number` messages."""
    await until(lambda: len(line.sent) >= count)
    messages = [json.loads(message) for message in line.sent]
    line.sent.clear()
    assert len(messages) == count
    return messages


def tv_session(arena: Arena, line: Line) -> TvSession:
    return TvSession(arena, line, pace=0)


async def test_each_match_is_shown_from_its_present_position_on(
    arena: Arena, tables: HandTables
) -> None:
    tables.open(entry_of("one", "Ann", "Bob"))
    two, line = tables.open(entry_of("two", "Cid", "Dan")), Line()
    tv_session(arena, line).received(wish("one", "two"))
    assert [(message["match"], message["snapshot"]) for message in await shown(line, 2)] == [
        ("one", True),
        ("two", True),
    ]
    two.submit(0, mark(0, 1, 1))
    [played] = await shown(line, 1)
    assert (played["match"], played["event"]["event"]) == ("two", "played")


async def test_of_what_comes_at_once_the_newest_is_shown(arena: Arena, tables: HandTables) -> None:
    table, line = tables.open(entry_of("m", "Ann", "Bob")), Line()
    tv_session(arena, line).received(wish("m"))
    table.submit(0, mark(0, 1, 1))
    table.submit(1, mark(1, 0, 0))
    [played] = await shown(line, 1)
    assert played["event"]["step"] == 1


async def test_the_seats_of_a_new_board_are_never_left_out(
    arena: Arena, tables: HandTables
) -> None:
    table, line = tables.open(entry_of("m", "Ann", "Bob")), Line()
    tv_session(arena, line).received(wish("m"))
    table.show([(Began(1, (1, 0)), table.match.position)])
    table.submit(0, mark(0, 1, 1))
    assert [message["event"]["event"] for message in await shown(line, 2)] == ["began", "played"]


async def test_a_match_that_is_over_is_said_to_be(arena: Arena, tables: HandTables) -> None:
    table, line = tables.open(entry_of("m", "Ann", "Bob")), Line()
    tv_session(arena, line).received(wish("m", "never"))
    await shown(line, 2)
    table.submit(0, mark(0, 1, 1))
    tables.close("m")
    assert [message.get("end") for message in await shown(line, 2)] == [None, True]


async def test_a_new_list_takes_the_place_of_the_one_before(
    arena: Arena, tables: HandTables
) -> None:
    one, two = (
        tables.open(entry_of("one", "Ann", "Bob")),
        tables.open(entry_of("two", "Cid", "Dan")),
    )
    line = Line()
    session = tv_session(arena, line)
    session.received(wish("one"))
    one.submit(0, mark(0, 1, 1))
    session.received(wish("two"))
    assert [message["match"] for message in await shown(line, 1)] == ["two"]
    session.received(wish("two", "two"))
    assert (len(one.audience), len(two.audience)) == (0, 1)


async def test_a_client_that_is_gone_is_forgotten(arena: Arena, tables: HandTables) -> None:
    table, line = tables.open(entry_of("m", "Ann", "Bob")), Line()
    session = tv_session(arena, line)
    session.lost()
    session.received(wish("m"))
    session.lost()
    assert len(table.audience) == 0
    await asyncio.sleep(0)
    assert line.sent == []


@pytest.mark.parametrize(
    ("message", "code", "words"),
    [
        (b"{", 1002, 'this should be {"watch": ["MATCH", ...]}: '),
        (b'{"watch": "m"}', 1002, 'this should be {"watch": ["MATCH", ...]}: '),
        (b'{"watch": [], "pace": 1}', 1002, 'this should be {"watch": ["MATCH", ...]}: '),
        (wish(*map(str, range(MOST_MATCHES + 1))), 1008, "100 matches are the most, not 101"),
    ],
)
async def test_nonsense_is_refused_with_words(
    arena: Arena, message: bytes, code: int, words: str
) -> None:
    line = Line()
    tv_session(arena, line).received(message)
    assert json.loads(line.sent[0])["error"].startswith(words)
    assert line.closed is not None
    assert line.closed[0] == code


async def test_a_flood_of_lists_is_refused(arena: Arena) -> None:
    line = Line()
    session = tv_session(arena, line)
    for _ in range(2 * LISTS_BURST):
        session.received(wish())
    assert line.closed == (1008, "too many messages")


async def test_the_dispatcher_finds_it(app: Api) -> None:
    welcome = app.receive_socket("/watch/", {})
    assert isinstance(welcome, SocketOptions)
    assert isinstance(welcome.make_session(Line()), TvSession)
