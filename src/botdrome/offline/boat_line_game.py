"""LineGame: one board of a boat trial over the lines of Xterm Boat Sinker. Lines in, lines out."""

from botdrome.games.battleship import Battleship, boats_in
from botdrome.games.chance import Chance
from botdrome.games.game import Raw
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms
from botdrome.offline.boat_trial import (
    FLEET,
    SKIPPER,
    BoardRun,
    SkippingOpponent,
    Trial,
    Watch,
    finished_run,
)
from botdrome.wire.boats.lines import (
    BAD_BOARD,
    PROTOCOL_ERROR,
    BoatWriter,
    Offer,
    RefusedShot,
    Roster,
    Taunts,
    aimed,
    fields_of,
    is_fleet,
    joined,
    name_problem,
    retry,
    said,
    value,
)
from botdrome.wire.writers import standing

BOT = 0
OPPONENT = 1
MOST_NAMES = 20
"""Refused names after which the trial ends."""
MOST_REFUSALS = 1000
"""Refused shots on one board after which the trial ends."""


def offer(trial: Trial, started: bool, joined: int) -> bytes:
    boats = boats_in(FLEET)
    return Offer("boat trial", 2, 2, boats.squares, trial.width, trial.height, boats).info(
        started, joined
    )


class LineGame:
    """Against an opponent that skips. The bot has the first turn."""

    def __init__(self, trial: Trial, number: int, watch: Watch | None = None) -> None:
        self._trial, self.number, self._fleet = trial, number, trial.position(number)
        self._opponent = SkippingOpponent(self._fleet, watch)
        self._match = Match(trial.game(), 2, Terms(Pace(None)), trial.seed_of_bot(number))
        self._writer: BoatWriter | None = None
        self._roster: Roster | None = None
        self._refused = 0
        self.over = False
        self.fault = ""
        self.seconds = 0.0
        """Used by the bot."""
        self.name = ""

    @property
    def begun(self) -> bool:
        """The bot has joined."""
        return self._writer is not None

    def offer(self) -> bytes:
        return offer(self._trial, self.begun, 2 if self.begun else 1)

    def run(self) -> BoardRun:
        end = self._match.position
        assert isinstance(end, Battleship)
        return finished_run(self.number, self._fleet, end, self.seconds, self.fault)

    def give_up(self, why: str) -> None:
        self.over, self.fault = True, self.fault or why

    def hear(self, line: bytes) -> list[bytes]:
        """Answer a line of the bot."""
        fields = fields_of(line)
        if fields == [b""] and b"|" not in line:
            self.give_up("it left: it sent an empty line")
            return []
        if fields[0] == b"G":
            return [self.offer()]
        if fields[0] == b"P":
            return [b"P|" + fields[1]] if value(fields, 1) else self._turned_away(PROTOCOL_ERROR)
        if fields[0] == b"L":
            self.give_up("it left")
            return [value(fields, 1)] if value(fields, 1) else []
        return self._in_game(fields) if self._writer else self._before(fields)

    def _before(self, fields: list[bytes]) -> list[bytes]:
        name, board = value(fields, 1), value(fields, 2)
        if fields[0] != b"J" or not name:
            return self._turned_away(PROTOCOL_ERROR)
        problem = name_problem(name, self._trial.width) or (
            b"name in use" if name == SKIPPER.encode() else b""
        )
        if problem:
            self._refused += 1
            return (
                [retry(problem)]
                if self._refused < MOST_NAMES
                else self._turned_away(PROTOCOL_ERROR)
            )
        if not is_fleet(board, FLEET, self._trial.width, self._trial.height):
            return self._turned_away(BAD_BOARD)
        return self._join(name, board.decode())

    def _turned_away(self, words: bytes) -> list[bytes]:
        self.give_up(words.decode())
        return [words]

    def _join(self, name: bytes, board: str) -> list[bytes]:
        self.name, match = name.decode("latin-1"), self._match
        names = (name, SKIPPER.encode())
        self._roster = Roster(names, (Taunts(), Taunts()), Chance(0))
        self._writer = BoatWriter(self._roster)
        news = (
            match.start()
            + match.submit(BOT, {"board": board}, 0)
            + match.submit(OPPONENT, self._opponent(match.view(OPPONENT)), 0)
        )
        return [joined(name), joined(names[OPPONENT]), *self._said(news)]

    def _in_game(self, fields: list[bytes]) -> list[bytes]:
        match fields[0]:
            case b"S":
                return self._shot(fields)
            case b"K":
                assert self._roster is not None
                self._roster.skip_reason = value(fields, 1)
                return self._moved({"skip": True})
            case b"J" | b"M" | b"T":
                return []
        return [PROTOCOL_ERROR]

    def _shot(self, fields: list[bytes]) -> list[bytes]:
        assert self._roster is not None
        position = self._match.position
        assert isinstance(position, Battleship)
        try:
            return self._moved(aimed(fields, self._roster.names, BOT, position))
        except RefusedShot as refusal:
            self._refused += 1
            if self._refused > MOST_REFUSALS:
                self.give_up(f"more than {MOST_REFUSALS} refused lines, the last: {refusal}")
            return [said(b"", refusal.words), b"N|" + self._roster.names[BOT]]

    def _moved(self, raw: Raw) -> list[bytes]:
        match = self._match
        news = match.submit(BOT, raw, 0)
        news += match.submit(OPPONENT, self._opponent(match.view(OPPONENT)), 0)
        self.over = match.result is not None
        return self._said(news)

    def _said(self, news: News) -> list[bytes]:
        assert self._writer is not None
        return [
            line
            for lines in self._writer.on_news(news, standing(self._match, 0), {BOT}).values()
            for line in lines
        ]
