"""Answers in battlecube: convert a bot's message to the plan that the rules play."""

import re
from typing import Any

import msgspec

from botdrome.games.game import IllegalMove, Raw
from botdrome.games.reading import bounded, shown, whole_within

Cell = tuple[int, int, int]
"""x from left to right, y from top to bottom, z from front to back."""
Task = str | Cell | None
"""A direction to step in, a cell to bomb, or None for no action."""
Plan = tuple[Task, ...]
"""One task for each tick of a round."""
Wish = tuple[str, Task]
"""The word of a task with its direction or cell. The shape is checked, the values are not."""

FARTHEST = 1_000_000
"""The largest coordinate of a bomb. Bombs may lie outside the cube, so this limit bounds the memory they use."""
WRONG_COUNT = "Invalid amount of directions sent"
STEPS: dict[str, Cell] = {
    "+X": (1, 0, 0), "-X": (-1, 0, 0), "+Y": (0, 1, 0), "-Y": (0, -1, 0), "+Z": (0, 0, 1), "-Z": (0, 0, -1),
}  # fmt: skip
AXES = {"x": "X", "X": "X", "y": "Y", "Y": "Y", "z": "Z", "Z": "Z"}
BOMB_WORDS = ("BOMB", "PLACE_BOMB")
SHAPES = 'a task is {"task"}, {"task", "direction"} or {"task", "x", "y", "z"}'
A_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)


def plan_in(raw: Raw, tasks: int) -> Plan:
    """Return the plan in an answer. Check the shape of all tasks first, then their number, then their values."""
    answer = _unpacked(raw) if isinstance(raw, str) else raw
    if not isinstance(answer, (list, tuple)):
        raise IllegalMove(f"an answer is a JSON list of tasks, not {shown(raw)}")
    if len(answer) == tasks == 1:
        return (_task(_wish(answer[0], 0), 0),)
    wishes = [_wish(element, at) for at, element in enumerate(answer)]
    if len(wishes) != tasks:
        raise IllegalMove(f"{WRONG_COUNT}: {len(wishes)}, where exactly {tasks} must be")
    return tuple([_task(wish, at) for at, wish in enumerate(wishes)])


def _unpacked(raw: str) -> Any:
    """Decode a JSON text inside a JSON text."""
    try:
        return msgspec.json.decode(bounded(raw.encode()))
    except (ValueError, RecursionError):
        return raw


def _wish(raw: Any, at: int) -> Wish:
    task = _unpacked(raw) if isinstance(raw, str) else raw
    if not isinstance(task, dict):
        raise _fault(at, f"{SHAPES}, not {shown(raw)}")
    word = _text(task.get("task"), "task", at)
    if len(task) == 1:
        return word, None
    if len(task) == 2 and "direction" in task:
        return word, _text(task["direction"], "direction", at)
    if len(task) == 4 and "x" in task and "y" in task and "z" in task:
        return word, (_coordinate(task, "x", at), _coordinate(task, "y", at), _coordinate(task, "z", at))
    raise _fault(at, f"{SHAPES}, not one with {shown(list(task))}")


def _text(value: Any, key: str, at: int) -> str:
    if isinstance(value, str) and value:
        return value
    raise _fault(at, f'"{key}" is a text that is not empty, not {shown(value)}')


def _coordinate(task: dict[str, Any], key: str, at: int) -> int:
    value = task[key]
    number = float(value) if isinstance(value, str) and A_NUMBER.fullmatch(value) else value
    try:
        return whole_within(number, f'"{key}"', 0, FARTHEST)
    except IllegalMove as fault:
        raise _fault(at, str(fault)) from None


def _task(wish: Wish, at: int) -> Task:
    word, what = wish
    if word == "MOVE":
        if not isinstance(what, str):
            raise _fault(at, 'MOVE needs a "direction"')
        return what if what in STEPS else _direction(what, at)
    if word in BOMB_WORDS:
        if not isinstance(what, tuple):
            raise _fault(at, f'{word} needs "x", "y" and "z"')
        return what
    return None


def _direction(text: str, at: int) -> str:
    axis = AXES.get(text[1:2])
    if axis is None:
        raise _fault(at, f'"direction" is a sign and an axis such as "+X", not {shown(text)}')
    return ("+" if text[0] == "+" else "-") + axis


def _fault(at: int, words: str) -> IllegalMove:
    return IllegalMove(f"task at position {at}: {words}")
