"""What must hold after all failures: told results, endings of matches, and the contest, against the
store.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from botdrome.contest.progress import ContestProgress
from botdrome.server.contests.running_contest import MOVED
from botdrome.server.nodes.takeover import NO_INPUTS, OF_CONTEST, OF_ROOM
from botdrome.server.tables.kept_table import NOBODY_BACK
from botdrome.store.contest_archive import ArchiveDifference, check_archive, write_archive
from botdrome.store.contest_journal import ContestJournal, StoredContest
from botdrome.store.entries import MatchEntry, Wanted
from botdrome.store.store import Store, open_store
from tests.chaos.load import BUMBLEBOTS, CUP, NOUGHTS
from tests.faults.diary import Diary

Matches = dict[str, MatchEntry]
NATIVE_KINDS = ("noughts", "bumblebots", "contest", "slow")
STOPPED = "the server was stopped"
REASONS = {
    "native": {NO_INPUTS, NOBODY_BACK},
    "rooms": {NO_INPUTS, OF_ROOM, STOPPED},
    "contest": {NO_INPUTS, OF_CONTEST, MOVED, STOPPED},
}
"""Why matches may be aborted, as the table in docs/scaling-out.md says.

Native ones resume if a bot comes back.
"""


def sort_of(match: MatchEntry) -> str:
    return (
        "contest" if match.contest else "native" if match.game in (NOUGHTS, BUMBLEBOTS) else "rooms"
    )


async def problems_in_store(url: str, diary: Diary, known: set[str]) -> list[str]:
    """`known`: the matches to which bots come back. Print how the matches ended."""
    matches, store = await stored_matches(url), await open_store(url)
    try:
        cup = await ContestJournal(store).load(CUP)
        problems = [
            *about_told(matches, diary),
            *about_endings(matches, known),
            *about_contest(matches, cup),
        ]
        if cup.entry.state == "over":
            problems += await _disproved(store)
    finally:
        await store.close()
    _print_endings(matches)
    return problems


async def stored_matches(url: str) -> Matches:
    store = await open_store(url)
    try:
        return {match.id: match for match in await store.matches(Wanted())}
    finally:
        await store.close()


def about_told(matches: Matches, diary: Diary) -> Iterator[str]:
    """Every result is stored as it was told, and was told once."""
    for kind in NATIVE_KINDS:
        facts: Iterable[tuple[str, Any]] = (
            (entry.client, entry.facts) for entry in diary.told.get(kind, [])
        )
        for (client, (match_id, places)), times in Counter(facts).items():
            match = matches.get(match_id)
            if match is None or match.status != "ended" or match.result is None:
                yield (
                    f"lost: {client} was told {places} in {match_id}, which is "
                    f"{match.status if match else 'not stored'}"
                )
            elif match.result.places != places:
                yield (
                    f"wrong: {client} was told {places} in {match_id}, but "
                    f"{match.result.places} "
                    "is stored"
                )
            if times > 1:
                yield f"duplicated: {client} was told {times} times of the end of {match_id}"


def about_endings(matches: Matches, known: set[str]) -> Iterator[str]:
    """No match runs, and each has a result or was aborted for a reason that its protocol has."""
    for match in matches.values():
        sort = sort_of(match)
        if match.status == "running":
            yield f"{match.id} ({sort}, {match.game}) still runs at {match.node}"
        elif match.status == "aborted" and match.reason not in REASONS[sort]:
            yield f"{match.id} ({sort}, {match.game}) was aborted: {match.reason}"
        elif match.status == "aborted" and match.reason == NOBODY_BACK and match.id in known:
            yield (
                f"{match.id} ({sort}, {match.game}) was aborted: {match.reason}; but its bots "
                "come back"
            )


def about_contest(matches: Matches, cup: StoredContest) -> Iterator[str]:
    """Each fixture has one result, that of its own stored match, and no other match was played to
    its end.
    """
    progress = ContestProgress(cup.entry.document, cup.entrants, cup.results)
    names = [entrant.name for entrant in cup.entrants]
    counted = Counter(result.match for result in cup.results.values())
    if cup.entry.state != "over":
        yield (
            f"contest: it is {cup.entry.state}, with {len(cup.results)} of "
            f"{len(progress.fixtures)} results"
        )
    for key, fixture in progress.fixtures.items():
        result = cup.results.get(key)
        match = None if result is None else matches.get(result.match)
        players = tuple(names[entrant] for entrant in fixture.entrants)
        if result is None or match is None or match.result is None or match.status != "ended":
            yield (
                f"contest: {key} of {players} has {result}, and its match is "
                f"{match.status if match else 'not stored'}"
            )
        elif (match.players, match.result.places, match.contest) != (players, result.places, CUP):
            yield (
                f"contest: {key} of {players} has {result}; stored is {match.players}, "
                f"{match.result.places}"
            )
    for match in matches.values():
        if match.contest == CUP and match.status == "ended" and counted[match.id] != 1:
            where = " and ".join((*match.former, match.node))
            yield (
                f"contest: {match.id} of {match.players}, played at {where}, counts "
                f"{counted[match.id]} times"
            )


async def _disproved(store: Store) -> list[str]:
    """As `botdrome verify`: all pairings and standings are computed again from
    the matches.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cup.zip"
        await write_archive(store, CUP, file)
        try:
            check_archive(file)
        except ArchiveDifference as difference:
            return [f"contest: {difference}"]
    return []


def _print_endings(matches: Matches) -> None:
    for sort in REASONS:
        some = [match for match in matches.values() if sort_of(match) == sort]
        moved = sum(bool(match.former) for match in some if match.status == "ended")
        why = Counter(match.reason for match in some if match.status == "aborted")
        ends = ", ".join(f"{times} aborted ({reason})" for reason, times in why.most_common())
        print(
            f"{sort:8} {len(some):5} matches: {sum(match.status == 'ended' for match in some)} "
            "have results",
            end="",
        )
        print(f", {moved} of them at another node than they began" + (f"; {ends}" if ends else ""))
