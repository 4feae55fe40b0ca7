"""Conversations with a Bomberman room in memory: requests become commands, and the room's replies
become answers.
"""

import json
from typing import Any

import pytest

from botdrome.games.bomberman import Bomberman, User
from botdrome.wire.bomber.conversation import (
    CAME_LATE,
    HAS_NOT_BEGUN,
    IS_ACCEPTED,
    IS_AHEAD,
    IS_DEAD,
    IS_OVER,
    Act,
    ActionJudged,
    BomberConversation,
    BomberSocketConversation,
    FollowRoom,
    ReadState,
    RefuseMessage,
    RegisterUser,
    Registration,
    RequestRefused,
    Response,
    RoomCommand,
    RoomReply,
    UserRegistered,
    UserState,
    accepted,
    refused_before,
    registration_refused,
)
from botdrome.wire.bomber.request import LITERAL, BadRequest, Message
from botdrome.wire.bomber.state import FINISHED, PLAYING, REGISTRATION, State, StateWriter
from botdrome.wire.conversation import Close

STATE = State(
    PLAYING,
    3,
    (1, 2),
    ("Ada", "Bob"),
    "game",
    Bomberman(closing=0, tiles=("..",), at=((0, 1), None), users=(User(1, 3), User(1, 3))),
)


def shown(player: int | None) -> UserState:
    return UserState(StateWriter(STATE), player, 150)


def judged(response: Response, player: int) -> ActionJudged:
    return ActionJudged(StateWriter(STATE), player, 150, response, 3)


def told(talk: BomberConversation, reply: RoomReply) -> tuple[int, Any]:
    status, body, rest = talk.answer(reply)
    return status, json.loads(body + rest)


def test_a_user_registers_looks_and_acts() -> None:
    talk = BomberConversation()
    assert talk.receive({"user_name": "Ada", "password": "secret"}) == RegisterUser("Ada", "secret")
    assert told(talk, UserRegistered("u1", 9000)) == (200, {"user_id": "u1", "time_left": 9000})
    assert talk.receive({"action": "state", "user_id": "u1"}) == ReadState("u1")
    status, state = told(talk, shown(0))
    assert (
        status,
        state["user_position"],
        state["alive"],
        state["time_left"],
        state["state_number"],
    ) == (
        200,
        [0, 1],
        True,
        150,
        3,
    )
    assert talk.receive({"action": "UP", "user_id": "u1", "state_number": "3"}) == Act(
        "u1", "MOVE_UP", 3
    )
    assert told(talk, judged(IS_ACCEPTED, 0)) == (
        200,
        {"response": "ACCEPTED", "state_number": 3, "time_left": 150},
    )


def test_an_action_is_judged_in_python() -> None:
    talk = BomberConversation(LITERAL, wrapped=True)
    assert talk.answer(judged(IS_OVER, 0)) == (
        200,
        b"{'response': 'DECLINED', 'information': 'GAME_OVER', 'detail': 'the game is over', "
        b"'state_number': 3, 'time_left': 150}",
        b"",
    )


def test_the_dead_and_strangers_are_told_the_state_too() -> None:
    talk = BomberConversation()
    assert told(talk, shown(1))[1]["alive"] is False
    assert "alive" not in told(talk, shown(None))[1]


def test_what_users_share_is_written_once() -> None:
    talk, writer = BomberConversation(), StateWriter(STATE)
    (_, one, shared), (_, two, again) = (
        talk.answer(UserState(writer, player, 150)) for player in (0, 1)
    )
    assert one != two
    assert shared is again


def test_an_answer_with_the_state_and_in_python() -> None:
    status, body, rest = BomberConversation(LITERAL, with_state=True).answer(judged(IS_ACCEPTED, 0))
    assert status == 200
    assert (
        body
        == b"{'response': 'ACCEPTED', 'user_position': (0, 1), 'alive': True, 'time_left': 150, "
    )
    assert rest.startswith(b"'actual_state': {(0, 0): ")


def test_wrapped_responses() -> None:
    dead = judged(IS_DEAD, 1)
    assert told(BomberConversation(), dead)[1]["response"] == "DEAD"
    wrapped = told(BomberConversation(wrapped=True), dead)[1]
    assert (wrapped["response"], wrapped["information"]) == ("DECLINED", "DEAD")


def test_only_a_request_may_wait_and_a_socket_may_have_a_user() -> None:
    asked = {"action": "STATE", "after": "7"}
    assert BomberConversation(may_wait=True).receive(asked) == ReadState(None, 7)
    assert BomberConversation(user_id="u2").receive(asked) == ReadState("u2")
    assert BomberConversation(user_id="u2").receive({"action": "WAIT"}) == Act("u2", "WAIT", None)


def test_a_websocket() -> None:
    talk = BomberSocketConversation(BomberConversation(user_id="u1"), 1.0, 3, 0.0)
    assert talk.begin(0.0) == (FollowRoom(),)
    (state,) = talk.answer(shown(0), 0.0)
    assert isinstance(state, bytes) and json.loads(state)["state_number"] == 3
    assert talk.receive(b'{"action": "WAIT"}', 0.0) == (Act("u1", "WAIT", None),)
    assert talk.receive(b"user_name=Ada&version=1.2", 0.0) == (RegisterUser("Ada", None, "1.2"),)
    assert talk.receive(b"[]", 0.0) == (
        RefuseMessage("BAD_MESSAGE", "a message is an object with the keys of the document"),
    )
    (answer, close) = talk.receive(b"{}", 0.0)
    assert (
        answer
        == b'{"response":"DECLINED","information":"TOO_MANY_REQUESTS","detail":"too many messages"}'
    )
    assert close == Close(1008, "TOO_MANY_REQUESTS", "flood")
    assert (talk.deadline, talk.wake(0.0)) == (None, ())


def test_a_websocket_at_a_url_that_cannot_be_understood() -> None:
    talk = BomberSocketConversation(
        BomberConversation(), 1.0, 3, 0.0, BadRequest("BAD_FIELD", "format is json or python")
    )
    assert talk.begin(0.0) == (
        b'{"response":"DECLINED","information":"BAD_FIELD","detail":"format is json or python"}',
        Close(1008, "BAD_FIELD"),
    )


def test_a_refusal() -> None:
    reply = RequestRefused(404, "UNKNOWN_USER", "there is none", {"state_number": 3})
    answer = {
        "response": "DECLINED",
        "information": "UNKNOWN_USER",
        "detail": "there is none",
        "state_number": 3,
    }
    assert told(BomberConversation(), reply) == (404, answer)


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ({}, "MISSING_FIELD"),
        ({"user_id": "u1"}, "MISSING_FIELD"),
        ({"action": "WAIT"}, "MISSING_FIELD"),
        ({"action": "WAIT", "user_id": ""}, "MISSING_FIELD"),
        ({"action": "FLY", "user_id": "u1"}, "UNKNOWN_ACTION"),
        ({"action": "WAIT", "user_id": "u1", "state_number": "x"}, "BAD_FIELD"),
        ({"user_name": "Ada", "password": 7}, "BAD_FIELD"),
        ({"user_name": "Ada", "version": 7}, "BAD_FIELD"),
        ({"user_name": "a/b"}, "BAD_NAME"),
    ],
)
def test_messages_that_cannot_be_understood(message: Message, word: str) -> None:
    with pytest.raises(BadRequest) as caught:
        command: RoomCommand = BomberConversation().receive(message)
        assert not command
    assert caught.value.word == word


# The rules of a room.


@pytest.mark.parametrize(
    ("phase", "over", "last", "running", "alive", "number", "response", "counted"),
    [
        (REGISTRATION, False, 0, 1, True, None, HAS_NOT_BEGUN, 0),
        (PLAYING, True, 9, 10, True, None, IS_OVER, 9),
        (FINISHED, False, 9, 10, True, None, IS_OVER, 9),
        (PLAYING, False, 3, 3, False, 7, IS_DEAD, 3),
        (PLAYING, False, 3, 4, True, 3, CAME_LATE, 4),
        (PLAYING, False, 3, 4, True, 5, IS_AHEAD, 4),
        (PLAYING, False, 3, 4, True, 4, None, 4),
        (PLAYING, False, 3, 3, True, None, None, 3),
    ],
)
def test_actions_that_are_not_tried(
    phase: str,
    over: bool,
    last: int,
    running: int,
    alive: bool,
    number: int | None,
    response: Response | None,
    counted: int,
) -> None:
    state = State(phase, last, (5, 5), (), position=Bomberman(at=((0, 0) if alive else None,)))
    assert refused_before(state, 0, over, running, number) == (response, counted)


def test_the_last_action_of_a_round_counts() -> None:
    assert accepted(None, 3) == accepted((2, "WAIT"), 3) == IS_ACCEPTED
    assert accepted((3, "WAIT"), 3) == Response("ACCEPTED", "OVERWRITTEN WAIT")


def asked(**changes: Any) -> Registration:
    usual: dict[str, Any] = {
        "name": "Ada", "with_password": False, "phase": REGISTRATION, "open": True, "stopping": "",
        "no_games": "", "known": False, "returns": False, "next_registration": 5000,
    }  # fmt: skip
    return Registration(**usual | changes)


@pytest.mark.parametrize(
    ("registration", "status", "word"),
    [
        (asked(stopping="the server stops", known=True, returns=True), 503, "CLOSING"),
        (asked(no_games="the store is away"), 503, "UNAVAILABLE"),
        (asked(known=True), 409, "NAME_TAKEN"),
        (asked(known=True, with_password=True), 409, "NAME_TAKEN"),
        (asked(open=False, phase=PLAYING), 409, "REGISTRATION_CLOSED"),
        (asked(open=False, phase=FINISHED), 409, "REGISTRATION_CLOSED"),
        (asked(open=False, phase=PLAYING, known=True), 409, "NAME_TAKEN"),
    ],
)
def test_registrations_that_are_refused(registration: Registration, status: int, word: str) -> None:
    refused = registration_refused(registration)
    assert refused is not None
    assert (refused.status, refused.word) == (status, word)
    assert refused.more == ({} if registration.open else {"time_left": 5000})


def test_new_and_returning_users_may_register() -> None:
    for registration in (
        asked(),
        asked(known=True, returns=True),
        asked(known=True, returns=True, open=False, phase=PLAYING),
    ):
        assert registration_refused(registration) is None
