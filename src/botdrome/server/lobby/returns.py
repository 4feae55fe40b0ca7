"""Returns: clients that come back to a match that does not run on this node.

It runs elsewhere, or it is over.
"""

import asyncio
from typing import TYPE_CHECKING

from botdrome.catalogue import restored
from botdrome.match.events import Player
from botdrome.match.record import BadRecord, Resumption
from botdrome.server.failures import STORE_AWAY
from botdrome.server.lobby.owners import seat_of
from botdrome.server.lobby.waiting_client import WaitingClient
from botdrome.server.network.connection import TRY_LATER
from botdrome.server.tables.audience import header_of
from botdrome.store.damage import BrokenMatch
from botdrome.store.store import MatchEntry, Store, StoreUnavailable
from botdrome.wire.writers import MatchWriters, standing

if TYPE_CHECKING:
    from botdrome.server.lobby.desk import Desk

PAUSE = 0.1
"""Seconds between two looks for a match whose node has died."""
NEW = 0.5
"""Seconds after which other nodes know a new match."""
INPUTS = 100
"""Inputs that are replayed at a time."""


async def come_back_elsewhere(
    desk: "Desk", client: WaitingClient, match_id: str, secret: str
) -> None:
    """Bring a client to the node of its match, or tell it the result if the match is over.

    If that node has died, wait until another one has taken the match over.
    """
    loop = asyncio.get_running_loop()
    soon = loop.time() + NEW
    until = loop.time() + desk.settings.cluster.death + desk.settings.cluster.grace
    try:
        while client.present:
            entry = await desk.store.match(match_id)
            player = None if entry is None else seat_of(entry, client.owner, secret)
            if entry is None and desk.cluster is not None and loop.time() < soon:
                await asyncio.sleep(PAUSE)
                continue
            if entry is None or player is None:
                break
            if entry.status != "running":
                return await _tell_result(desk.store, client, entry, player)
            if desk.tables[match_id] is not None and not desk.tables.leaving(match_id):
                return desk.come_back(client, match_id, secret)
            if desk.cluster is None or desk.shared is None or loop.time() > until:
                break
            if entry.node in desk.cluster.members.nodes.keys() - {
                desk.cluster.here
            } and desk.shared.bring(client, entry.node):
                return None
            await asyncio.sleep(PAUSE)
    except BrokenMatch as problem:
        return client.turn_away({"error": str(problem)})
    except StoreUnavailable:
        return client.turn_away({"error": STORE_AWAY}, TRY_LATER)
    return client.turn_away({"error": f"you have no seat in a running match {match_id}"})


async def _tell_result(
    store: Store, client: WaitingClient, entry: MatchEntry, player: Player
) -> None:
    """Send the last messages of a match as the player would have got them."""
    data = await store.record(entry.id)
    try:
        record, game = restored(data or b"")
        resumption = Resumption(record.setup, game, [line.input for line in record.lines])
        while resumption.advance(INPUTS):
            await asyncio.sleep(0)
    except BadRecord:
        return client.turn_away(
            {"error": f"match {entry.id} is over: {entry.reason or entry.status}"}
        )
    if not client.present:
        return None
    stands, writers = standing(resumption.match, resumption.now), MatchWriters(header_of(entry))
    writers.recap = resumption.recap, stands, ()
    client.take_seat(player, writers)
    client.tell(client.notify(resumption.news, stands))
    return client.dismiss(failed=False)
