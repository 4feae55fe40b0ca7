"""The actions of Bomberman and their names."""

from botdrome.games.game import IllegalMove, Raw
from botdrome.games.reading import shown

Action = int
UP, DOWN, LEFT, RIGHT, PLACE_BOMB, WAIT = range(6)
"""The first four are directions, in the same order as DIRECTIONS of the map."""
WORDS = ("MOVE_UP", "MOVE_DOWN", "MOVE_LEFT", "MOVE_RIGHT", "PLACE_BOMB", "WAIT")
SHORT_WORDS = {"UP": UP, "DOWN": DOWN, "LEFT": LEFT, "RIGHT": RIGHT, "BOMB": PLACE_BOMB, "STAY": WAIT, "NOOP": WAIT}
ACTIONS: dict[str, Action] = {word: action for action, word in enumerate(WORDS)} | SHORT_WORDS


def action_in(raw: Raw) -> Action:
    """Return the action that a name stands for. The name may be lower case, and may be in an object."""
    word = raw
    if isinstance(raw, dict):
        if "action" not in raw:
            raise IllegalMove('MISSING_FIELD: the key "action" is missing')
        word = raw["action"]
    if isinstance(word, str):
        action = ACTIONS.get(word)
        if action is None:
            action = ACTIONS.get(word.upper())
        if action is not None:
            return action
    raise IllegalMove(f"UNKNOWN_ACTION: an action is one of {', '.join(WORDS)}, not {shown(word)}")
