"""The settings of duel arena."""

from typing import Annotated

from msgspec import Meta

from botdrome.server.settings import ProtocolSection


class DuelSection(ProtocolSection, frozen=True):
    """Duel arena"""

    port: Annotated[
        int,
        Meta(description="duel arena's TCP protocol; 0: off, -1: any free port", ge=-1, le=65535),
    ] = 5232
    window: Annotated[
        float,
        Meta(
            description="seconds in which players gather before they are paired; 0: pair at once",
            ge=0,
        ),
    ] = 0.0
