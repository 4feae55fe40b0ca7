"""Pictures of observations, as text or as pixels: a letter and a colour for each plane.

They show what the player sees.
"""

from collections.abc import Iterator
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from botdrome.encodings.encoding import Array, Encoding

RenderMode = Literal["ansi", "rgb_array"]
RENDER_MODES = ("ansi", "rgb_array")
EMPTY = -1
TILE = 16
"""Pixels of one side of a place."""
NIGHT = (24, 24, 32)
COLOURS = (
    (66, 135, 245), (235, 87, 87), (222, 196, 150), (242, 201, 76), (39, 174, 96), (155, 81, 224),
    (47, 191, 214), (242, 153, 74), (130, 130, 130), (240, 98, 172), (111, 207, 151), (140, 90, 60),
    (245, 245, 245),
)  # fmt: skip
PALETTE = np.array([*COLOURS, NIGHT], np.uint8)


def picture(mode: str | None, encoding: Encoding, observation: Array) -> Any:
    if mode is None:
        return None
    return as_text(encoding, observation) if mode == "ansi" else as_pixels(encoding, observation)


def boards_in(encoding: Encoding, observation: Array) -> Iterator[NDArray[np.int_]]:
    """Yield each board, and each slice of a cube, with the number of the plane that is shown at
    each place.
    """
    if observation.ndim == 4:
        for slice_number in range(observation.shape[3]):
            yield _shown(observation[..., slice_number], 0)
    else:
        height = len(observation) // encoding.boards
        for first in range(0, len(observation), height):
            yield _shown(observation[first : first + height], first)


def _shown(planes: Array, first: int) -> NDArray[np.int_]:
    """Let later planes cover earlier ones.

    A plane that is the same everywhere, such as the time, covers nothing.
    """
    found = np.full(planes.shape[1:], EMPTY)
    for number, plane in enumerate(planes, first):
        found[(plane != 0) if plane.min() != plane.max() else (plane != 0) & (found == EMPTY)] = (
            number
        )
    return found


def as_pixels(encoding: Encoding, observation: Array) -> NDArray[np.uint8]:
    """Return rows of red, green and blue, with the boards side by side."""
    parts: list[NDArray[np.uint8]] = []
    for board in boards_in(encoding, observation):
        tiles = (
            np.where(board == EMPTY, EMPTY, board % len(COLOURS)).repeat(TILE, 0).repeat(TILE, 1)
        )
        tiles[::TILE] = tiles[:, ::TILE] = EMPTY
        parts += [PALETTE[tiles], np.full((len(tiles), TILE, 3), NIGHT, np.uint8)]
    return np.concatenate(parts[:-1], 1)


def as_text(encoding: Encoding, observation: Array) -> str:
    """Return coloured letters for a terminal, with the boards one below the other, and what the
    letters mean.
    """
    lines: list[str] = []
    seen: set[int] = set()
    for board in boards_in(encoding, observation):
        lines += ["".join(map(_sign, row)) for row in board.tolist()] + [""]
        seen.update(board.ravel().tolist())
    return (
        "\n".join(
            [
                *lines,
                *(f"{_sign(plane)} {encoding.planes[plane]}" for plane in sorted(seen - {EMPTY})),
            ]
        )
        + "\n"
    )


def _sign(plane: int) -> str:
    if plane == EMPTY:
        return " . "
    red, green, blue = COLOURS[plane % len(COLOURS)]
    return f"\x1b[30;48;2;{red};{green};{blue}m {ascii_uppercase[plane % 26]} \x1b[0m"
