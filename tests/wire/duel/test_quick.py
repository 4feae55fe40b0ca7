"""The duel arena's fast paths of reading and writing equal the slow ones, over many
random cases.
"""

import json
from itertools import pairwise
from typing import Any

import pytest

from botdrome.games.chance import Chance
from botdrome.wire.duel import Duel, Ignored, read_frame
from botdrome.wire.framing.streams import BadFrame, Frames
from tests.wire.duel.test_messages import Play

FRAMES = 800
NUMBERS: tuple[Any, ...] = (
    0, 7, 14, 15, -1, -0, 2**31, 2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 2**64, 10**30, 5.0, 5.9,
    -0.5, 1e300, float("nan"), float("inf"), True, False, None, "5", " 5 ", "-3", "5.0", "five", "",
    [], [5], {},
)  # fmt: skip
EVENTS: tuple[Any, ...] = ("find_opponent", "get_move", "MAKE_MOVE", "", None, 5, ["make_move"])
IDS: tuple[Any, ...] = ("id1", "", "ID0", None, 0, ["id0"], "id0 ")
STYLES: tuple[dict[str, Any], ...] = (
    {},
    {"separators": (",", ":")},
    {"indent": 1},
    {"ensure_ascii": False},
    {"sort_keys": True},
)


def heard(duel: Duel, player: int, frame: bytes, quickly: bool) -> tuple[str, Any]:
    """The answer of a session to a frame."""
    if quickly and (move := duel.plain_move(player, frame)) is not None:
        return "move", move
    try:
        value = read_frame(frame)
        if not isinstance(value, dict) or value.get("event") != "make_move":
            return "no answer", None
        return "move", duel.read_move(player, value)
    except (BadFrame, Ignored) as problem:
        return type(problem).__name__, str(problem)


def an_answer(chance: Chance) -> bytes:
    """Mostly right; or with something wrong, odd, missing, or more."""
    message: dict[str, Any] = {
        "event": "make_move",
        "id": "id0",
        "x": chance.below(15),
        "y": chance.below(15),
    }
    for key, others in (("event", EVENTS), ("id", IDS), ("x", NUMBERS), ("y", NUMBERS)):
        if chance.below(5) == 0:
            message[key] = chance.choice(others)
        elif chance.below(20) == 0:
            del message[key]
    if chance.below(6) == 0:
        message[chance.choice(("z", "Id", "score", "\u017e", "timeout"))] = chance.choice(NUMBERS)
    keys = list(message)
    if chance.below(2):
        chance.shuffle(keys)
    text = json.dumps({key: message[key] for key in keys}, **chance.choice(STYLES))
    return spoilt(text.encode(errors="surrogatepass"), chance)


def spoilt(frame: bytes, chance: Chance) -> bytes:
    """Now and then: cut, with a byte too many or another one, twice the same key, or in blanks."""
    at = chance.below(len(frame))
    match chance.below(20):
        case 0:
            return frame[: at + 1]
        case 1:
            return frame[:at] + bytes([chance.below(256)]) + frame[at:]
        case 2:
            return frame[:at] + bytes([chance.below(256)]) + frame[at + 1 :]
        case 3:
            return frame[:1] + b'"x": 3, "id": "id1", ' + frame[1:]
        case 4:
            return b" \r\n\t" + frame + b"\n"
    return frame


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(4))
def test_an_answer_is_read_as_at_length(seed: int) -> None:
    kinds = dict.fromkeys(("move", "no answer", "BadFrame", "Ignored"), 0)
    for number in range(FRAMES):
        chance = Chance(seed, number)
        at_length, quickly = Play(), Play()
        at_length.start()
        quickly.start()
        frames = [an_answer(chance) for _ in range(2)] + [
            b'{"event": "make_move", "id": "id0", "x": 1, "y": 2}'
        ]
        for frame in frames:
            player = int(chance.below(8) == 0)
            expected = heard(at_length.duel, player, frame, quickly=False)
            assert heard(quickly.duel, player, frame, quickly=True) == expected, frame
            kinds[expected[0]] += 1
    assert min(kinds.values()) > FRAMES // 20


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(20))
def test_a_board_that_grows_is_written_as_python_would_write_it_anew(seed: int) -> None:
    chance, play, moves, told = Chance(seed), Play(), list[list[int]](), 0
    heard = play.start()
    while play.match.result is None:
        for message in heard[0] + heard[1]:
            value = json.loads(message)
            assert message == json.dumps(value)
            if value["event"] == "get_move":
                assert value["board"] == {
                    "_id": 15509 + play.match.board.number,
                    "_size": 15,
                    "_win_length": 5,
                    "_moves": moves,
                }
                assert value["color"] == "XO"[len(moves) % 2]
                told += 1
        (player,) = play.match.awaited
        x, y = chance.choice(
            [[x, y] for x in range(15) for y in range(15) if [x, y] not in moves] + moves[:1]
        )
        board = play.match.board.number
        heard = play.move(player, x, y)
        moves = [*moves, [x, y]] if play.match.board.number == board else []
    assert told > 2


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(200))
def test_frames_are_the_same_however_they_are_cut(seed: int) -> None:
    """Read at once where one comes alone and whole."""
    chance = Chance(seed)
    bodies = [
        bytes([65 + chance.below(20)]) * (1 + chance.below(chance.choice((3, 40, 3000))))
        for _ in range(8)
    ]
    stream, found, frames = Frames().pack(bodies), list[bytes](), Frames()
    pieces = [Frames().pack([body]) for body in bodies] if seed % 4 == 0 else cut(stream, chance)
    for piece in pieces:
        found += frames.feed(piece)
    assert (found, bytes(frames.rest)) == (bodies, b"")


def cut(stream: bytes, chance: Chance) -> list[bytes]:
    ends = sorted({0, len(stream), *(chance.below(len(stream)) for _ in range(chance.below(30)))})
    return [stream[start:end] for start, end in pairwise(ends)]
