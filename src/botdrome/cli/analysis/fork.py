"""`botdrome fork`: continue a recorded match from one of its steps."""

import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from rich.text import Text

from botdrome.analysis.playouts import method_of
from botdrome.analysis.position_file import BadPosition, match_at
from botdrome.cli.analysis.person import Gone, PersonAtTerminal
from botdrome.cli.analysis.sources import MatchSource, load_match, players_text
from botdrome.cli.frames import outcome
from botdrome.cli.isolation import IsolationFlags
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain
from botdrome.client.program import CannotStart
from botdrome.games.reading import plural
from botdrome.match.events import Player, Result
from botdrome.match.record import BadRecord, match_file
from botdrome.runner.bot_process import Isolation
from botdrome.runner.forking import HUMAN, RECORDED, Continuation, continue_match
from botdrome.runner.names import distinct_names
from botdrome.runner.seats import check_bot


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


def run_fork(
    match: str, bots: Sequence[str], step: int | None, times: int, save: Path,
    flags: IsolationFlags, server: str, as_json: bool,
) -> int:  # fmt: skip
    try:
        plan = _plan(load_match(match, server), bots, step, save, flags.isolation())
        save.mkdir(parents=True, exist_ok=True)
        return _forked(plan, _continued(plan, times), as_json)
    except (CommandError, BadPosition, BadRecord) as problem:
        complain(problem)
        return REFUSED
    except (CannotStart, OSError) as problem:
        complain(problem)
        return 1


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
                source.record,
                source.game,
                plan.step,
                plan.entrants,
                plan.names,
                number,
                person,
                plan.isolation,
            )
        except Gone:
            return


def _forked(plan: ForkPlan, continuations: Iterator[Continuation], as_json: bool) -> int:
    console = Terminal(soft_wrap=True)
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
            _print(console, plan, rows[-1], continuation)
    if not rows:
        console.print(
            Text(
                f"stopped; nothing was saved. The match is still at {plan.source.name}, step "
                f"{plan.step}."
            )
        )
        return 1
    if as_json:
        sys.stdout.write(msgspec.json.encode(_as_data(plan, rows)).decode() + "\n")
    else:
        _summary(console, plan, results)
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


def _print(
    console: Terminal, plan: ForkPlan, row: dict[str, Any], continuation: Continuation
) -> None:
    console.print(Text(f"{row['outcome']}, after {plural(row['steps'], 'step')}: {row['file']}"))
    for player, words in continuation.faults.items():
        console.print(Text(f"  {plan.names[player]}: {words}", "red"))
    for player, step in continuation.left.items():
        bot = method_of(plan.source.game.name).bot
        console.print(
            Text(
                f"  {plan.names[player]}: no legal recorded move at step {step}; house:{bot} took "
                "over",
                "dim",
            )
        )


def _summary(console: Terminal, plan: ForkPlan, results: Sequence[Result]) -> None:
    names, recorded = plan.source.record.setup.names, plan.recorded
    console.print(
        Text(f"recorded: {outcome(recorded, names) if recorded else 'no result'}", "bold")
    )
    for player, name in enumerate(plan.names):
        then = f"place {recorded.places[player]}" if recorded else "-"
        console.print(
            Text(f"  player {player}, {name}: {_tally(results, player)}; recorded {then}")
        )


def _tally(results: Sequence[Result], player: Player) -> str:
    first = [result for result in results if result.places[player] == 1]
    wins = sum(result.winner == player for result in first)
    return f"{wins} wins, {len(first) - wins} draws, {len(results) - len(first)} losses"
