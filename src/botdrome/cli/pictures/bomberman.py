"""Bomberman in the terminal."""

from collections.abc import Sequence

from rich.text import Text

from botdrome.games.game import View

TILES = {".": ("· ", "dim"), "+": ("▒▒", "yellow"), "#": ("██", "grey37")}
COLOURS = (
    "cyan",
    "magenta",
    "green",
    "blue",
    "red",
    "bright_yellow",
    "bright_cyan",
    "bright_magenta",
)
SIGNS = "ABCDEFGH"
UPGRADES = {"ADDITIONAL_BOMB": ("+o", "bold green"), "EXPLOSION_RANGE": ("+*", "bold green")}
Sign = tuple[str, str]


def picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position; `names` are the players by seat.

    A user that stands on a bomb shows with the turns left.
    """
    text = Text(no_wrap=True).append(f"round {view['round']} of {view['rounds']}", "bold")
    for user in view["users"]:
        text.append_text(_user_line(user, names[user["seat"]]))
    things = _things(view)
    for row, tiles in enumerate(view["tiles"]):
        text.append("\n")
        for column, tile in enumerate(tiles):
            text.append(*things.get((row, column), TILES[tile]))
    return text


def _user_line(user: View, name: str) -> Text:
    line = Text("\n").append(
        f"{SIGNS[user['seat']]} {name[:20]:20}",
        COLOURS[user["seat"]] if user["alive"] else "dim strike",
    )
    line.append(f" bombs {user['bombsLeft']:2}  range {user['range']:2}  ")
    return line.append(
        f"kills {user['kills']}  crates {user['crates']:3}  upgrades {user['upgrades']:2}", "dim"
    )


def _things(view: View) -> dict[tuple[int, int], Sign]:
    """Return the marks and styles by place; later ones cover earlier ones."""
    things: dict[tuple[int, int], Sign] = {}
    for row, column in view["closing"]["next"]:
        if view["tiles"][row][column] == "." and view["closing"]["at"] == view["round"]:
            things[row, column] = ("! ", "bold yellow")
    for row, column in view["explosions"]:
        things[row, column] = ("~~", "red")
    for upgrade in view["upgrades"]:
        row, column = upgrade["at"]
        things[row, column] = UPGRADES[upgrade["type"]]
    return things | _bombs_and_users(view)


def _bombs_and_users(view: View) -> dict[tuple[int, int], Sign]:
    ticking = {(bomb["at"][0], bomb["at"][1]): str(bomb["turnsLeft"]) for bomb in view["bombs"]}
    signs = {place: (f"o{turns}"[:2], "bold red") for place, turns in ticking.items()}
    for user in view["users"]:
        if user["alive"]:
            row, column = user["at"]
            signs[row, column] = (
                f"{SIGNS[user['seat']]}{ticking.get((row, column), ' ')}"[:2],
                f"bold {COLOURS[user['seat']]}",
            )
    return signs
