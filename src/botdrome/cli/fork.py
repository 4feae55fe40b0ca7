"""`botdrome fork`: a recorded match, continued from a step with other players."""

import re
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from typer import Argument, Option

from botdrome.analysis.playouts import method_of
from botdrome.analysis.position_file import BadPosition, match_at
from botdrome.bots.house import MOST_LISTED
from botdrome.cli.options import (
    BOT_HELP,
    ISOLATION,
    Json,
    MatchServer,
)
from botdrome.cli.pictures import outcome, picture_of
from botdrome.cli.sources import MatchSource, load_match, players_text
from botdrome.cli.terminal import CommandError, Terminal, command, print_json, say
from botdrome.client.program import CannotStart
from botdrome.client.terminal_text import shown
from botdrome.games.game import Raw
from botdrome.games.reading import plural
from botdrome.kit.fork import HUMAN, RECORDED, Continuation, continue_match
from botdrome.match.events import Player, Result
from botdrome.match.match import Match
from botdrome.match.questions import move_text, refusal
from botdrome.match.record import BadRecord, match_file
from botdrome.offline.entrants import distinct_names
from botdrome.offline.isolation import Isolation
from botdrome.offline.seats import check_bot


@command(CannotStart, invalid=(BadPosition, BadRecord), name="fork")
def fork_command(
    match: Annotated[
        str, Argument(metavar="MATCH", help="A match file, a position file or a puzzle.")
    ],
    bots: Annotated[
        list[str] | None,
        Argument(
            metavar="[BOT]...",
            help=f"One per player: {BOT_HELP}, `recorded` or `human`. \\[default: house bots]",
        ),
    ] = None,
    step: Annotated[
        int | None,
        Option(
            min=0, help="The step, from 0. \\[default: that of a position file]", show_default=False
        ),
    ] = None,
    times: Annotated[
        int,
        Option("-n", "--times", min=1, help="Continuations, each with other seeds for the bots."),
    ] = 1,
    save: Annotated[
        Path, Option(metavar="FOLDER", help="Where the continued matches are saved.")
    ] = Path("forks"),
    isolation: Isolation = ISOLATION,
    server: MatchServer = "",
    json: Json = False,
) -> int:
    """Restore the position of a recorded match at a step, and continue the match with other
    players.

    `recorded` plays the recorded moves as long as they are legal, and then as a house bot. `human`
    asks you in the terminal.

    Compares the result with the recorded one. Ends with status 0, 1 if a bot could not be started
    or you stopped before the end, or 2 if the command is not valid.
    """
    plan = _plan(load_match(match, server), bots or [], step, save, isolation)
    save.mkdir(parents=True, exist_ok=True)
    return _forked(plan, _continued(plan, times), json)


MOST_SHOWN = 8


class Gone(Exception):
    """The person wants to stop."""


class PersonAtTerminal:
    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __call__(self, match: Match, player: Player) -> Raw:
        """Show the position and ask until a legal move is typed.

        Raise Gone at the end of the input.
        """
        position, seat = match.position, match.seat_of(player)
        bots = tuple(shown(self._names[number]) for number in match.order)
        say(f"step {match.steps}: {bots[seat]} moves", "bold")
        say(picture_of(position.name, position.view(seat), bots))
        legal = list(islice(position.moves(seat), MOST_LISTED))
        listed = ", ".join(move_text(raw) for raw in legal[:MOST_SHOWN])
        say(f"moves: {listed}{', ...' if len(legal) > MOST_SHOWN else ''}", "dim")
        while True:
            raw, why = typed_move(self._typed(), legal)
            why = why or refusal(position, seat, raw)
            if not why:
                return raw
            say(f"{why}; type a move, its last words, or JSON; `quit` ends the match here", "red")

    def _typed(self) -> str:
        try:
            text = Terminal().input("your move: ").strip()
        except EOFError:
            raise Gone from None
        if text in ("quit", "q"):
            raise Gone
        return text


def typed_move(text: str, legal: Sequence[Raw]) -> tuple[Raw, str]:
    """Return the move that is meant, and why there is none: JSON, or the last words of exactly one
    legal move.
    """
    if text.startswith(("{", "[")):
        try:
            return msgspec.json.decode(text), ""
        except msgspec.DecodeError as error:
            return None, f"this is not JSON: {error}"
    typed = re.findall(r"[^\s,()]+", text.upper())
    fitting = [raw for raw in legal if typed and _ends_with(list(_words(raw)), typed)]
    if len(fitting) == 1:
        return fitting[0], ""
    return (
        None,
        "no legal move ends like that"
        if not fitting
        else f"{len(fitting)} legal moves end like that",
    )


def _ends_with(words: list[str], typed: list[str]) -> bool:
    last = words[-len(typed) :]
    return len(last) == len(typed) and all(
        one in (word, word.rpartition("_")[2]) for one, word in zip(typed, last, strict=True)
    )


def _words(raw: Any, inner: bool = False) -> Iterator[str]:
    """Yield the values of a move as words; objects within it are named by their keys, too."""
    if isinstance(raw, dict):
        for key, value in raw.items():
            if inner:
                yield key.upper()
            yield from _words(value, inner=True)
    elif isinstance(raw, list | tuple):
        for value in raw:
            yield from _words(value)
    else:
        yield str(raw).upper()


class ForkPlan(Struct, frozen=True):
    source: MatchSource
    step: int
    entrants: tuple[str, ...]
    names: tuple[str, ...]
    folder: Path
    isolation: Isolation

    def free_file(self) -> Path:
        """Return the first file name that is not taken."""
        names = (f"{self.source.stem}-step-{self.step}-fork-{number}.jsonl" for number in count(1))
        return next(path for name in names if not (path := self.folder / name).exists())

    @property
    def recorded(self) -> Result | None:
        position = self.source.position
        return position.result if position else self.source.record.result


def _plan(
    source: MatchSource, bots: Sequence[str], step: int | None, folder: Path, isolation: Isolation
) -> ForkPlan:
    setup, position = source.record.setup, source.position
    if step is None and position is None:
        raise CommandError("--step is missing: the step from which the match continues")
    at = step if step is not None else position.step if position else 0
    match_at(source.record, source.game, at)
    entrants = tuple(bots) or (f"house:{method_of(setup.game).bot}",) * len(setup.names)
    if len(entrants) != len(setup.names):
        raise CommandError(
            f"name a bot for each player, or `{RECORDED}` or `{HUMAN}`; {players_text(setup.names)}"
        )
    for entrant in entrants:
        if entrant not in (RECORDED, HUMAN):
            check_bot(entrant, setup.game, isolation)
    own = [
        f"{setup.names[player]} ({one})" if one == RECORDED else one
        for player, one in enumerate(entrants)
    ]
    return ForkPlan(source, at, entrants, distinct_names(own), folder, isolation)


def _continued(plan: ForkPlan, times: int) -> Iterator[Continuation]:
    source, person = plan.source, PersonAtTerminal(plan.names)
    for number in range(1 if HUMAN in plan.entrants else times):
        try:
            yield continue_match(
                source.record, source.game, plan.step, plan.entrants, plan.names, number, person,
                plan.isolation,
            )  # fmt: skip
        except Gone:
            return


def _forked(plan: ForkPlan, continuations: Iterator[Continuation], as_json: bool) -> int:
    rows: list[dict[str, Any]] = []
    results: list[Result] = []
    for continuation in continuations:
        result = continuation.match.result
        assert result is not None
        file = plan.free_file()
        file.write_bytes(match_file(continuation.match, plan.names))
        results.append(result)
        rows.append(_row(plan, file, continuation, result))
        if not as_json:
            _print(plan, rows[-1], continuation)
    if not rows:
        say(
            f"stopped; nothing was saved. The match is still at {plan.source.name}, step "
            f"{plan.step}."
        )
        return 1
    if as_json:
        print_json(_as_data(plan, rows))
    else:
        _summary(plan, results)
    return 0


def _row(plan: ForkPlan, file: Path, continuation: Continuation, result: Result) -> dict[str, Any]:
    return {
        "file": str(file),
        "steps": continuation.match.steps,
        "places": result.places,
        "scores": result.scores,
        "causes": result.causes,
        "faults": {plan.names[player]: words for player, words in continuation.faults.items()},
        "leftRecordAt": {plan.names[player]: step for player, step in continuation.left.items()},
        "outcome": outcome(result, plan.names),
    }


def _as_data(plan: ForkPlan, rows: list[dict[str, Any]]) -> dict[str, Any]:
    recorded = plan.recorded
    return {
        "match": plan.source.name,
        "step": plan.step,
        "players": plan.names,
        "recorded": {"places": recorded.places, "scores": recorded.scores} if recorded else None,
        "continuations": rows,
    }


def _print(plan: ForkPlan, row: dict[str, Any], continuation: Continuation) -> None:
    say(f"{row['outcome']}, after {plural(row['steps'], 'step')}: {row['file']}")
    for player, words in continuation.faults.items():
        say(f"  {plan.names[player]}: {words}", "red")
    for player, step in continuation.left.items():
        bot = method_of(plan.source.game.name).bot
        say(
            f"  {plan.names[player]}: no legal recorded move at step {step}; house:{bot} took over",
            "dim",
        )


def _summary(plan: ForkPlan, results: Sequence[Result]) -> None:
    names, recorded = plan.source.record.setup.names, plan.recorded
    say(f"recorded: {outcome(recorded, names) if recorded else 'no result'}", "bold")
    for player, name in enumerate(plan.names):
        then = f"place {recorded.places[player]}" if recorded else "-"
        say(f"  player {player}, {name}: {_tally(results, player)}; recorded {then}")


def _tally(results: Sequence[Result], player: Player) -> str:
    first = [result for result in results if result.places[player] == 1]
    wins = sum(result.winner == player for result in first)
    return f"{wins} wins, {len(first) - wins} draws, {len(results) - len(first)} losses"
