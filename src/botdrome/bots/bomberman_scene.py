"""The scene: a view of Bomberman, prepared for bots that look ahead.

Sets of tiles are integers with one bit per tile, row by row from the lowest bit.
"""

from collections.abc import Iterable

from msgspec import Struct

from botdrome.games.bomberman_map import CRATE, FREE, WALL, Place, Rows
from botdrome.games.bomberman_round import flames
from botdrome.games.bomberman_things import Bomb
from botdrome.games.game import View

Tiles = int


class Scene(Struct, frozen=True):
    height: int
    width: int
    round: int
    fuse: int
    pierces: bool
    rows: Rows
    left_edge: Tiles
    lying: list[Bomb]
    doomed: set[Place]
    """The places that each of these bombs would burn by itself on the current map."""
    upgrades: list[Place]
    closing_at: int | None
    closing: list[Place]
    own: Bomb
    """The bomb that the bot could place now, on its own place."""
    can_place: bool
    rivals: list[Place]
    threats: list[Bomb]
    """The bombs that the rivals could place now."""

    def tile(self, place: Place) -> Tiles:
        return 1 << place[0] * self.width + place[1]

    def tiles(self, places: Iterable[Place]) -> Tiles:
        return sum(map(self.tile, set(places)))

    def can_enter(self, rows: Rows, lying: Iterable[Bomb]) -> Tiles:
        free = "".join(rows)[::-1].replace(FREE, "1").replace(CRATE, "0").replace(WALL, "0")
        return int(free, 2) & ~self.tiles(bomb.at for bomb in lying)

    def with_neighbours(self, tiles: Tiles) -> Tiles:
        """Return the tiles and their neighbours. The result may hold bits off the map."""
        right_edge = self.left_edge << self.width - 1
        beside = (tiles & ~self.left_edge) >> 1 | (tiles & ~right_edge) << 1
        return tiles | beside | tiles >> self.width | tiles << self.width


def scene_of(view: View) -> Scene:
    rows = tuple(view["tiles"])
    now, own, closing = view["round"], view["users"][view["you"]], view["closing"]
    lying = [Bomb(_place(bomb["at"]), now + bomb["turnsLeft"] - 1, bomb["range"], bomb["seat"]) for bomb in view["bombs"]]
    mined = {bomb.at for bomb in lying}
    rivals = [user for user in view["users"] if user["alive"] and user["seat"] != own["seat"]]
    could_be = {
        user["seat"]: Bomb(_place(user["at"]), now + view["fuse"], user["range"], user["seat"]) for user in (own, *rivals)
    }
    able = [user["seat"] for user in (own, *rivals) if user["bombsLeft"] and could_be[user["seat"]].at not in mined]
    return Scene(
        height=view["height"],
        width=view["width"],
        round=now,
        fuse=view["fuse"],
        pierces=view["flamePierces"],
        rows=rows,
        left_edge=sum(1 << row * view["width"] for row in range(view["height"])),
        lying=lying,
        doomed={place for bomb in lying for place in flames(rows, bomb, view["flamePierces"])},
        upgrades=[_place(upgrade["at"]) for upgrade in view["upgrades"]],
        closing_at=closing["at"],
        closing=[_place(place) for place in closing["next"]],
        own=could_be[own["seat"]],
        can_place=own["seat"] in able,
        rivals=[could_be[user["seat"]].at for user in rivals],
        threats=[could_be[seat] for seat in able if seat != own["seat"]],
    )


def _place(pair: Iterable[int]) -> Place:
    row, column = pair
    return row, column
