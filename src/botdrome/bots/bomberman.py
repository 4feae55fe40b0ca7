"""House bots for Bomberman."""

from botdrome.games.bomberman_actions import PLACE_BOMB, WAIT, WORDS
from botdrome.games.bomberman_map import DIRECTIONS, FREE
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View


def random(view: View, chance: Chance) -> Raw:
    """Choose any legal action: draw actions until one is legal."""
    user = view["users"][view["you"]]
    action = chance.below(6)
    while not _is_legal(view, user, action):
        action = chance.below(6)
    return {"action": WORDS[action]}


def _is_legal(view: View, user: View, action: int) -> bool:
    if action == WAIT:
        return True
    row, column = user["at"]
    if action == PLACE_BOMB:
        return user["bombsLeft"] > 0 and not _has_bomb(view, row, column)
    down, right = DIRECTIONS[action]
    row, column = row + down, column + right
    if not (0 <= row < view["height"] and 0 <= column < view["width"]):
        return False
    return view["tiles"][row][column] == FREE and not _has_bomb(view, row, column)


def _has_bomb(view: View, row: int, column: int) -> bool:
    for bomb in view["bombs"]:
        at = bomb["at"]
        if at[0] == row and at[1] == column:
            return True
    return False
