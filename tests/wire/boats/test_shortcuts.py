"""The fast paths of reading and writing equal the slow ones, over many random cases."""

import re
from collections.abc import Collection

import pytest
from msgspec.structs import replace

from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.games.game import IllegalMove, Raw
from botdrome.match.events import Amended, Played, Player
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms
from botdrome.wire.boats.lines import (
    NO_SQUARE,
    SHOT_BEFORE,
    YOURSELF,
    BoatWriter,
    RefusedShot,
    Roster,
    Taunts,
    aimed,
    fields_of,
)
from botdrome.wire.conversation import Submit
from botdrome.wire.writers import MatchStatus, PlayerMessages, match_status

NAMES = (b"ann", b"Bob", b"bobby", b"Cap'n Zo")
WIDTH, HEIGHT = 7, 5
FLEET = "AAA...." + "BB....." + "." * 21
CASES = range(4000)
NOW = match_status(Match(Battleship(), 4, Terms(), seed=1), 0)


def drawn(pieces: list[bytes], most: int, chance: Chance) -> bytes:
    return b"".join(chance.choice(pieces) for _ in range(chance.below(most + 1)))


# Reading.


def fields_the_long_way(line: bytes) -> list[bytes]:
    fields = [field.strip() for field in line.split(b"\r")[0].split(b"|")]
    while len(fields) > 1 and fields[-1] == b"":
        fields.pop()
    return fields


def test_fields_are_those_of_the_long_way() -> None:
    chance = Chance(1)
    pieces = [
        b"S",
        b"ann",
        b"|",
        b"|",
        b"|",
        b"12",
        b" ",
        b"\t",
        b"\r",
        b"\x0b",
        b"\x0c",
        b"\x00",
        b"\x1c",
        b"\xa0",
        b"\xff",
    ]
    for _ in CASES:
        line = drawn(pieces, 9, chance)
        assert fields_of(line) == fields_the_long_way(line), line


def in_play(chance: Chance, most: int = 40) -> Battleship:
    """A game of four in which some squares have been shot at."""
    position = Battleship(width=WIDTH, height=HEIGHT, boats="A3 B2").start(4, Chance(0))
    position = position.play(dict.fromkeys(range(4), FLEET), Chance(0))
    for _ in range(chance.below(most)):
        (seat,) = position.to_move or (0,)
        raw = chance.choice(list(position.moves(seat)))
        position = position.play({seat: position.parse(seat, raw)}, Chance(0))
    return position


def shot_the_long_way(fields: list[bytes], shooter: int, position: Battleship) -> Raw:
    """The name is a whole one."""
    target = NAMES.index(fields[1])
    if target == shooter:
        return YOURSELF
    x, y = (int(word) - 1 if re.fullmatch(rb"\+?[0-9]{1,9}", word) else -1 for word in fields[2:])
    if not (0 <= x < WIDTH and 0 <= y < HEIGHT):
        return NO_SQUARE
    rows = position.view(None)["boards"][target]
    return {"target": target, "x": x, "y": y} if rows[y][x] == "." else SHOT_BEFORE


def outcome(fields: list[bytes], shooter: int, position: Battleship) -> Raw:
    try:
        return aimed(fields, NAMES, shooter, position)
    except RefusedShot as refusal:
        return refusal.words


@pytest.mark.parametrize("seed", range(20))
def test_shots_are_those_of_the_long_way(seed: int) -> None:
    chance = Chance(seed)
    position = in_play(chance)
    words = [b"%d" % number for number in range(-1, 12)] + [
        b"",
        b"+3",
        b"03",
        b"007",
        b"3.0",
        b"x",
        b"26",
        b"27",
        b"1" * 10,
    ]
    for _ in range(200):
        fields = [b"S", chance.choice(NAMES), chance.choice(words), chance.choice(words)]
        shooter = chance.below(4)
        assert outcome(fields, shooter, position) == shot_the_long_way(fields, shooter, position), (
            fields
        )


def plain_shot(line: bytes, shooter: int, position: Battleship) -> Raw | None:
    """What the writer finds in a line of the player whose turn it is."""
    writer = BoatWriter(Roster(NAMES, [Taunts() for _ in NAMES], Chance(0)))
    start = in_play(Chance(0), 1)
    for after in (start, replace(position, to_move=(shooter,))):
        writer.on_news([(Played(0, {}), after)], NOW, ())
    outs = writer.plain_shot(shooter, line)
    if outs is None:
        return None
    (submit,) = outs
    assert isinstance(submit, Submit) and submit.message == line
    return submit.raw


@pytest.mark.parametrize("seed", range(20))
def test_what_is_plainly_a_shot_is_the_shot_that_the_long_way_finds(seed: int) -> None:
    chance = Chance(seed)
    position = in_play(chance)
    names = [*NAMES, *NAMES, b"an", b"ANN", b"1", b"bob", b"nobody", b""]
    words = [b"%d" % number for number in (*range(10), *range(1, 8))] + [
        b" 3",
        b"3 ",
        b"03",
        b"+3",
        b"",
        b"3\r",
        b"x",
    ]
    kinds, ends = [*[b"S"] * 8, b"K", b" S", b"SS", b""], [*[b""] * 8, b"|", b"|x", b" ", b"\r"]
    plain_ones = 0
    for _ in range(400):
        shooter = chance.below(4)
        line = b"|".join(
            chance.choice(some) for some in (kinds, names, words, words)
        ) + chance.choice(ends)
        raw = plain_shot(line, shooter, position)
        if raw is not None:
            plain_ones += 1
            assert fields_of(line)[0] == b"S"
            assert raw == outcome(fields_of(line), shooter, position), line
            assert position.parse(shooter, raw) == position.parse(shooter, dict(raw))
    assert plain_ones > 3


def test_every_shot_that_can_be_is_plain_as_it_is_mostly_written() -> None:
    position = in_play(Chance(3))
    for raw in position.moves(1):
        if "target" in raw:
            found = plain_shot(
                b"S|%b|%d|%d" % (NAMES[raw["target"]], raw["x"] + 1, raw["y"] + 1), 1, position
            )
            assert found == raw


@pytest.mark.parametrize(
    "line",
    [b"", b"S", b"S|", b"S|ann", b"S|ann|", b"S|ann|1", b"S|ann|1|", b"S|ann|8|1", b"S|ann|1|6"],
)
def test_half_a_shot_is_not_plain(line: bytes) -> None:
    assert plain_shot(line, 1, in_play(Chance(0))) is None


def test_a_known_shot_is_judged_by_the_position() -> None:
    start = in_play(Chance(0), 1)
    raw = plain_shot(b"S|Bob|3|4", 0, start)
    after = start.play({0: start.parse(0, raw)}, Chance(0))
    with pytest.raises(IllegalMove, match="x 2, y 3 of seat 1 has already been shot at"):
        after.parse(0, raw)


# Telling.


class LongTalk(BoatWriter):
    """Never takes the short way, since it gets more than one piece of news."""

    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        silent = [(Amended({}), position) for _, position in news[-1:]]
        return super().on_news([*news, *silent], status, players)


class Voyage:
    """A random match, with its lines from the fast and from the slow path."""

    def __init__(self, seed: int) -> None:
        self.chance = Chance(seed)
        game = Battleship(width=WIDTH, height=HEIGHT, boats="A3 B2", goal=5)
        self.match = Match(game, 4, Terms(Pace(1000), late="pass", gone="wait", absence=100), seed)
        self.talks = [
            talk(Roster(NAMES, [Taunts() for _ in NAMES], Chance(seed)))
            for talk in (BoatWriter, LongTalk)
        ]
        self._tell(self.match.start())
        for player in range(4):
            self._tell(self.match.submit(player, {"board": FLEET}, 0))

    def _tell(self, news: News) -> None:
        short, long = (
            talk.on_news(news, match_status(self.match, 0), (0, 2, 3)) for talk in self.talks
        )
        assert short == long

    def go_on(self) -> None:
        match, chance = self.match, self.chance
        player = chance.below(4)
        match chance.below(12):
            case 0:
                self._tell(match.leave(player, 0))
            case 1 | 2:
                self._tell(match.rejoin(player, 0))
            case 3:
                text = chance.choice([b"ha", b""])
                for talk in self.talks:
                    talk.roster.taunts[player].set(b"miss", text)
            case _:
                seat = match.awaited[0]
                self._tell(match.submit(seat, chance.choice(list(match.position.moves(seat))), 0))


@pytest.mark.parametrize("seed", range(40))
def test_a_miss_is_told_as_the_long_way_does(seed: int) -> None:
    voyage = Voyage(seed)
    for _ in range(150):
        if voyage.match.result is None:
            voyage.go_on()
