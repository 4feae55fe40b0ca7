"""The objects on the map of Bomberman: users, bombs and upgrades."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from botdrome.games.bomberman_map import ADDITIONAL_BOMB, Place
from botdrome.games.game import Seat


class Bomb(Struct, frozen=True):
    at: Place
    due: int
    """The round after which it explodes."""
    range: int
    seat: Seat


Fate = Literal["bombs", "walls", "left"]


class Death(Struct, frozen=True):
    """How a user died."""

    round: int
    fate: Fate
    bombs: tuple[Bomb, ...] = ()
    """The bombs whose flames reached the user."""

    def told(self, seat: Seat, names: Sequence[str]) -> str:
        """Say who died, when and how. `names` are those of the seats."""
        if self.fate != "bombs":
            how = "was crushed by the walls" if self.fate == "walls" else "left"
            return f"{names[seat]} {how} in round {self.round}"
        owners = sorted({bomb.seat for bomb in self.bombs})
        bombs = " and ".join("its own bomb" if owner == seat else f"a bomb of {names[owner]}" for owner in owners)
        return f"{names[seat]} was killed by {bombs} in round {self.round}"


class User(Struct, frozen=True):
    """The state of one seat's user, except its place, which is in the position."""

    bombs_left: int
    range: int
    kills: int = 0
    crates: int = 0
    upgrades: int = 0
    death: Death | None = None
    """None if the user lives."""

    def upgraded(self, kind: str) -> "User":
        taken = self.upgrades + 1
        if kind == ADDITIONAL_BOMB:
            return replace(self, upgrades=taken, bombs_left=self.bombs_left + 1)
        return replace(self, upgrades=taken, range=self.range + 1)


class Upgrade(Struct, frozen=True):
    at: Place
    type: str
