"""RemoteClient: a client that waits here, while its connection is at another node, its front."""

from typing import TYPE_CHECKING, Any

from botdrome.contest.lobby import Seeker
from botdrome.match.events import Player
from botdrome.match.match import News
from botdrome.server.network.connection import GOING, NORMAL
from botdrome.server.nodes.desk_messages import SeekAgain, TellComplete, TurnAway, WaitAtMost
from botdrome.server.nodes.node import NodeId
from botdrome.server.nodes.placement import ClientPlace
from botdrome.server.tables.running_tables import Candidate
from botdrome.server.tables.table import Table
from botdrome.wire.writers import MatchWriters, Standing

if TYPE_CHECKING:
    from botdrome.server.nodes.home_desk import HomeDesk


class RemoteClient:
    """When it gets a seat, its connection is fetched.

    Until that has come, the seat hears nothing.
    """

    def __init__(
        self, desk: "HomeDesk", front: NodeId, ticket: int, name: str, owner: str, version: str
    ) -> None:
        self._desk, self.front, self.ticket = desk, front, ticket
        self.place = ClientPlace(front, front)
        self.name, self.owner, self.version = name, owner, version
        self.seeker: Seeker | None = None
        self.arrived: Candidate | None = None
        """Its session here."""

    # What the desk decides.

    def wait_at_most(self, seconds: float, words: str) -> None:
        self._desk.tell(self.front, WaitAtMost(self.ticket, seconds, words))

    def contest_complete(self, contest: str) -> None:
        self._desk.tell(self.front, TellComplete(self.ticket, contest))

    def turn_away(self, words: dict[str, Any], code: int = NORMAL) -> None:
        """If this node is stopping, the client seeks at another one."""
        self._leave(TurnAway(self.ticket, words, code), code)

    def put_off(self, words: dict[str, Any], code: int) -> None:
        self._leave(TurnAway(self.ticket, words, code, for_now=True), code)

    def _leave(self, message: TurnAway, code: int) -> None:
        self._desk.forget(self)
        self._desk.tell(self.front, SeekAgain(self.ticket) if code == GOING else message)

    # What the table does.

    @property
    def present(self) -> bool:
        return self.arrived is not None and self.arrived.present

    def sit_down(self, table: Table, player: Player) -> None:
        self._desk.fetch(self, table, player)

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        """Its session does so when it has come."""

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        return []

    def tell(self, messages: list[bytes]) -> None:
        """There is nothing to tell before the match has started."""

    def network_time(self) -> float:
        return 0.0

    def delay(self) -> float:
        return 0.0

    def dismiss(self, failed: bool) -> None:
        """The match was over before the connection came."""
        self._desk.tell(self.front, SeekAgain(self.ticket))
