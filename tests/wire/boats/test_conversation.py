"""Xterm Boat Sinker's conversation as transcripts: the client's lines, the server's lines, and the
commands to the room.
"""

from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms
from botdrome.wire.boats.conversation import (
    CHAT_BURST,
    BoatConversation,
    CheckBlacklist,
    Depart,
    GameStarts,
    Joined,
    JoinRefused,
    JoinRoom,
    Kicked,
    LookAtRoom,
    NameAllowed,
    ReturnToSeat,
    RoomShown,
    Say,
)
from botdrome.wire.boats.lines import BoatWriter, Roster, Taunts
from botdrome.wire.conversation import (
    Admit,
    Admitted,
    Close,
    Dismissed,
    EndOfInput,
    LoginRefused,
    Out,
    ReadsTooSlowly,
    RecordMessage,
    Redeliver,
    Redelivered,
    Removed,
    Reply,
    Seated,
    Submit,
    TokenChanged,
    Unreadable,
)
from botdrome.wire.writers import MatchHeader, MatchWriters, match_status

OFFER = b"G|1.2.0|Tea|N|2|2|0|5|8|8|2|A3|B2"
FLEET = "AAA.....BB" + "." * 54
JOIN = f"J|ann|{FLEET}"
REQUEST = JoinRoom(b"ann", FLEET.encode(), b"")
WATER = "." * 64
FLOOD = [b"too many messages", Close(refused="flood")]


def out(*outs: Out) -> list[Out]:
    return list(outs)


class Client:
    """A client in memory."""

    def __init__(self, burst: int = 100, limit: float = 60.0) -> None:
        self.now = 0.0
        self.conversation = BoatConversation(limit, 1.0, burst, self.now)
        assert self.conversation.begin(self.now) == (LookAtRoom(arriving=True),)

    def say(self, line: str) -> list[Out]:
        return list(self.conversation.receive(line.encode("latin-1"), self.now))

    def hear(self, reply: Reply) -> list[Out]:
        return list(self.conversation.answer(reply, self.now))


def shown(burst: int = 100) -> Client:
    client = Client(burst)
    assert client.hear(RoomShown(OFFER, 8)) == [OFFER]
    return client


def joined(burst: int = 100, taunts: Taunts | None = None) -> Client:
    client = shown(burst)
    assert client.say(JOIN) == [CheckBlacklist(b"ann")]
    assert client.hear(NameAllowed()) == [Admit("ann", None, "battleship")]
    assert client.hear(Admitted("ann")) == out(REQUEST, Redeliver(()))
    assert client.hear(Joined(taunts or Taunts())) == []
    assert client.hear(Redelivered()) == []
    return client


class Game:
    """A match in memory between ann, on lines, and bob."""

    def __init__(self, burst: int = 100) -> None:
        self.match = Match(
            Battleship(width=8, height=8, boats="A3 B2"),
            2,
            Terms(Pace(1000), late="pass", gone="wait"),
            1,
        )
        self.roster = Roster([b"ann", b"bob"], [Taunts(), Taunts()], Chance(1))
        self.ann = joined(burst)
        assert self.ann.hear(GameStarts(BoatWriter(self.roster))) == []
        assert self.ann.say("S|bob|1|1")[1:] == [b"M||game hasn't started"]
        self.writers = MatchWriters(MatchHeader("m1", "battleship", ("ann", "bob"), None, 5))
        assert self.ann.hear(Seated(0, self.writers)) == []
        self.tell(self.match.start())
        for player in (0, 1):
            self.lines = self.tell(self.match.submit(player, {"board": FLEET}, 0))

    def tell(self, news: News) -> list[str]:
        messages = self.writers.written(news, match_status(self.match, 0)).get(0, [])
        return [line for message in messages for line in message.decode().split("\n")]

    def play(self, line: str) -> list[str]:
        (submit,) = self.ann.say(line)
        assert isinstance(submit, Submit) and submit.message == line.encode()
        return self.tell(self.match.submit(0, submit.raw, 0))

    def bob(self, raw: dict[str, object]) -> list[str]:
        return self.tell(self.match.submit(1, raw, 0))


# Before joining.


def test_a_stranger_may_look_ask_and_leave() -> None:
    client = shown()
    assert client.say("G|Coffee") == [LookAtRoom(b"Coffee")]
    assert client.say("P| still here ") == [b"P|still here"]
    assert client.say("L|no time") == [Depart(b"no time"), b"no time", Close()]
    assert client.say("G") == client.hear(Kicked(b"late")) == [], "it is over"


def test_a_stranger_that_does_not_know_the_protocol_is_closed() -> None:
    for line in ("S|bob|1|1", "K", "M||hi", "what", "J", "J|", "P"):
        assert shown().say(line) == [b"protocol error", Close()], line
    assert shown().say("") == shown().say("L") == [Close()]


def test_a_client_that_does_not_join_is_closed() -> None:
    client = Client()
    assert client.conversation.deadline == 60.0
    assert list(client.conversation.wake(60.0)) == [b"you did not join in time", Close()]
    assert Client(limit=0).conversation.deadline is None
    assert joined().conversation.deadline is None


# Joining.


def test_a_name_that_is_refused_may_be_changed() -> None:
    client = shown()
    assert client.say("J|x|...") == [CheckBlacklist(b"x")]
    assert client.hear(NameAllowed()) == [b"E|invalid name"]
    client.say("J|much too long|...")
    assert client.hear(NameAllowed()) == [b"E|name too long"]
    client.say(f"{JOIN}||{'v' * 65}")
    assert client.hear(NameAllowed()) == [
        b"E|version is text of at most 64 printable characters, not '%b..." % (b"v" * 36)
    ]
    client.say(f"{JOIN}|secret|v2")
    assert client.hear(NameAllowed()) == [Admit("ann", "secret", "battleship", version="v2")]
    client.hear(Admitted("ann"))
    assert client.hear(JoinRefused(b"name in use")) == [b"E|name in use"]
    assert client.say("J|bob|...") == [CheckBlacklist(b"bob")]
    assert client.hear(Kicked(b"booted")) == [b"booted", Close()]


def test_lines_that_come_during_the_login_wait() -> None:
    client = shown(burst=2)
    client.say(JOIN)
    client.hear(NameAllowed())
    assert client.say("M||hi") == client.say("K") == []
    assert client.hear(Admitted("ann")) == out(REQUEST, Redeliver((b"M||hi", b"K")))
    flooding = shown(burst=2)
    flooding.say(JOIN)
    flooding.hear(NameAllowed())
    assert [flooding.say("K") for _ in range(3)] == [[], [], [b"too many messages", Close()]]


def test_a_login_that_fails() -> None:
    def failed(reply: LoginRefused) -> list[Out]:
        client = shown()
        client.say(JOIN)
        client.hear(NameAllowed())
        return client.hear(reply)

    assert failed(LoginRefused("it is a bot's|name")) == out(
        ReturnToSeat(REQUEST, b"it is a bot's/name"), Redeliver(())
    )
    assert failed(LoginRefused("banned", banned=True)) == [b"banned", Close()]
    assert failed(LoginRefused("no store", try_later=True)) == [
        b"the names cannot be read",
        Close(),
    ]


def test_a_client_that_sends_no_more_is_answered_first() -> None:
    client = shown()
    client.say(JOIN)
    client.hear(NameAllowed())
    assert client.hear(EndOfInput()) == []
    client.hear(Admitted("ann"))
    client.hear(Joined(Taunts()))
    assert client.hear(Redelivered()) == [Close()]
    assert shown().hear(EndOfInput()) == [Close()]


# Among players.


def test_chat_taunts_and_pings_while_waiting() -> None:
    taunts = Taunts()
    ann = joined(taunts=taunts)
    assert ann.say("M||hello") == [Say(b"", b"hello")]
    assert ann.say("M|bob|psst") == [Say(b"bob", b"psst")]
    assert ann.say("M|bob") == ann.say(JOIN) == ann.say("T|hit|ouch") == []
    assert taunts.draw(True, Chance(1)) == b"ouch"
    assert ann.say("what") == [b"protocol error"]
    assert ann.say("K|x") == [
        RecordMessage(b"K|x", "refused: game hasn't started"),
        b"M||game hasn't started",
    ]


def test_chat_has_a_limit_beside_one_message_for_each_turn() -> None:
    game = Game()
    ann = game.ann
    assert [ann.say("M||hi") for _ in range(CHAT_BURST)] == [[Say(b"", b"hi")]] * CHAT_BURST
    assert ann.say("M||hi") == [b"M||you talk too much, that was not passed on"]
    game.play("K")
    assert ann.say("M||my turn is over") == [Say(b"", b"my turn is over")]
    assert ann.say("M||hi") == [b"M||you talk too much, that was not passed on"]


def test_a_flood_is_cut_off() -> None:
    for line in ("G", "P|x", JOIN, "T|hit|x", "what", "M||hi"):
        ann = joined(burst=1)
        assert ann.say(line) == FLOOD, line
    refused = joined(burst=1)
    assert refused.say("K")[1:] == [b"M||game hasn't started", *FLOOD]
    stranger = shown(burst=1)
    stranger.say("P|x")
    stranger.say(JOIN)
    assert stranger.hear(NameAllowed()) == FLOOD


# The game.


def test_a_game_from_the_start_to_the_result() -> None:
    game = Game()
    assert game.lines == [f"B|ann||{WATER}|0|0", f"B|bob||{WATER}|0|0", "S|ann|bob", "N|ann"]
    assert game.play("S|bob|8|8") == [f"B|bob||{WATER[:-1]}0|0|0", "N|bob"]
    assert game.ann.say("S|bob|1|1")[1:] == [b"M||it is not your turn!"]
    assert game.bob({"skip": True}) == ["K|bob|", "N|ann"]
    assert game.play("S | b | +1 | 1")[0] == "H|ann|bob|a1", "not as it is mostly written"
    game.bob({"skip": True})
    assert game.play("K|tired") == ["K|ann|tired", "N|bob"]
    game.tell(game.match.abort(0))
    assert game.ann.say("K")[1:] == [b"M||game is already finished"]
    assert game.ann.say("S|bob|1|1")[1:] == [b"M||game is already finished"]
    assert game.ann.hear(Dismissed(failed=False, stopping=False)) == [Close()]


def test_a_refused_shot_leaves_the_turn() -> None:
    game = Game()
    for line, words in (
        ("S|carl|1|1", "invalid target player name"),
        ("S|bob|9|1", "illegal coordinates"),
    ):
        answer = [
            RecordMessage(line.encode(), f"refused: {words}"),
            f"M||{words}".encode(),
            b"N|ann",
        ]
        assert game.ann.say(line) == answer


def test_goodbyes_in_a_game() -> None:
    assert Game().ann.say("L|bye") == [Depart(b"bye"), b"bye", Close()]
    assert Game().ann.hear(Kicked(b"booted", b"booted")) == [Depart(b"booted"), b"booted", Close()]
    assert Game().ann.hear(Removed("you were|removed")) == [
        Depart(b"booted"),
        b"you were/removed",
        Close(),
    ]
    assert Game().ann.hear(TokenChanged()) == [Close()]
    assert Game().ann.hear(ReadsTooSlowly()) == [Depart(b"comm error")]
    assert Game().ann.hear(Dismissed(failed=True, stopping=False)) == [
        b"the result could not be stored",
        Close(),
    ]
    assert Game().ann.hear(Unreadable("lines are always readable")) == []
