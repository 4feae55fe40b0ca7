"""How matches stood after their steps, and how they might have gone on, over REST."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.analysis.evaluation import (
    MOST_INPUTS,
    VERSION,
    Evaluation,
    Part,
    evaluation,
    point_of,
)
from botdrome.analysis.playouts import method_of
from botdrome.analysis.position_file import BadPosition, match_at
from botdrome.api.requests import Problem, ReadContext, no_match
from botdrome.api.rest.endpoint import Endpoints, RestRequest, problem_of
from botdrome.bots.house import house_bots, house_view, seated
from botdrome.bots.simulate import Bot, play_on
from botdrome.catalogue import restored
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from botdrome.games.reading import UNREADABLE, bounded
from botdrome.match.film import film_lines, frames, header_of
from botdrome.match.match import Match
from botdrome.match.questions import refusal
from botdrome.match.record import BadRecord, record_of
from botdrome.server.arena import Arena
from botdrome.server.workers.jobs import (
    CLIENT,
    ServerCaller,
    SharedSlots,
    WorkersBusy,
    at_low_priority,
)
from botdrome.store.entries import BrokenMatch, MatchEntry, Source, StoreUnavailable
from botdrome.store.store import StoreReader, reader

endpoint, evaluating = Endpoints(), Endpoints()
NO_MATCH = (404, "There is no such match, or it has no record.")
RUNNING = (409, "The match is still running.")
MOST_EVALUATED = 8
"""Matches that are evaluated or wait for it. One client can have half of them."""
TOO_MANY = "Too many matches are being evaluated already; try again in a minute."
LARGEST_RECORD = 2 << 20
"""Bytes of a match file that is evaluated."""
PART = "botdrome.api.rest.analysis:evaluate_part"
LONGEST_PART = 120.0
"""Seconds for one part of an evaluation. Each takes a few, unless the machine is busy."""


class MatchEvaluation(Struct):
    evaluation: Evaluation | None
    """null: nobody has asked for it yet."""


async def entry_over(store: StoreReader, match_id: str) -> MatchEntry:
    """A match that is over."""
    entry = await store.match(match_id)
    if entry is None:
        raise no_match(match_id)
    if entry.status == "running":
        raise Problem(f"match {entry.id} is still running; ask again when it is over", 409)
    return entry


async def record_over(store: StoreReader, match_id: str) -> tuple[MatchEntry, bytes]:
    """The record of a match that is over."""
    entry = await entry_over(store, match_id)
    record = await store.record(match_id)
    if record is None:
        raise Problem(f"match {entry.id} has no record", 404)
    return entry, record


@endpoint(
    "GET",
    "/matches/{id}/evaluation",
    "How a match stood after its steps, if somebody has asked for it before.",
    (404, "There is no such match."),
)
async def evaluated(context: ReadContext, request: RestRequest) -> MatchEvaluation:
    match_id = request.path("id")
    if await context.store.match(match_id) is None:
        raise no_match(match_id)
    found = await context.store.evaluation(match_id, VERSION)
    return MatchEvaluation(None if found is None else msgspec.json.decode(found, type=Evaluation))


class Evaluations:
    """Evaluates matches in worker processes, in the background, and stores the results."""

    def __init__(self, arena: Arena) -> None:
        self._arena, self._slots = arena, SharedSlots(MOST_EVALUATED)
        self._running: dict[str, asyncio.Task[Evaluation]] = {}
        """By match. It goes on if the client disconnects."""

    async def of(self, match_id: str) -> Evaluation:
        if match_id not in self._running:
            client = CLIENT.get().source
            if not self._slots.take(client):
                raise WorkersBusy(TOO_MANY)
            task = asyncio.create_task(self._evaluate(client, match_id))
            self._running[match_id] = task
            task.add_done_callback(lambda _: self._ended(client, match_id))
        return await asyncio.shield(self._running[match_id])

    def _ended(self, client: str, match_id: str) -> None:
        self._slots.release(client)
        task = self._running.pop(match_id)
        if not task.cancelled():
            task.exception()  # the client may have gone

    async def _evaluate(self, client: str, match_id: str) -> Evaluation:
        store = self._arena.store
        await store.journal.settled()
        if (found := await store.evaluation(match_id, VERSION)) is not None:
            return msgspec.json.decode(found, type=Evaluation)
        await entry_over(store, match_id)
        work, answer = evaluation(), None
        while True:
            try:
                part = work.send(answer)
            except StopIteration as done:
                result: Evaluation = done.value
                break
            job = await self._arena.workers.run(
                client, PART, store.source, match_id, part, background="evaluation",
                limit=LONGEST_PART,
            )  # fmt: skip
            answer = job.value
        with suppress(StoreUnavailable):  # it is computed again
            await store.keep_evaluation(match_id, VERSION, msgspec.json.encode(result))
        return result


async def evaluate_part(_: ServerCaller, source: Source, match_id: str, part: Part) -> Any:
    """A job of a worker process. It reads the match file itself, which may be large."""
    function, *args = part
    try:
        if function is not point_of:
            entry, record = await record_over(await reader(source), match_id)
            if why := unfit(entry, record):
                raise Problem(f"match {match_id} cannot be evaluated: {why}", 422)
            args = [record, *args]
        return await at_low_priority(function, *args)
    except BadRecord as error:
        raise Problem(f"match {match_id} is broken: {error}", 500) from None
    except Exception as error:
        raise problem_of(error) from None


def unfit(entry: MatchEntry, record: bytes) -> str:
    """Why a match is not evaluated; empty: it is."""
    if entry.result is None or entry.result.aborted:
        return "it was aborted"
    if len(entry.players) < 2:
        return "it has one player"
    if len(record) > LARGEST_RECORD:
        return f"its file has more than {LARGEST_RECORD >> 20} MiB"
    return f"it has more than {MOST_INPUTS} inputs" if record.count(b"\n") > MOST_INPUTS else ""


@evaluating(
    "POST",
    "/matches/{id}/evaluation",
    "Evaluate a match that is over: house bots play on from its positions, up to a minute long.",
    NO_MATCH,
    RUNNING,
    (422, "It was aborted, has one player, or is too long."),
    (500, "Its record is broken."),
    (503, "Too many matches are being evaluated."),
)
async def evaluate(evaluations: Evaluations, request: RestRequest) -> MatchEvaluation:
    return MatchEvaluation(await evaluations.of(request.path("id")))


# Continuations.

MOST_MOVES = 1000
LARGEST_BODY = 256 << 10
"""Bytes of the moves of a person."""
SECONDS = 10.0
"""Of processor time for one continuation."""


class Continue(Struct, forbid_unknown_fields=True):
    step: int
    """The number of steps played before."""
    seat: int | None = None
    """The player whose moves are given; null: house bots play for all."""
    moves: list[Any] = []
    """The moves of that player since then."""


class ContinuedMatch(Struct):
    film: str
    """The film of the match so far, as lines of JSON."""
    view: View | None
    """What the player sees that is to move; null: the match is over."""


class _AwaitedMove(Exception):
    """The person is to move."""


@endpoint(
    "POST",
    "/matches/{id}/continuation",
    "Continue a match that is over from one of its steps, with house bots. Nothing is stored.",
    NO_MATCH,
    RUNNING,
    (422, "There is no such step or seat, a move is illegal, or it takes too long."),
    file=LARGEST_BODY,
    body=Continue,
)
async def continuation(context: ReadContext, request: RestRequest) -> ContinuedMatch:
    try:
        wanted = msgspec.json.decode(bounded(request.file), type=Continue)
    except UNREADABLE as error:
        raise Problem(f"the body is not what it should be: {error}") from None
    entry, data = await record_over(context.store, request.path("id"))
    if len(wanted.moves) > MOST_MOVES:
        raise Problem(f"a continuation has at most {MOST_MOVES} moves of a person", 422)
    if wanted.seat is not None and not 0 <= wanted.seat < len(entry.players):
        raise Problem(f"match {entry.id} has the seats 0 to {len(entry.players) - 1}", 422)
    try:
        return continued(data, wanted, process_time() + SECONDS)
    except BadPosition as problem:
        raise Problem(str(problem), 422) from None
    except BadRecord as error:
        raise BrokenMatch(f"match {entry.id} is broken: {error}") from error


def continued(data: bytes, wanted: Continue, until: float) -> ContinuedMatch:
    """`until`: the processor time at which it is given up."""
    record, game = restored(data)
    match = match_at(record, game, wanted.step)
    bots = [_house(match, player, until) for player in range(match.players)]
    if wanted.seat is not None:
        bots[wanted.seat] = _person(match, wanted.seat, wanted.moves)
    view = None
    try:
        play_on(match, bots, match.inputs[-1][0] if match.inputs else 0)
    except _AwaitedMove:
        assert wanted.seat is not None
        view = house_view(match.position, match.seat_of(wanted.seat))
    house = f"house:{method_of(game.name).bot}"
    names = [
        f"{name} ({'you' if player == wanted.seat else house})"
        for player, name in enumerate(record.setup.names)
    ]
    played = record_of(match, names)
    film = b"".join(film_lines(header_of(played), frames(played, game)))
    return ContinuedMatch(film.decode(), view)


def _house(match: Match, player: int, until: float) -> Bot:
    name = match.game.name
    bot = seated(house_bots(name)[method_of(name).bot], Chance(match.seed, -2 - player).bits())

    def move(view: View) -> Raw:
        if process_time() > until:
            raise Problem(f"this match takes more than {SECONDS:g} s to play on", 422)
        return bot(view)

    return move


def _person(match: Match, player: int, moves: list[Raw]) -> Callable[[View], Raw]:
    left = iter(moves)

    def move(_: View) -> Raw:
        for raw in left:
            if why := refusal(match.position, match.seat_of(player), raw):
                raise Problem(why, 422)
            return raw
        raise _AwaitedMove

    return move
