"""The results of duel arena players, over REST and as the page of the original."""

import asyncio
from html import escape
from urllib.parse import quote

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from botdrome.api.pages import CSP
from botdrome.api.requests import Problem, ReadContext, count_duels, iso
from botdrome.api.rest.endpoint import PAGING, Endpoints, ListPage, Moment, RestRequest
from botdrome.server.arena import Arena
from botdrome.server.rooms.duel import BOARDS, DuelBoard, DuelLeaderboard, DuelRecord, board_name

endpoint = Endpoints()

COLUMNS = ("User", "Rating", "Score", "Online Time", "Total Boards", "Invalid Moves")
SHOWN = 1000
"""Rows of the page."""
AT_ONCE = 200
"""Rows that are made without a pause for other work."""
FRESH = 0.5
"""Seconds for which a page is reused."""


class DuelPlayer(Struct):
    name: str
    online: bool
    rating: float
    """Elo: starts at 1200, with 30 points at stake on each board."""
    score: int
    """Boards won."""
    losses: int
    """Boards lost while the player was connected."""
    draws: int
    boards: int
    """Boards that were completed."""
    invalid: int
    """Boards lost by an illegal move, a timeout or a disconnect."""
    seconds: float
    """Seconds online."""


class DuelPlayers(ListPage):
    players: list[DuelPlayer]


class PlayerBoard(Struct):
    id: int
    match: str
    crosses: str
    """The player that began."""
    circles: str
    ratings: list[float]
    """The ratings of both players at the start."""
    started: Moment
    ended: Moment
    moves: int
    winner: str | None
    """null: a draw."""


class DuelProfile(Struct):
    player: DuelPlayer
    boards: list[PlayerBoard]
    """The last hundred, the latest first."""


class DuelBoards(ListPage):
    boards: list[PlayerBoard]


class NumberedBoard(Struct):
    board: PlayerBoard
    number: int
    """The number of the board in its match, from 0."""


@endpoint("GET", "/duel/boards", "Boards of duel arena, the latest first.", *PAGING)
async def duelboards(context: ReadContext, request: RestRequest) -> DuelBoards:
    await context.call(count_duels)
    found, total = await context.store.reports.latest_notes(BOARDS, request.limit, request.offset)
    boards = [_board(msgspec.convert(value, DuelBoard)) for value in found]
    return DuelBoards(boards, **request.page(total))


@endpoint(
    "GET", "/duel/boards/{id:int}", "A board of duel arena.", (404, "There is no such board.")
)
async def duelboard(context: ReadContext, request: RestRequest) -> NumberedBoard:
    board_id = request.path("id")
    await context.call(count_duels)
    board = await _noted(context, board_id)
    if board is None:
        raise Problem(
            f"there is no board {board_id}; players receive the number of a board when it ends", 404
        )
    number = 0
    while (
        before := await _noted(context, board_id - number - 1)
    ) is not None and before.match == board.match:
        number += 1
    return NumberedBoard(_board(board), number)


async def _noted(context: ReadContext, board_id: int) -> DuelBoard | None:
    found = await context.store.reports.note(BOARDS, board_name(board_id))
    return None if found is None else msgspec.convert(found, DuelBoard)


@endpoint("GET", "/duel/players", "The players of duel arena, the most boards won first.", *PAGING)
async def duellists(arena: Arena, request: RestRequest) -> DuelPlayers:
    await arena.duel.folded()
    page = arena.duel.lines(request.offset, request.limit)
    return DuelPlayers(
        [_player(arena.duel, *entry) for entry in page], **request.page(arena.duel.players)
    )


@endpoint(
    "GET",
    "/duel/players/{name:path}",
    "A player of duel arena, with its last hundred boards.",
    (404, "There is no player of that name."),
)
async def duellist(arena: Arena, request: RestRequest) -> DuelProfile:
    name = request.path("name")
    await arena.duel.folded()
    line = arena.duel.line(name)
    if line is None:
        raise Problem(f"there is no duel arena player {name!r}", 404)
    return DuelProfile(
        _player(arena.duel, name, line),
        [_board(board) for board in await arena.duel.boards_of(name)],
    )


def _player(table: DuelLeaderboard, name: str, line: DuelRecord) -> DuelPlayer:
    return DuelPlayer(
        name, table.online(name), line.rating, line.wins, line.losses, line.draws, line.total_games,
        line.invalid_moves, line.total_seconds,
    )  # fmt: skip


def _board(board: DuelBoard) -> PlayerBoard:
    return PlayerBoard(
        board.id, board.match, board.player1, board.player2, [board.rating1, board.rating2],
        iso(board.start_time), iso(board.end_time), board.moves, board.winner,
    )  # fmt: skip


def duel_pages(arena: Arena) -> list[BaseRoute]:
    results = ResultsPage(arena.duel)

    async def results_table(_: Request) -> Response:
        return HTMLResponse(await results.text(), headers={"content-security-policy": CSP})

    return [Route("/duel/results_table", results_table)]


class ResultsPage:
    """The page of the original.

    It is made once for all visitors of the same moment, in parts, so that no player waits for it.
    """

    def __init__(self, table: DuelLeaderboard) -> None:
        self._table = table
        self._lock = asyncio.Lock()
        self._text, self._fresh_until = "", 0.0

    async def text(self) -> str:
        loop = asyncio.get_running_loop()
        async with self._lock:
            if loop.time() >= self._fresh_until:
                await self._table.folded()
                self._text = _page(await self._rows())
                self._fresh_until = loop.time() + FRESH
        return self._text

    async def _rows(self) -> list[str]:
        rows: list[str] = []
        for offset in range(0, SHOWN, AT_ONCE):
            rows += [
                _row(self._table, name, line) for name, line in self._table.lines(offset, AT_ONCE)
            ]
            await asyncio.sleep(0)
        return rows


def _page(rows: list[str]) -> str:
    head = "".join(f"<th>{column}</th>" for column in COLUMNS)
    body = "\n".join(rows)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Duel arena</title>'
        '<link rel="stylesheet" href="/static/style.css"><script src="/static/duel.js" '
        "defer></script></head>\n"
        f"<body>\n<h1>Duel arena</h1>\n<table>\n<thead><tr>{head}</tr></thead>\n"
        f'<tbody>\n{body}\n</tbody>\n</table>\n<p id="note" class="quiet" role="status"></p>\n'
        "</body>\n</html>\n"
    )


def _row(table: DuelLeaderboard, name: str, line: DuelRecord) -> str:
    mark = "online" if table.online(name) else "offline"
    user = f'[{mark}] <a href="/profile/{quote(name, safe="")}">{escape(name)}</a>'
    cells = (
        user,
        round(line.rating),
        line.wins,
        online_time(line.total_seconds),
        line.total_games,
        line.invalid_moves,
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def online_time(seconds: float) -> str:
    """`06s`, `3m07` or `2h05`."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minute:02}"
    return f"{minute}m{second:02}" if minute else f"{second:02}s"
