"""Positions of Bomberman as drawings: A to H are users, b and r upgrades, digits bombs with the
turns that are left.
"""

from msgspec.structs import replace

from botdrome.games.bomberman import FREE, UPGRADES, Bomberman, Move, Place, Upgrade, User
from botdrome.games.chance import Chance
from botdrome.games.game import Seat

CHANCE = Chance(0)
LETTERS = "ABCDEFGH"
TILES = ".+#"


def drawn(drawing: str, hidden: dict[Place, str] | None = None, **options: int) -> Bomberman:
    """The position of a drawing; `hidden` is the content of its crates.

    By default no walls close in.
    """
    rows = drawing.split()
    places = {
        (row, column): tile for row, tiles in enumerate(rows) for column, tile in enumerate(tiles)
    }
    at = {tile: place for place, tile in places.items() if tile in LETTERS}
    letters = hidden or {}
    setup = Bomberman(height=len(rows), width=len(rows[0]), **({"closing": 0} | options))  # type: ignore[arg-type]
    return replace(
        setup,
        tiles=tuple("".join(tile if tile in TILES else FREE for tile in row) for row in rows),
        hidden=tuple(
            "".join(letters.get((r, c), FREE) for c in range(len(rows[0])))
            for r in range(len(rows))
        ),
        at=tuple(at[letter] for letter in sorted(at)),
        found=tuple(
            Upgrade(place, UPGRADES[tile]) for place, tile in places.items() if tile in UPGRADES
        ),
        users=(User(setup.bombs, setup.radius),) * len(at),
        to_move=tuple(range(len(at))),
    )


def after(position: Bomberman, *rounds: str) -> Bomberman:
    """The position after rounds such as "A UP, B BOMB": users that are not named do nothing."""
    for orders in rounds:
        moves: dict[Seat, Move] = {}
        for order in filter(None, orders.split(", ")):
            letter, word = order.split()
            moves[LETTERS.index(letter)] = position.parse(LETTERS.index(letter), {"action": word})
        position = position.play(moves, CHANCE)
    return position


def drawing(position: Bomberman) -> str:
    """The position as it would be drawn, users before bombs."""
    rows = [list(row) for row in position.tiles]
    for upgrade in position.found:
        rows[upgrade.at[0]][upgrade.at[1]] = {name: letter for letter, name in UPGRADES.items()}[
            upgrade.type
        ]
    for bomb in position.view(None)["bombs"]:
        rows[bomb["at"][0]][bomb["at"][1]] = str(bomb["turnsLeft"])
    for letter, place in zip(LETTERS, position.at, strict=False):
        if place is not None:
            rows[place[0]][place[1]] = letter
    return "\n".join("".join(row) for row in rows)


def lined(text: str) -> str:
    """A drawing in a test, without its indent."""
    return "\n".join(text.split())
