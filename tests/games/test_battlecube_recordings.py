"""Games of the original battlecube server, recorded there and played again by our rules."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct, field

from botdrome.games.battlecube import WRONG_COUNT, Battlecube, Plan
from botdrome.games.chance import Chance
from botdrome.games.game import IllegalMove, Seat

RECORDINGS = sorted(Path(__file__).with_name("battlecube").glob("*.jsonl"))
DIFFER = {
    "20-answer-bad-direction": "a junk axis is refused",
    "20-answer-unknown-task": "doing nothing is told",
}
ALIKE = [recording for recording in RECORDINGS if recording.stem not in DIFFER]

NOTHING_CAME = ""
"""Stands for an answer that was no JSON, or did not come."""
OPTIONS = {"edgeLength": "edge", "maxNumOfTicks": "ticks", "numOfTasksPerTick": "tasks"}
EVENTS = {
    "PLAYER_MOVE_ATTEMPT": "move",
    "PLAYER_PLACED_BOMB": "bomb",
    "PLAYER_DID_NOTHING": "nothing",
}


class Tick(Struct):
    """One tick of the original: the state before it, the answers, and the events after it."""

    state: Any
    update: Any = None
    """Another set-up, sent before the answers came."""
    answers: dict[str, str] = field(default_factory=dict)
    events: list[tuple[str, Any]] = field(default_factory=list)


class Recorded(Struct):
    setup: Any
    ticks: list[Tick]
    end: Any

    @property
    def names(self) -> list[str]:
        """By seat: the original goes by the list of start positions."""
        return [start["name"] for start in self.setup["playerStartPositions"]]

    @property
    def game(self) -> Battlecube:
        setup = self.setup
        starts = tuple(
            (start["x"], start["y"], start["z"]) for start in setup["playerStartPositions"]
        )
        return Battlecube(
            setup["edgeLength"], setup["maxNumOfTicks"], setup["numOfTasksPerTick"], starts
        )


def read(recording: Path) -> Recorded:
    setup, ticks, end = None, list[Tick](), None
    for line in map(msgspec.json.decode, recording.read_bytes().splitlines()):
        event, payload = line.get("event"), line.get("args", [None])[0]
        if event == "NEW_GAME":
            setup = payload["setup"]
        elif event == "NEXT_TICK":
            ticks.append(Tick(payload))
        elif event == "GAME_SETUP_UPDATE":
            ticks[-1].update = payload
        elif event == "GAME_ENDED":
            end = payload
        elif event == "PLAYER_LOST" or event in EVENTS:
            ticks[-1].events.append((event, payload))
        elif line["kind"] == "http_res":
            ticks[-1].answers[line["bot"]] = line.get("body_raw", NOTHING_CAME)
    return Recorded(setup, ticks, end)


def asked(
    position: Battlecube, tick: Tick, names: list[str]
) -> tuple[dict[Seat, Plan], dict[Seat, str]]:
    """The plans of those that answered well, and the faults of the others."""
    plans: dict[Seat, Plan] = {}
    faults: dict[Seat, str] = {}
    for seat in position.to_move:
        try:
            plans[seat] = position.parse(
                seat, msgspec.json.decode(tick.answers.get(names[seat], NOTHING_CAME))
            )
        except msgspec.DecodeError:
            faults[seat] = "no JSON"
        except IllegalMove as fault:
            faults[seat] = str(fault)
    return plans, faults


def played(recorded: Recorded) -> Iterator[tuple[Battlecube, dict[Seat, str], Battlecube]]:
    """Tick by tick the position before, the faults, and the position after."""
    position = recorded.game.start(len(recorded.names), Chance(0))
    for tick in recorded.ticks:
        before = position
        if tick.update:
            position = position.amend(
                {ours: tick.update[theirs] for theirs, ours in OPTIONS.items()}
            )
        plans, faults = asked(position, tick, recorded.names)
        for seat in faults:
            position = position.without(seat)
        position = position.play(plans, Chance(0))
        yield before, faults, position


def happenings(tick: Tick, names: list[str], faults: dict[Seat, str]) -> Iterator[dict[str, Any]]:
    """The recorded events as our view has them.

    Losses by a failed call belong to the match, and no player loses twice.
    """
    lost = set(faults)
    for event, payload in tick.events:
        seat = names.index(payload["name"])
        if event in EVENTS:
            yield {"seat": seat, "did": EVENTS[event]} | {axis: payload[axis] for axis in "xyz"}
        elif seat not in lost:
            lost.add(seat)
            yield {"seat": seat, "lost": payload["cause"]}


def without_direction(happened: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in happening.items() if key != "direction"}
        for happening in happened
    ]


def in_seats(players: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    return [
        {"seat": names.index(player["name"])} | {axis: player[axis] for axis in "xyz"}
        for player in players
    ]


@pytest.mark.parametrize("recording", ALIKE, ids=lambda path: path.stem)
def test_every_tick_goes_as_in_the_original(recording: Path) -> None:
    recorded = read(recording)
    names = recorded.names
    for tick, (before, faults, after) in zip(recorded.ticks, played(recorded), strict=True):
        view, state = before.view(None), tick.state
        assert view["tick"] == state["gameInfo"]["currentTick"]
        assert view["players"] == in_seats(state["players"], names)
        assert [{"x": x, "y": y, "z": z, "type": "BOMB"} for x, y, z in view["bombs"]] == state[
            "items"
        ]
        assert without_direction(after.view(None)["happened"]) == list(
            happenings(tick, names, faults)
        )


@pytest.mark.parametrize("recording", ALIKE, ids=lambda path: path.stem)
def test_the_same_answers_are_refused(recording: Path) -> None:
    recorded = read(recording)
    for tick, (_, faults, _) in zip(recorded.ticks, played(recorded), strict=True):
        losses = [payload for event, payload in tick.events if event == "PLAYER_LOST"]
        refused = [payload for payload in losses if isinstance(payload["cause"], dict)]
        assert [recorded.names[seat] for seat in faults] == [payload["name"] for payload in refused]
        for words, payload in zip(faults.values(), refused, strict=True):
            assert words.startswith(WRONG_COUNT) == (payload["cause"].get("details") == WRONG_COUNT)


@pytest.mark.parametrize("recording", ALIKE, ids=lambda path: path.stem)
def test_it_ends_as_in_the_original(recording: Path) -> None:
    recorded = read(recording)
    *earlier, last = [after for _, _, after in played(recorded)]
    assert last.over
    assert not any(position.over for position in earlier)
    scores, left = last.scores, last.seats
    order = [*(seat for seat, _, _ in last.lost), *left]
    expected = [(score["name"], score["highScore"]) for score in recorded.end["scores"]]
    assert [(recorded.names[seat], scores[seat]) for seat in order] == expected
    assert (recorded.end["result"] == "WINNER_FOUND") == (len(left) == 1)
    if len(left) == 1:
        assert recorded.end["winner"]["name"] == recorded.names[left[0]]


def test_a_junk_axis_is_a_loss_here() -> None:
    recorded = read(next(path for path in RECORDINGS if path.stem == "20-answer-bad-direction"))
    _, faults, after = list(played(recorded))[1]
    assert list(faults) == [0]
    assert after.lost == ((0, 1, None),)


def test_an_unknown_word_is_told_as_doing_nothing_here() -> None:
    recorded = read(next(path for path in RECORDINGS if path.stem == "20-answer-unknown-task"))
    tick, (_, faults, after) = recorded.ticks[1], list(played(recorded))[1]
    assert not faults
    assert after.view(None)["happened"] == [
        {"seat": 0, "did": "nothing", "x": 1, "y": 1, "z": 1},
        *happenings(tick, recorded.names, faults),
    ]
    assert after.tick == 2
    assert after.seats == (0, 1, 2)
