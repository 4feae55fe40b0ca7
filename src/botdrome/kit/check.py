"""Check a bot: positions from matches of house bots, whole matches, and puzzles."""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any, Literal

from msgspec import Struct, field

from botdrome.analysis.blunders import holds
from botdrome.analysis.playouts import Judge, method_of, share
from botdrome.analysis.position_file import PositionFile, Puzzle, last_question, position_file
from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE, restored
from botdrome.games.game import Game
from botdrome.games.options import with_options
from botdrome.kit.rerun import follow, seconds_for
from botdrome.match.events import Player, Result
from botdrome.match.match import Match
from botdrome.match.questions import Answer, Question, move_text, questions, refusal, same_move
from botdrome.match.record import Record, record_of
from botdrome.match.terms import offline
from botdrome.offline.isolation import ISOLATED, Isolation
from botdrome.offline.seats import prefix_of
from botdrome.offline.tournament import TournamentPlan, play_all, seed_of_bot

# What `botdrome check` found out about a bot: problems, times and memory.

Kind = Literal[
    "illegal move", "crash", "timeout", "too slow", "nondeterminism", "memory growth", "puzzle"
]

WARM_UP = 0.25
"""The part of the answers after which a bot should have all the memory that it needs."""
MOST_GROWTH = 16 << 20
"""Bytes that a process may grow after that."""
FEWEST_SAMPLES = 20
"""The growth of a process with fewer answers is not judged."""


class Finding(Struct, frozen=True):
    """A problem of a bot."""

    kind: Kind
    text: str
    position: PositionFile | None = None


class AnswerTimes(Struct, frozen=True):
    """The seconds of a bot's answers."""

    p50: float
    p99: float
    slowest: float


class CheckReport(Struct):
    positions: int = 0
    """The number of answers to positions from matches of house bots."""
    repeated: int = 0
    """The number of answers that a second copy gave, too."""
    findings: list[Finding] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    """The seconds from the start of a program to its first answer."""
    slowest: PositionFile | None = None
    memory: dict[int, list[int]] = field(default_factory=dict)
    """The bytes of each process after each answer."""
    matches: tuple[int, int, int] = (0, 0, 0)
    """Wins, draws and losses in whole matches."""
    puzzles: int = 0
    solved: int = 0

    @property
    def growth(self) -> int | None:
        """The largest growth of a process, in bytes; None if no process gave enough answers to
        judge it.
        """
        judged = [samples for samples in self.memory.values() if len(samples) >= FEWEST_SAMPLES]
        return max(map(growth_of, judged), default=None)

    @property
    def times(self) -> AnswerTimes | None:
        return times_of(self.seconds) if self.seconds else None


def times_of(seconds: Sequence[float]) -> AnswerTimes:
    ranked = sorted(seconds)
    return AnswerTimes(ranked[len(ranked) // 2], ranked[len(ranked) * 99 // 100], ranked[-1])


def growth_of(samples: Sequence[int]) -> int:
    """Return by how many bytes a process grew after its warm-up."""
    quarter = len(samples) // 4
    first = int(len(samples) * WARM_UP)
    return max(0, _median(samples[-quarter:]) - _median(samples[first : first + quarter]))


def _median(samples: Sequence[int]) -> int:
    return sorted(samples)[len(samples) // 2]


WINDOWS = 6
"""The positions come from at least this many parts of matches."""
SHORTEST_WINDOW = 10
MOST_PLAYERS = 4
REPEAT = 3
"""Every third part of a match is played to a second copy of the bot."""
PUZZLE_PLAYOUTS = 24


class CheckPlan(Struct, frozen=True):
    entrant: str
    game: str
    options: dict[str, Any]
    positions: int
    matches: int
    seed: int
    isolation: Isolation = ISOLATED

    @property
    def rules(self) -> Game[Any]:
        return with_options(CATALOGUE[self.game].game, self.options)


class Window(Struct, frozen=True):
    """A part of a match of house bots, in which the bot takes the place of a player."""

    record: Record
    player: Player
    first: int
    """The step at which the bot joins."""
    length: int
    """The number of its turns."""


def windows(plan: CheckPlan) -> Iterator[Window]:
    """Yield parts of matches from all phases and seats, until they have enough positions."""
    left, longest = plan.positions, max(SHORTEST_WINDOW, plan.positions // WINDOWS)
    for number, record in enumerate(house_records(plan)):
        for player in range(len(record.setup.names)):
            asked = questions(record, plan.rules, player)
            spare = max(0, len(asked) - longest)
            start = spare * ((number + player) % 3) // 2
            length = min(longest, len(asked) - start, left)
            if length > 0:
                yield Window(record, player, asked[start].step, length)
                left -= length
            if left <= 0:
                return


def house_records(plan: CheckPlan) -> Iterator[Record]:
    """Yield matches of house bots: each with other bots and, where the game allows it, another
    number of players.
    """
    row, bots = CATALOGUE[plan.game], house_bots(plan.game)
    quick = list(dict.fromkeys(("random", method_of(plan.game).bot)))
    sizes = [size for size in row.game.players if 2 <= size <= MOST_PLAYERS] or [
        row.game.players[0]
    ]
    for number in count():
        players, seed = sizes[number % len(sizes)], plan.seed + number
        names = [quick[(number + player) % len(quick)] for player in range(players)]
        match = Match(plan.rules, players, offline(row.terms), seed)
        simulate(
            match,
            [seated(bots[name], seed_of_bot(seed, player)) for player, name in enumerate(names)],
        )
        yield record_of(match, [f"player {player}" for player in range(players)])


class Checker:
    """Plays positions, matches and puzzles with one bot, and collects what happens."""

    def __init__(self, plan: CheckPlan) -> None:
        self.plan, self.report = plan, CheckReport()
        self._slowest = -1.0

    def positions(self) -> Iterator[int]:
        """Ask the bot; yield the number of positions after each part of a match."""
        for number, window in enumerate(windows(self.plan)):
            answers = self._answers(window)
            for place, (question, answer) in enumerate(answers):
                self.report.positions += 1
                self._note(question, answer, window.record, first=place == 0)
            if number % REPEAT == 0:
                self._compare(window, answers, self._answers(window))
            yield window.length
        if (growth := self.report.growth or 0) > MOST_GROWTH:
            self._add("memory growth", f"its process grew by {growth / 1e6:.0f} MB")

    def _answers(self, window: Window) -> list[tuple[Question, Answer]]:
        plan = self.plan
        following = follow(
            window.record, plan.rules, window.player, plan.entrant, window.first, plan.isolation
        )
        try:
            return list(islice(following, window.length))
        finally:
            following.close()

    def _note(self, question: Question, answer: Answer, record: Record, first: bool) -> None:
        report = self.report
        if answer.fault:
            self._add("crash" if answer.crashed else "timeout", answer.fault, question, record)
            return
        if answer.memory:
            report.memory.setdefault(answer.process, []).append(answer.memory)
        if first and prefix_of(self.plan.entrant) == "cmd":
            report.starts.append(answer.seconds)
        else:
            self._time(question, answer, record)
        if why := refusal(question.position, question.seat, answer.raw):
            self._add("illegal move", f"{move_text(answer.raw)}: {why}", question, record)

    def _time(self, question: Question, answer: Answer, record: Record) -> None:
        self.report.seconds.append(answer.seconds)
        limit = seconds_for(record.setup.terms)
        if answer.seconds > limit:
            self._add(
                "too slow",
                f"{answer.seconds:.2f} s, and the limit is {limit:g} s",
                question,
                record,
            )
        if answer.seconds > self._slowest:
            self._slowest = answer.seconds
            note = f"the slowest answer took {answer.seconds * 1000:.1f} ms"
            self.report.slowest = position_file(question, record, note)

    def _compare(
        self,
        window: Window,
        once: Sequence[tuple[Question, Answer]],
        again: Sequence[tuple[Question, Answer]],
    ) -> None:
        """A second copy with the same seed must give the same answers."""
        for (question, one), (_, other) in zip(once, again, strict=False):
            if one.fault or other.fault:
                return
            self.report.repeated += 1
            if not same_move(question.position, question.seat, one.raw, other.raw):
                text = (
                    f"{move_text(one.raw)}, then {move_text(other.raw)} for the same view and seed"
                )
                self._add("nondeterminism", text, question, window.record)

    def _add(
        self, kind: Kind, text: str, question: Question | None = None, record: Record | None = None
    ) -> None:
        place = f"step {question.step}, player {question.player}: " if question else ""
        file = position_file(question, record, f"{kind}: {text}") if question and record else None
        self.report.findings.append(Finding(kind, place + text, file))

    # Whole matches.

    def matches(self) -> Iterator[int]:
        """Play against a random and a better house bot, in turns; yield 1 for each match."""
        plan = self.plan
        seats = max(2, plan.rules.players[0])
        rivals = list(dict.fromkeys(("random", method_of(plan.game).bot)))
        for number in range(plan.matches):
            entrants = [f"house:{rivals[number // seats % len(rivals)]}"] * seats
            entrants[number % seats] = plan.entrant
            self._match(tuple(entrants), number % seats, number)
            yield 1

    def against_itself(self) -> None:
        """Play a match of the bot against itself."""
        entrants = (self.plan.entrant,) * max(2, self.plan.rules.players[0])
        self._match(entrants, 0, self.plan.matches)

    def _match(self, entrants: tuple[str, ...], player: Player, number: int) -> None:
        plan = self.plan
        names = tuple(f"player {seat}" for seat in range(len(entrants)))
        one = TournamentPlan(
            plan.game,
            entrants,
            names,
            len(entrants),
            1,
            plan.seed + number,
            plan.options,
            isolation=plan.isolation,
            records=True,
        )
        for outcome in play_all(one, 1):
            self._tally(outcome.result, player)
            record, game = restored(outcome.record)
            for question in questions(record, game, player):
                if question.fault:
                    self._add(
                        _kind_of(question), f"in a match: {_fault_of(question)}", question, record
                    )

    def _tally(self, result: Result, player: Player) -> None:
        wins, draws, losses = self.report.matches
        first, alone = result.places[player] == 1, result.winner == player
        self.report.matches = (wins + alone, draws + (first and not alone), losses + (not first))

    # Puzzles.

    def puzzle(self, name: str, file: PositionFile, game: Game[Any]) -> Answer:
        """Ask the bot in the position of a file; a puzzle must be solved."""
        question, answer = ask_position(file, game, self.plan.entrant, self.plan.isolation)
        self._note(question, answer, file.record, first=True)
        if file.puzzle is not None:
            self.report.puzzles += 1
            solved = not answer.fault and solves(file, file.puzzle, question, answer)
            self.report.solved += solved
            if not solved and not answer.fault:
                self._add(
                    "puzzle",
                    f"{name}: {move_text(answer.raw)} does not hold",
                    question,
                    file.record,
                )
        return answer


def _kind_of(question: Question) -> Kind:
    if question.moved and not question.fault.startswith("late"):
        return "illegal move"
    return "timeout" if question.fault.startswith(("late", "timeout", "no move")) else "crash"


def _fault_of(question: Question) -> str:
    return f"{move_text(question.recorded)}: {question.fault}" if question.moved else question.fault


def ask_position(
    file: PositionFile, game: Game[Any], entrant: str, isolation: Isolation = ISOLATED
) -> tuple[Question, Answer]:
    """Ask a fresh copy of a bot in the position of a file.

    It joins there, as after a reconnection.
    """
    step = last_question(file, game).step
    for question, answer in follow(file.record, game, file.player, entrant, step, isolation):
        if not question.answered or answer.fault:
            return question, answer
    raise AssertionError("the last question of a position file is open")


def solves(file: PositionFile, puzzle: Puzzle, question: Question, answer: Answer) -> bool:
    """Return whether a move is one that holds.

    A move that is not listed is estimated like the others.
    """
    position, seat = question.position, question.seat
    if any(same_move(position, seat, answer.raw, move.move) for move in puzzle.better):
        return True
    if refusal(position, seat, answer.raw) or (
        puzzle.lost and same_move(position, seat, answer.raw, puzzle.lost.move)
    ):
        return False
    recorded = share(file.result.boards[question.board].places, file.player) if file.result else 0.0
    return holds(Judge(question, 1).estimate(answer.raw, PUZZLE_PLAYOUTS, 1), recorded)
