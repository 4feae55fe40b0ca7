"""Drawings: boards and standings as PNG, and matches as animated GIF, by Pillow, without a browser.

A game's painter draws its public view in units of its own: a space of the board is one unit wide.
Everything is drawn at twice its size and then reduced, so that edges are smooth. The colours are
those of the pages in daylight.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import BytesIO
from math import ceil, cos, pi, sin
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from botdrome.games.game import Game, View
from botdrome.match.events import Began, BoardEnded, Ended, Played
from botdrome.match.record import Record, replay

if TYPE_CHECKING:
    from PIL.Image import Image

INK, MUTED, PAPER, RAISED, SOFT, LINE = (
    "#1c212b", "#5a6170", "#fbfaf7", "#ffffff", "#f0ede5", "#d8d4ca",
)  # fmt: skip
ACCENT, BAD, WATER, WOOD, STONE, MEADOW, FIRE = (
    "#9a3f06", "#a4262c", "#e3f1fa", "#d9ad75", "#727884", "#e3ecd0", "#f59f00",
)  # fmt: skip
SEATS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7a5195", "#5f6a72",
    "#8c564b", "#e69f00",
)  # fmt: skip
"""As in `web/src/styles/base.css`."""
SEATS_PALE = (
    "#a6d0e8", "#f0c3a0", "#a0dac9", "#ecd0df", "#e4d49f", "#c4e4f7", "#cdbcd8", "#c4c8cb",
    "#d6c0bb", "#f7dca0",
)  # fmt: skip
"""For land that belongs to a player."""
FINE = 2
"""Everything is drawn this many times as large as it is shown."""


class DrawnScene(Struct, frozen=True):
    """A position of a match."""

    step: int
    order: tuple[int, ...]
    """The players by seat."""
    view: View


class Pen:
    """Draws on a picture. (0, 0) is the top left corner of a board, and `unit` its pixels."""

    def __init__(self, image: "Image", left: float, top: float, unit: float) -> None:
        from PIL import ImageDraw

        self._draw, self._left, self._top = ImageDraw.Draw(image), left * FINE, top * FINE
        self._unit = unit * FINE

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self._left + x * self._unit, self._top + y * self._unit

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, round_by: float = 0
    ) -> None:
        corners = (*self._at(x, y), *self._at(x + width, y + height))
        self._draw.rounded_rectangle(corners, round_by * self._unit, fill)

    def disc(
        self, x: float, y: float, radius: float, fill: str | None, edge: str = "", width: float = 0
    ) -> None:
        corners = (*self._at(x - radius, y - radius), *self._at(x + radius, y + radius))
        self._draw.ellipse(corners, fill, edge or None, round(width * self._unit))

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float = 0.03) -> None:
        thick = max(1, round(width * self._unit))
        self._draw.line([self._at(*point) for point in points], colour, thick, "curve")

    def shape(self, points: Sequence[tuple[float, float]], fill: str) -> None:
        self._draw.polygon([self._at(*point) for point in points], fill)

    def cross(self, x: float, y: float, size: float, colour: str, width: float) -> None:
        for way in (size, -size):
            self.line([(x - size, y - way), (x + size, y + way)], colour, width)

    def text(
        self, x: float, y: float, words: str, size: float, colour: str = INK, anchor: str = "mm",
        most: float = 0,
    ) -> None:  # fmt: skip
        """`most`: the width after which the text is cut off."""
        font, words = font_of(max(1, round(size * self._unit))), " ".join(words.split())
        if most and font.getlength(words) > most * self._unit:
            while words and font.getlength(words + "...") > most * self._unit:
                words = words[:-1]
            words = words.rstrip() + "..."
        self._draw.text(self._at(x, y), words, colour, font, anchor)

    def sign(self, x: float, y: float, player: int, radius: float) -> None:
        """The colour and the number of a player."""
        self.disc(x, y, radius, SEATS[player % len(SEATS)], RAISED, radius / 6)
        sign = str(player + 1) if player < 9 else chr(65 + (player - 9) % 26)
        self.text(x, y, sign, radius * 1.2, RAISED)


@cache
def font_of(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


# The painters of the games. Each gets a pen, the view and the players by seat.

Painter = Callable[[Pen, View, Sequence[int]], None]
Size = Callable[[View], tuple[float, float]]


def paint_noughts(pen: Pen, view: View, order: Sequence[int]) -> None:
    for y, row in enumerate(view["board"]):
        for x, mark in enumerate(row):
            pen.box(x + 0.03, y + 0.03, 0.94, 0.94, SOFT, 0.08)
            if mark:
                colour = SEATS[order[view["marks"].index(mark)] % len(SEATS)]
                if mark == "X":
                    pen.cross(x + 0.5, y + 0.5, 0.26, colour, 0.13)
                else:
                    pen.disc(x + 0.5, y + 0.5, 0.33, None, colour, 0.12)


def paint_gomoku(pen: Pen, view: View, order: Sequence[int]) -> None:
    size, rows = view["size"], view["board"]
    pen.box(0, 0, size, size, "#ecd9b0", 0.2)
    for at in range(size):
        pen.line([(0.5, at + 0.5), (size - 0.5, at + 0.5)], "#b08d57")
        pen.line([(at + 0.5, 0.5), (at + 0.5, size - 0.5)], "#b08d57")
    for y, row in enumerate(rows):
        for x, mark in enumerate(row):
            if mark in "XO":
                pen.disc(x + 0.5, y + 0.5, 0.43, SEATS[order["XO".index(mark)] % len(SEATS)])
    for x, y in view["line"] or view["moves"][-1:]:
        pen.disc(x + 0.5, y + 0.5, 0.16, RAISED)


def paint_bumblebots(pen: Pen, view: View, order: Sequence[int]) -> None:
    rows = view["board"]
    spots = dict(_hexes(rows))
    owners = {5: order[0], 6: order[-1]}
    for (row, column), (x, y) in spots.items():
        cell = rows[row][column]
        ground = SEATS_PALE[owners[cell] % len(SEATS)] if cell in owners else MEADOW
        pen.shape(_hexagon(x, y, 0.56), STONE if cell == 1 else ground)
        if cell == 2:
            pen.disc(x, y, 0.3, "#fbc4dc", "#b8336f", 0.05)
            pen.disc(x, y, 0.12, "#f2bd1d")
    for swarm, player in zip(view["drones"], order, strict=True):
        for drone in swarm.values():
            row, column = drone["position"]
            pen.sign(*spots[row, column], player, 0.42)


def _hexes(rows: Sequence[Sequence[Any]]) -> Iterator[tuple[tuple[int, int], tuple[float, float]]]:
    """Yield the middle of each hex. A row is half a hex to the left of a shorter one."""
    for number, row in enumerate(rows):
        there = [column for column, cell in enumerate(row) if cell is not None]
        for place, column in enumerate(there):
            x = abs(len(rows) // 2 - number) / 2 + place + 0.5
            yield (number, column), (x, number * 0.866 + 0.58)


def _hexagon(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    return [
        (x + radius * sin(corner * pi / 3), y + radius * cos(corner * pi / 3))
        for corner in range(6)
    ]


def paint_battleship(pen: Pen, view: View, order: Sequence[int]) -> None:
    width, height = view["width"], view["height"]
    for seat, (left, top) in enumerate(_seas(view)):
        pen.sign(left + 0.7, top + 0.7, order[seat], 0.6)
        pen.box(left, top + 1.5, width, height, WATER, 0.1)
        for y, row in enumerate((view["fleets"] or view["boards"])[seat]):
            for x, mark in enumerate(row):
                _paint_square(pen, left + x, top + 1.5 + y, mark)
    last = view["last"]
    if last is not None and "target" in last:
        left, top = list(_seas(view))[last["target"]]
        pen.disc(left + last["x"] + 0.5, top + last["y"] + 2, 0.62, None, INK, 0.1)


def _paint_square(pen: Pen, x: float, y: float, mark: str) -> None:
    pen.box(x + 0.04, y + 0.04, 0.92, 0.92, "#d3e8f6" if mark in ".0X" else "#8a8f98")
    if mark == "0":
        pen.disc(x + 0.5, y + 0.5, 0.18, RAISED, MUTED, 0.06)
    elif mark == "X" or mark.islower():
        pen.box(x + 0.1, y + 0.1, 0.8, 0.8, BAD, 0.12)
        pen.cross(x + 0.5, y + 0.5, 0.2, RAISED, 0.1)


def _seas(view: View) -> Iterator[tuple[float, float]]:
    """Yield the top left corners of the boards."""
    across = ceil(len(view["boards"]) ** 0.5)
    for seat in range(len(view["boards"])):
        yield seat % across * (view["width"] + 1), seat // across * (view["height"] + 2.2)


def _size_of_seas(view: View) -> tuple[float, float]:
    left, top = zip(*_seas(view), strict=True)
    return max(left) + view["width"], max(top) + view["height"] + 1.5


def paint_bomberman(pen: Pen, view: View, order: Sequence[int]) -> None:
    for y, row in enumerate(view["tiles"]):
        for x, tile in enumerate(row):
            pen.box(x, y, 1, 1, {"#": STONE, "+": WOOD}.get(tile, "#ece7da"))
            if tile != ".":
                pen.box(x, y + 0.82, 1, 0.18, "#5a6170" if tile == "#" else "#a97c46")
    for y, x in view["explosions"]:
        pen.disc(x + 0.5, y + 0.5, 0.45, FIRE)
        pen.disc(x + 0.5, y + 0.5, 0.22, "#fff3c4")
    for upgrade in view["upgrades"]:
        y, x = upgrade["at"]
        pen.disc(x + 0.5, y + 0.5, 0.28, RAISED, ACCENT, 0.07)
        pen.text(x + 0.5, y + 0.5, "+", 0.45, ACCENT)
    for bomb in view["bombs"]:
        y, x = bomb["at"]
        owner = order[bomb["seat"]] if bomb["seat"] is not None else 7
        pen.disc(x + 0.5, y + 0.5, 0.38, "#23272e", SEATS[owner % len(SEATS)], 0.08)
        pen.text(x + 0.5, y + 0.5, str(bomb["turnsLeft"]), 0.4, RAISED)
    for user in view["users"]:
        if user["alive"]:
            y, x = user["at"]
            pen.sign(x + 0.5, y + 0.5, order[user["seat"]], 0.46)


def paint_battlecube(pen: Pen, view: View, order: Sequence[int]) -> None:
    """The cube from a corner above. A line leads from each thing to its place on the floor."""
    edge = view["edge"]
    corners = [(x, y, z) for x in (0, edge) for y in (0, edge) for z in (0, edge)]
    for at in range(edge + 1):
        pen.line([_flat(edge, at, 0, 0), _flat(edge, at, edge, 0)], LINE)
        pen.line([_flat(edge, 0, at, 0), _flat(edge, edge, at, 0)], LINE)
    for one in corners:
        for other in corners:
            if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
                pen.line([_flat(edge, *one), _flat(edge, *other)], MUTED, 0.05)
    things = [(tuple(bomb), None) for bomb in view["bombs"]]
    things += [((one["x"], one["y"], one["z"]), order[one["seat"]]) for one in view["players"]]
    for (x, y, z), player in sorted(things, key=lambda thing: (sum(thing[0][:2]), thing[0][2])):
        spot = _flat(edge, x + 0.5, y + 0.5, z + 0.5)
        pen.line([spot, _flat(edge, x + 0.5, y + 0.5, 0)], MUTED, 0.03)
        if player is None:
            pen.disc(*spot, 0.26, INK)
        else:
            pen.sign(*spot, player, 0.42)


def _flat(edge: int, x: float, y: float, z: float) -> tuple[float, float]:
    return (x - y + edge) * 0.866, (x + y) / 2 + edge - z


def paint_any(pen: Pen, view: View, _order: Sequence[int]) -> None:
    """A game without a painter: the signs of its first list of rows."""
    for y, row in enumerate(_rows(view)):
        for x, cell in enumerate(row):
            pen.box(x + 0.03, y + 0.03, 0.94, 0.94, SOFT, 0.08)
            pen.text(x + 0.5, y + 0.5, "" if cell is None else str(cell)[:3], 0.45)


def _rows(view: View) -> Sequence[Sequence[Any]]:
    lists = (value for value in view.values() if isinstance(value, list | tuple) and value)
    return next((value for value in lists if isinstance(value[0], list | tuple | str)), ())


def _size_of_rows(view: View) -> tuple[float, float]:
    rows = _rows(view)
    return max([1, *map(len, rows)]), max(1, len(rows))


def _size_of_cube(view: View) -> tuple[float, float]:
    return view["edge"] * 2 * 0.866, view["edge"] * 2


def _size_of_hexes(view: View) -> tuple[float, float]:
    places = [place for _, place in _hexes(view["board"])]
    return max(x for x, _ in places) + 0.5, max(y for _, y in places) + 0.58


PAINTERS: dict[str, tuple[Painter, Size]] = {
    "noughts-and-crosses": (paint_noughts, lambda view: _size_of_rows({"": view["board"]})),
    "bumblebots": (paint_bumblebots, _size_of_hexes),
    "gomoku": (paint_gomoku, lambda view: (view["size"], view["size"])),
    "battleship": (paint_battleship, _size_of_seas),
    "battlecube": (paint_battlecube, _size_of_cube),
    "bomberman": (paint_bomberman, lambda view: (view["width"], view["height"])),
}


def draw_board(
    image: "Image", game: str, scene: DrawnScene, left: float, top: float, side: float
) -> None:
    """Draw a position into a square of a picture."""
    paint, size = PAINTERS.get(game, (paint_any, _size_of_rows))
    width, height = size(scene.view)
    unit = side / max(width, height)
    left, top = left + (side - width * unit) / 2, top + (side - height * unit) / 2
    paint(Pen(image, left, top, unit), scene.view, scene.order)


# Pictures for previews of links, in the size that they have there.

WIDTH, HEIGHT, MARGIN = 1200, 630, 30
MOST_NAMES, MOST_LINES = 6, 8
BRAND = "Botdrome"


class StandingsRow(Struct, frozen=True):
    """A row of a table: a place, a name and a figure."""

    place: str
    name: str
    figure: str


def match_picture(
    game: str, names: Sequence[str], scene: DrawnScene, scores: Sequence[str], outcome: str
) -> bytes:
    """A board with its players. `scores` are those of the players; empty: it has none."""
    image = _paper(WIDTH, HEIGHT)
    pen, side = Pen(image, 0, 0, 1), HEIGHT - 2 * MARGIN
    pen.box(MARGIN - 10, MARGIN - 10, side + 20, side + 20, RAISED, 12)
    draw_board(image, game, scene, MARGIN, MARGIN, side)
    left, right = side + 3 * MARGIN, WIDTH - 1.5 * MARGIN
    pen.text(left, 70, titled(game), 30, MUTED, "ls", right - left)
    few = min(len(names), MOST_NAMES)
    for player, name in enumerate(names[:few]):
        y, figure = 125 + player * 58, scores[player] if scores else ""
        pen.sign(left + 20, y, player, 20)
        pen.text(left + 56, y, name, 36, INK, "lm", right - left - 60 - 20 * len(figure))
        pen.text(right, y, figure, 32, MUTED, "rm")
    if len(names) > few:
        pen.text(left, 125 + few * 58, f"and {len(names) - few} more", 28, MUTED, "lm")
    pen.text(left, HEIGHT - 100, outcome, 38, ACCENT, "ls", right - left)
    pen.text(left, HEIGHT - 45, BRAND, 26, MUTED, "ls")
    return _png(image)


def standings_picture(title: str, about: str, rows: Sequence[StandingsRow]) -> bytes:
    image = _paper(WIDTH, HEIGHT)
    pen, left, right = Pen(image, 0, 0, 1), 2.0 * MARGIN, WIDTH - 2.0 * MARGIN
    pen.text(left, 95, title, 58, INK, "ls", right - left)
    pen.text(left, 145, about, 30, MUTED, "ls", right - left)
    for number, row in enumerate(rows[:MOST_LINES]):
        y = 200 + number * 46
        pen.line([(left, y + 24), (right, y + 24)], LINE, 1)
        pen.text(left, y, row.place, 30, MUTED, "lm")
        pen.text(left + 70, y, row.name, 32, INK, "lm", right - left - 90 - 18 * len(row.figure))
        pen.text(right, y, row.figure, 32, ACCENT, "rm")
    pen.text(left, HEIGHT - 35, BRAND, 26, MUTED, "ls")
    return _png(image)


def titled(game: str) -> str:
    """The name of a game as a heading has it."""
    return game.replace("-", " ").capitalize()


def _paper(width: int, height: int) -> "Image":
    from PIL import Image

    return Image.new("RGB", (width * FINE, height * FINE), PAPER)


def _png(image: "Image") -> bytes:
    file = BytesIO()
    image.reduce(FINE).quantize(128).save(file, "PNG", optimize=True)
    return file.getvalue()


# Animations.

SIDE, STRIP = 480, 44
"""Pixels of the board, and of the line of names below it."""
MOST_SCENES, SAMPLES = 500, 12
"""Positions of an animation, and those from which its colours are taken."""
LAST = 3000
"""Milliseconds for which the end is shown."""


def unbounded() -> None:
    """The check of work that may take as long as it takes."""


def scenes(
    record: Record,
    game: Game[Any],
    most: int = MOST_SCENES,
    check: Callable[[], None] = unbounded,
) -> list[DrawnScene]:
    """Return the positions of a match; of a longer match every n-th and the last.

    `check` is called before each input. Raise BadRecord if it cannot be replayed.
    """
    found: list[tuple[int, tuple[int, ...], Game[Any]]] = []
    step, order = 0, tuple(range(len(record.setup.names)))
    for _, news in replay(record, game):
        check()
        for event, position in news:
            if isinstance(event, Began):
                order = event.order
            elif isinstance(event, Played):
                step = event.step + 1
            if isinstance(event, Began | Played):
                found.append((step, order, position))
            elif isinstance(event, BoardEnded | Ended) and found:  # shows what was hidden
                found[-1] = step, order, position
    every = ceil(len(found) / most)
    chosen = found[::every] + ([] if (len(found) - 1) % every == 0 else found[-1:])
    return [DrawnScene(step, order, position.view(None)) for step, order, position in chosen]


def animation(
    game: str,
    names: Sequence[str],
    scenes: Sequence[DrawnScene],
    rate: float,
    check: Callable[[], None] = unbounded,
) -> bytes:
    """Return a match as GIF, with `rate` positions a second. `check` is called before each."""
    from PIL.Image import Dither

    some = scenes[:: ceil(len(scenes) / SAMPLES)]
    file, palette = BytesIO(), _palette([_frame(game, names, scene) for scene in some])

    def drawn() -> Iterator["Image"]:
        for scene in scenes:
            check()
            yield _frame(game, names, scene).quantize(palette=palette, dither=Dither.NONE)

    frames, pause = drawn(), max(20, round(1000 / rate))
    first = next(frames)
    durations = [pause] * (len(scenes) - 1) + [LAST]
    first.save(
        file, "GIF", save_all=True, append_images=frames, duration=durations, loop=0, optimize=False
    )
    return file.getvalue()


def _frame(game: str, names: Sequence[str], scene: DrawnScene) -> "Image":
    image = _paper(SIDE, SIDE + STRIP)
    draw_board(image, game, scene, 8, 8, SIDE - 16)
    pen, few = Pen(image, 0, SIDE, 1), names[:4]
    width = (SIDE - 60) / len(few)
    for player, name in enumerate(few):
        pen.sign(18 + player * width, STRIP / 2, player, 11)
        pen.text(34 + player * width, STRIP / 2, name, 17, INK, "lm", width - 40)
    pen.text(SIDE - 8, STRIP / 2, str(scene.step), 16, MUTED, "rm")
    return image.reduce(FINE)


def _palette(frames: Sequence["Image"]) -> "Image":
    """One palette for all frames, from some of them."""
    from PIL import Image

    strip = Image.new("RGB", (SIDE, (SIDE + STRIP) * len(frames)))
    for number, frame in enumerate(frames):
        strip.paste(frame, (0, number * (SIDE + STRIP)))
    return strip.quantize(256)
