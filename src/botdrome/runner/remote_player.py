"""Bots in matches on a server: the seats of the offline runner, driven by the messages of the
native protocol.
"""

import secrets
from typing import Any

from botdrome.catalogue import CatalogueEntry
from botdrome.runner.function_player import FunctionPlayer
from botdrome.runner.program_player import ProgramPlayer
from botdrome.runner.seats import ProgramSeat, make_seat
from botdrome.runner.table import SEED_SIZE


def remote_player(
    entrant: str, row: CatalogueEntry, name: str, options: dict[str, Any]
) -> FunctionPlayer | ProgramPlayer:
    """Make a bot for one match on a server, under this name."""
    seat = make_seat(entrant, row.name, name, secrets.randbelow(SEED_SIZE))
    return (
        ProgramPlayer(seat)
        if isinstance(seat, ProgramSeat)
        else FunctionPlayer(seat, row, name, options)
    )
