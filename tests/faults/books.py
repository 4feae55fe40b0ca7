"""Standings, Elo table and statistics, computed again from stored matches and compared with those
shown.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from botdrome.cli.boats.host import _read_statistics
from botdrome.contest.strength import START, updated_elo
from botdrome.server.rooms.boat_statistics import BoatStatistics, read_folder
from botdrome.store.entries import MatchEntry
from tests.faults import boaters
from tests.faults.diary import Diary

Counts = dict[str, dict[str, int]]


def standings_of(matches: Sequence[MatchEntry]) -> Counts:
    lines: Counts = {}
    for match in matches:
        assert match.result is not None
        for player, name in enumerate(match.players):
            line = lines.setdefault(name, {"wins": 0, "draws": 0, "losses": 0})
            winner = match.result.winner
            line["draws" if winner is None else "wins" if winner == player else "losses"] += 1
    return lines


def duel_problems(
    matches: Sequence[MatchEntry], pages: dict[str, Any], diary: Diary
) -> Iterator[str]:
    boards: dict[int, Any] = {}
    for profile in pages["duel"]:
        ids = [board["id"] for board in profile["boards"]]
        if len(set(ids)) != len(ids):
            yield f"duel: the ids of {profile['player']['name']}'s boards are {ids}"
        for board in profile["boards"]:
            if boards.setdefault(board["id"], board) != board:
                yield f"duel: board {board['id']} is {board} and {boards[board['id']]}"
    yield from _told_boards(boards, diary)
    yield from _boards_of_matches(matches, boards)
    yield from _elo_table(boards, pages["duel"])


def _told_boards(boards: dict[int, Any], diary: Diary) -> Iterator[str]:
    seen = set()
    for told in diary.told.get("duel", []):
        facts: Any = told.facts
        board_id, word, moves = facts
        board = boards.get(board_id)
        if (told.client, board_id) in seen:
            yield f"duel: {told.client} was told twice of board {board_id}"
        seen.add((told.client, board_id))
        if board is None:
            yield f"duel: {told.client} was told {word} on board {board_id}, which is not stored"
        elif (board["winner"] == told.client) != (word == "win") or board["moves"] != moves:
            yield f"duel: {told.client} was told {word} after {moves} moves; stored is {board}"


def _boards_of_matches(matches: Sequence[MatchEntry], boards: dict[int, Any]) -> Iterator[str]:
    """Boards are those of their matches. Those of an aborted match stand."""
    duels = {match.id: match for match in matches if match.game == "gomoku"}
    for match_id in {board["match"] for board in boards.values()} - duels.keys():
        yield f"duel: there are boards of the match {match_id}, which is not stored"
    for match in duels.values():
        if match.status != "ended" or match.result is None:
            continue
        played = sorted(
            (board for board in boards.values() if board["match"] == match.id),
            key=lambda board: int(board["id"]),
        )
        winners = [match.players[board.places.index(1)] for board in match.result.boards]
        if [board["winner"] for board in played] != winners:
            yield f"duel: {match.id} was won by {winners}; its boards are {played}"


def _elo_table(boards: dict[int, Any], profiles: Sequence[Any]) -> Iterator[str]:
    """The boards of a player follow one another.

    One that ends at a drained node may count after later ones.
    """
    ratings: dict[str, float] = {}
    won, played = Counter[str](), Counter[str]()
    left = [board for _, board in sorted(boards.items())]
    while left:
        board = next((board for board in left if _follows(board, ratings)), left[0])
        left.remove(board)
        names = board["player1"], board["player2"]
        before = [ratings.get(name, START) for name in names]
        if not _follows(board, ratings):
            yield (
                f"duel: before board {board['id']} the ratings were {before}, not "
                f"{board['rating1']}, {board['rating2']}"
            )
        after = updated_elo(
            before[0],
            before[1],
            0.5 if board["winner"] is None else float(board["winner"] == names[0]),
        )
        ratings |= zip(names, after, strict=True)
        won[board["winner"]] += 1
        played.update(names)
    for profile in profiles:
        line = profile["player"]
        name = line["name"]
        made = won[name], played[name], ratings.get(name, START)
        if (line["score"], line["boards"]) != made[:2] or abs(line["rating"] - made[2]) > 1e-6:
            yield f"duel: the table has {line}; the boards make {made}"


def _follows(board: dict[str, Any], ratings: dict[str, float]) -> bool:
    """Whether a board was the next one, by the ratings that its players had."""
    return all(
        abs(ratings.get(board[f"player{at}"], START) - board[f"rating{at}"]) <= 1e-6
        for at in (1, 2)
    )


async def boat_statistics(url: str) -> BoatStatistics:
    """As `botdrome boats stats` reads them."""
    return await _read_statistics(url)


def boat_counts(games: dict[str, Any], players: dict[str, Any]) -> Counts:
    return {name: boaters.counts_in(page) for name, page in (games | players).items()}


def boat_problems(books: BoatStatistics, folder: Path, matches: Sequence[MatchEntry]) -> list[str]:
    """The statistics against their files and against the stored matches that have ended."""
    files, stored = boat_counts(*read_folder(folder)), boat_counts(books.games, books.players)
    problems = [] if files == stored else [f"boats: the files have {files}; stored is {stored}"]
    ended = [
        match
        for match in matches
        if match.game == "battleship" and match.status == "ended" and match.view
    ]
    title = books.games.get(boaters.PLAN.title, {})
    if title.get("gameCount", 0) - title.get("total.aborted", 0) != len(ended):
        problems.append(f"boats: the title has {title}; {len(ended)} games are stored")
    if title.get("total.aborted", 0):
        return problems  # those count for players, and leave nothing to count them by
    for name in {name for match in ended for name in match.players}:
        seats = [
            (match.view or {}, match.players.index(name))
            for match in ended
            if name in match.players
        ]
        made = {"gamesPlayed": len(seats)}
        for key, words in (("total.score", "scores"), ("total.turns", "turns")):
            made[key] = sum(view[words][at] for view, at in seats)
        page = books.players.get(name, {})
        if any(page.get(key, 0) != count for key, count in made.items()):
            problems.append(f"boats: {name} has {page}; the stored games make {made}")
    return problems
