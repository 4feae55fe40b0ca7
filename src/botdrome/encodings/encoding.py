"""Encoding: how the views and moves of a game become arrays and action numbers.

An encoding belongs to one set-up of a game and one number of players, so all its arrays have a
fixed size. It reads only what a bot sees, so the same code serves the environments and the policies
that play on a server.

Arrays are built from what changed since the last position, since numpy is slow with small arrays.
So `arrays` gets a memory: a dict that belongs to one board and starts empty. The arrays are the
same with an empty one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from botdrome.games.game import Raw, View

Array = NDArray[np.int8]
Arrays = tuple[Array, Array]
"""An observation, and the mask of its legal actions: 1 for a legal one, all zeros if the player is
not to move.
"""
Memory = dict[Any, Any]
"""What an encoding remembers of earlier positions of a board."""
HIGHEST = 127
"""The largest number in an observation. Larger ones are cut."""


class BadAction(ValueError):
    """A number that is no action, or a move that has no number."""


class Encoding:
    actions: int
    """The number of actions; they are numbered from 0."""
    shape: tuple[int, ...]
    """The shape of an observation; the first index is the plane."""
    planes: tuple[str, ...]
    """What each plane shows."""
    boards: int = 1
    """The number of boards, whose planes follow each other."""
    high: int = 1
    """The largest number in an observation."""
    open_views: bool = False
    """Whether the views of one position differ only in `you`, and several seats move at once, so
    that they can share them.
    """
    mortal: bool = False
    """Whether a seat may be dead while the others play on; see `playing`."""

    def arrays(self, view: View, memory: Memory) -> Arrays:
        raise NotImplementedError

    def move(self, view: View, action: int) -> Raw:
        """Return the move of an action, as a bot would send it."""
        raise NotImplementedError

    def action(self, view: View, move: Raw) -> int:
        """Return the number of a move. Raise BadAction if it has none."""
        raise NotImplementedError

    def playing(self, view: View) -> bool:
        """Return False if the seat is dead and only waits for the end.

        It is asked only where seats are mortal.
        """
        raise NotImplementedError


def square_in(move: Raw, first: str, second: str) -> tuple[int, int]:
    """Return two whole numbers of a move that is an object. Raise BadAction if there are none."""
    try:
        one, two = move[first], move[second]
    except (TypeError, LookupError):
        raise BadAction(f'a move has "{first}" and "{second}", not {move!r}') from None
    if type(one) is not int or type(two) is not int:
        raise BadAction(f'"{first}" and "{second}" are whole numbers, not {one!r} and {two!r}')
    return one, two
