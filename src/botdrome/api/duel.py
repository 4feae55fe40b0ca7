"""Duel: the results of those who play over duel arena, as JSON and as the page of the original."""

from html import escape
from typing import Annotated
from urllib.parse import quote

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from botdrome.api.dates import iso
from botdrome.api.pages import CSP
from botdrome.api.problems import Problem
from botdrome.api.rest.answers import Moment
from botdrome.api.rest.endpoint import Asked
from botdrome.server.arena import Arena
from botdrome.server.duel_table import DuelBoard, DuelLine, DuelTable

COLUMNS = ("User", "Rating", "Score", "Online Time", "Total Boards", "Invalid Moves")
SHOWN = 1000
"""Rows of the page."""


class DuelPlayer(Struct):
    name: str
    online: bool
    rating: Annotated[float, Meta(description="Elo, from 1200 on, 30 points at stake on each board.")]
    score: Annotated[int, Meta(description="Boards won.")]
    losses: Annotated[int, Meta(description="Boards that it was there to lose.")]
    draws: int
    boards: Annotated[int, Meta(description="Boards played to their end.")]
    invalid: Annotated[int, Meta(description="Boards lost by an illegal move, out of time or by going away.")]
    seconds: Annotated[float, Meta(description="Online.")]


class DuelPlayers(Struct):
    players: list[DuelPlayer]
    total: int
    limit: int
    offset: int


class PlayerBoard(Struct):
    id: int
    match: str
    crosses: Annotated[str, Meta(description="Who began.")]
    circles: str
    ratings: Annotated[list[float], Meta(description="Of both, when it began.")]
    started: Moment
    ended: Moment
    moves: int
    winner: Annotated[str | None, Meta(description="null: a draw.")]


class DuelProfile(Struct):
    player: DuelPlayer
    boards: Annotated[list[PlayerBoard], Meta(description="The last hundred, the latest first.")]


async def duellists(arena: Arena, asked: Asked) -> DuelPlayers:
    lines = arena.duel.lines()
    page = lines[asked.offset : asked.offset + asked.limit]
    return DuelPlayers([_player(arena.duel, *entry) for entry in page], len(lines), asked.limit, asked.offset)


async def duellist(arena: Arena, asked: Asked) -> DuelProfile:
    name = asked.path("name")
    line = arena.duel.line(name)
    if line is None:
        raise Problem(f"nobody has played over duel arena as {name!r}", 404)
    return DuelProfile(_player(arena.duel, name, line), [_board(board) for board in await arena.duel.boards_of(name)])


def _player(table: DuelTable, name: str, line: DuelLine) -> DuelPlayer:
    return DuelPlayer(
        name, table.online(name), line.rating, line.wins, line.losses, line.draws, line.total_games, line.invalid_moves,
        line.total_seconds,
    )  # fmt: skip


def _board(board: DuelBoard) -> PlayerBoard:
    return PlayerBoard(
        board.id, board.match, board.player1, board.player2, [board.rating1, board.rating2],
        iso(board.start_time), iso(board.end_time), board.moves, board.winner,
    )  # fmt: skip


def duel_pages(arena: Arena) -> list[BaseRoute]:
    async def results_table(_: Request) -> Response:
        return HTMLResponse(_page(arena.duel), headers={"content-security-policy": CSP})

    return [Route("/duel/results_table", results_table)]


def _page(table: DuelTable) -> str:
    head = "".join(f"<th>{column}</th>" for column in COLUMNS)
    rows = "\n".join(_row(table, name, line) for name, line in table.lines()[:SHOWN])
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Duel arena</title>'
        '<link rel="stylesheet" href="/static/style.css"></head>\n'
        f"<body>\n<h1>Duel arena</h1>\n<table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</body>\n</html>\n"
    )


def _row(table: DuelTable, name: str, line: DuelLine) -> str:
    mark = "online" if table.online(name) else "offline"
    user = f'[{mark}] <a href="/api/v1/duel/players/{quote(name, safe="")}">{escape(name)}</a>'
    cells = (user, round(line.rating), line.wins, online_time(line.total_seconds), line.total_games, line.invalid_moves)
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def online_time(seconds: float) -> str:
    """`06s`, `3m07` or `2h05`."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minute:02}"
    return f"{minute}m{second:02}" if minute else f"{second:02}s"
