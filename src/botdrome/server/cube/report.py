"""Report: a Battlecube game in events, for all who watch it."""

from botdrome.match.course import News
from botdrome.server.cube.connection import MUCH, Caller
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.wire.cube.checks import Fault
from botdrome.wire.cube.events import CubeEvents, Told, ended
from botdrome.wire.cube.requests import error
from botdrome.wire.cube.scene import CubeScene, Payload

URLs = tuple[str, ...]


class CubeReport:
    """Attached to a table, from whatever position it has reached."""

    def __init__(self, table: Table, names: tuple[str, ...], urls: URLs = ()) -> None:
        """`names` are those that the organiser gave; `urls` are shown to the organiser alone."""
        self.table = table
        self.scene = CubeScene(table.entry.id, names)
        self.events = CubeEvents(self.scene, table.match.position)
        self.organiser: Caller | None = None
        self._urls = urls
        self._watching: dict[Caller, None] = {}
        self._told: list[Told] = []
        table.subscribe(Subscriber(self._report, self._look, over=self._over, sees_secrets=True))

    @property
    def told(self) -> Payload:
        """What whoever begins to watch is told first."""
        return {"id": self.table.entry.id, "players": list(self.scene.names)}

    def watch(self, caller: Caller) -> None:
        """From now on; whoever comes while a tick runs is shown its state."""
        self._watching[caller] = None
        if self._running():
            caller.emit("NEXT_TICK", self.scene.state(self.table.match.position))

    def unwatch(self, caller: Caller) -> None:
        self._watching.pop(caller, None)

    def tell(self, events: list[Told]) -> None:
        """The game waits for its organiser to read. Others that read slowly miss ticks: each has the whole state."""
        for caller in tuple(self._watching):
            if caller is self.organiser or caller.unread <= MUCH:
                caller.emit_all(events)

    def _report(self, news: News) -> None:
        """Unless it was the last, the table will let us look: what is to be said then goes out together with this."""
        self._told += self.events.on_news(news)
        if self.events.final is not None:
            self._tell()

    def _look(self) -> None:
        if self._running():
            self._told += self.events.opened()
        self._tell()

    def _tell(self) -> None:
        told, self._told = self._told, []
        if told:
            self.tell(told)

    def _running(self) -> bool:
        match = self.table.match
        return self.table.open and match.result is None and not match.resting

    def _over(self, table: Table) -> None:
        end = self.events.final
        for caller in tuple(self._watching):
            if end is None:
                caller.emit("ERROR", error(Fault("The result could not be stored", "GAME_LOST")))
            else:
                urls = self._urls if caller is self.organiser else None
                caller.emit("GAME_ENDED", ended(end, self.scene, urls))
        self._watching.clear()
