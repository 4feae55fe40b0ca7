"""The players of a match over REST, as a viewer shows them beside the board."""

from typing import Annotated

from msgspec import Meta, Struct

from botdrome.api.leaderboard import HOUSE, rated_name, results_of
from botdrome.api.rest.endpoint import Asked
from botdrome.api.rest.matches import match_entry, owners_of
from botdrome.api.rest.reach import Reach


class MatchPlayer(Struct):
    name: str
    owner: Annotated[str | None, Meta(description="Of a registered bot.")]
    rating: Annotated[float | None, Meta(description="Its present rating; null: it has none.")]
    protocol: Annotated[str | None, Meta(description="By which it is connected now, while the match runs; null: it is not.")]


class MatchPlayers(Struct):
    players: Annotated[list[MatchPlayer], Meta(description="In the order of the seats.")]


async def players(reach: Reach, asked: Asked) -> MatchPlayers:
    entry = await match_entry(reach, asked)
    strengths = (await results_of(entry.game, reach.store)).strengths()
    protocols = await reach.protocols(entry.id) if entry.status == "running" else {}
    found = []
    for name, owner in zip(entry.players, await owners_of(entry, reach), strict=True):
        strength = strengths.get(rated_name(name)) if owner is not None or name.startswith(HOUSE) else None
        found.append(MatchPlayer(name, owner, None if strength is None else strength.rating, protocols.get(name)))
    return MatchPlayers(found)
