"""FramePlayer: the state that all players with frames in a match on a server share."""

from botdrome.client.join import Ending
from botdrome.match.events import Result
from botdrome.match.headline import Headlines
from botdrome.wire.conversation import FRAMES


class FramePlayer:
    features: tuple[str, ...] = (FRAMES,)

    def __init__(self, name: str) -> None:
        self._name = name
        self._headlines = Headlines()
        self.match = self.fault = self.log = ""
        self.players: tuple[str, ...] = ()
        self.result: Result | None = None

    @property
    def you(self) -> int:
        return self.players.index(self._name)

    @property
    def ending(self) -> Ending | None:
        return (
            None
            if self.result is None
            else Ending(self.result.places, self._headlines.of(self.you))
        )
