"""The drawing function of each game, and one for all other games."""

from collections.abc import Callable, Sequence

from rich.pretty import pretty_repr
from rich.text import Text

from botdrome.cli.pictures import (
    battlecube,
    battleship,
    bomberman,
    bumblebots,
    gomoku,
    noughts_and_crosses,
)
from botdrome.games.game import View

Picture = Callable[[View, Sequence[str]], Text]


def plain(view: View, names: Sequence[str]) -> Text:
    """Draw any view, key by key."""
    return Text(", ".join(names) + "\n" + pretty_repr(view))


PICTURES: dict[str, Picture] = {
    "bumblebots": bumblebots.picture,
    "battlecube": battlecube.picture,
    "battleship": battleship.picture,
    "bomberman": bomberman.picture,
    "noughts-and-crosses": noughts_and_crosses.picture,
    "gomoku": gomoku.picture,
}


def picture_of(game: str, view: View, names: Sequence[str]) -> Text:
    return PICTURES.get(game, plain)(view, names)
