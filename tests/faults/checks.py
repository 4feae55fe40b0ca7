"""Checks that the results told to clients equal the stored ones."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from botdrome.app import open_server
from botdrome.server.arena import Arena
from botdrome.server.rooms.boat_settings import BoatsSection
from botdrome.server.settings import Settings
from botdrome.store.entries import MatchEntry, Wanted
from tests.faults import battlebots, boaters, bombers, cubes
from tests.faults.books import (
    boat_counts,
    boat_problems,
    boat_statistics,
    duel_problems,
    standings_of,
)
from tests.faults.diary import Diary

Facts = Callable[[MatchEntry], Hashable]
STORED: dict[str, tuple[str, Facts]] = {
    "battlebot": (battlebots.GAME, battlebots.stored),
    "boats": ("battleship", boaters.stored),
    "cube": ("battlecube", cubes.stored),
    "bomberman": ("bomberman", bombers.stored),
    "spectators": ("bomberman", bombers.watched),
}
"""The game of a protocol, and its clients' message about a match."""


async def problems_in(
    wanted: Settings, diary: Diary, each_way: int = battlebots.EACH_WAY
) -> list[str]:
    """The differences between the diary and a new server on the same store.

    `each_way`: as `battlebots.EACH_WAY`.
    """
    house = await open_server(wanted)
    try:
        matches = await house.arena.store.matches(Wanted())
        pages = await _pages(house.arena)
        boats = await boat_statistics(wanted.store_url)
        unknown = [
            name
            for name, login in diary.registered.items()
            if not await house.arena.holder(name, login["password"])
        ]
        without = [
            match.id
            for match in matches
            if match.status == "ended" and not await house.arena.store.record(match.id)
        ]
    finally:
        await house.close()
    pages["boat statistics"] = boat_counts(boats.games, boats.players)
    found = [f"{name} was told a password that does not open" for name in unknown]
    found += [f"{match_id} has no match file" for match_id in without]
    found += [
        *_about_matches(matches),
        *_about_results(matches, diary),
        *_about_contest(matches, diary, each_way),
    ]
    found += [*_about_standings(matches, pages["standings"]), *duel_problems(matches, pages, diary)]
    found += boat_problems(boats, Path(wanted.of(BoatsSection).dir), matches)
    return [*found, *_about_what_was_shown(pages, diary)]


async def _pages(arena: Arena) -> dict[str, Any]:
    """The duel table with the boards of each player, and the standings of all contests."""
    duel = []
    for name, line in arena.duel.lines(0, 1 << 20):
        player = {"name": name, "score": line.wins, "losses": line.losses, "draws": line.draws}
        player |= {"boards": line.total_games, "invalid": line.invalid_moves, "rating": line.rating}
        duel.append(
            {
                "player": player,
                "boards": [
                    msgspec.to_builtins(board) for board in await arena.duel.boards_of(name)
                ],
            }
        )
    standings: dict[str, Any] = {}
    for contest in await arena.store.contests(battlebots.GAME):
        lines = await arena.store.contest_lines(battlebots.GAME, contest)
        standings |= {
            line.name: {"wins": line.wins, "draws": line.draws, "losses": line.losses}
            for line in lines
        }
    return {"duel": duel, "standings": standings}


def _about_matches(matches: Sequence[MatchEntry]) -> Iterator[str]:
    for match in matches:
        if match.status == "running":
            yield f"{match.id} ({match.game}) still runs"
        elif match.status == "ended" and match.result is None:
            yield f"{match.id} ({match.game}) has ended without a result"
    for match_id, times in Counter(match.id for match in matches).items():
        if times > 1:
            yield f"{match_id} is stored {times} times"


def _about_results(matches: Sequence[MatchEntry], diary: Diary) -> Iterator[str]:
    """Each client's results are among those of the matches that have a result.

    One that was told twice has to be there twice.
    """
    for protocol, (game, facts) in STORED.items():
        stored = Counter(
            facts(match)
            for match in matches
            if match.game == game and match.status != "running" and match.view
        )
        told: dict[str, Counter[Hashable]] = {}
        for entry in diary.told.get(protocol, []):
            told.setdefault(entry.client, Counter())[entry.facts] += 1
        for client, results in told.items():
            for lost in (results - stored).elements():
                yield f"{protocol}: {client} was told {lost}, which is not stored"


def _about_contest(matches: Sequence[MatchEntry], diary: Diary, enough: int) -> Iterator[str]:
    """All pairs have played their games when a bot is told that its contest is complete, and never
    more.
    """
    played = Counter(
        (match.contest, match.players)
        for match in matches
        if match.contest and match.status == "ended"
    )
    for meeting, times in played.items():
        if times > enough:
            yield f"contest: {meeting} was played {times} times"
    names = {
        contest: {name for it, players in played for name in players if it == contest}
        for contest, _ in played
    }
    for client, contest in diary.complete:
        others = names.get(contest, set()) - {client}
        missing = [
            other
            for other in others
            for pair in ((client, other), (other, client))
            if played[contest, pair] < enough
        ]
        if missing or not others:
            yield (
                f"contest: {client} was told that {contest} is complete, but lacks games with "
                f"{missing}"
            )


def _about_standings(matches: Sequence[MatchEntry], shown: dict[str, Any]) -> Iterator[str]:
    counted = standings_of(
        [match for match in matches if match.contest and match.status == "ended"]
    )
    for name, counts in counted.items():
        line = shown.get(name, {})
        if any(line.get(key) != count for key, count in counts.items()):
            yield f"standings: {name} has {line}; the stored matches make {counts}"


def _about_what_was_shown(pages: dict[str, Any], diary: Diary) -> Iterator[str]:
    """Counts only grow: no more was ever shown than is stored."""
    duel = {profile["player"]["name"]: profile["player"] for profile in pages["duel"]}
    now: dict[str, dict[str, Any]] = pages | {"duel table": duel}
    for shown in diary.shown:
        for name, counts in shown.counts.items():
            stored = now[shown.where].get(name, {})
            if any(count > stored.get(key, 0) for key, count in counts.items()):
                yield f"{shown.where}: {name} was shown with {counts}; stored is {stored}"
