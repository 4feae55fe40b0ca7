"""The organisers of Battlecube games: what each of them asks for, and what may be asked of whose game."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

import structlog

from botdrome.games.battlecube import Battlecube
from botdrome.server.arena import LiveTable
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.cube.connection import Caller
from botdrome.server.cube.game import CubeGame
from botdrome.server.cube.report import CubeReport
from botdrome.server.cube.seating import admitted, invited, seated, send_home
from botdrome.server.cube.settings import CubeSection
from botdrome.server.failures import STORE_AWAY
from botdrome.server.lobby.clients import ConnectedClient, no_login
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.invitations import Invitations
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.server.workers.asker import ASKER
from botdrome.store.store import StoreUnavailable
from botdrome.wire.cube.checks import INVALID, Fault
from botdrome.wire.cube.requests import CubeSetup, NewGame, claim_in, error, game_id_in, new_game_in, nobody, update_in

log = structlog.get_logger()

ORGANISERS = 10
"""All organisers at one address, with those that have left their games, may have as many games as so many of them."""


class Visit:
    """One organiser, while it is connected."""

    def __init__(self, caller: Caller) -> None:
        self.caller, self.source = caller, ASKER.get()
        self.coming = 0
        """Games that are being set up."""
        self.games: dict[str, CubeGame] = {}
        """Its own that run."""
        self.watched: set[str] = set()
        self.unlist = no_login

    def complain(self, problem: Fault) -> None:
        self.caller.emit("ERROR", error(problem))


class CubeOrganiser:
    """Every event of every organiser comes here. Whatever they send, they are answered, and nobody else notices."""

    def __init__(self, desk: Desk, callers: BotCaller) -> None:
        self._desk, self._caller, self._invitations = desk, callers, Invitations(desk, callers)
        self._visits: dict[Caller, Visit] = {}
        self._owned: dict[str, tuple[Visit, CubeGame]] = {}
        """The games that run, and whose they are, or were before their organiser left."""
        self._reports: dict[str, CubeReport] = {}
        self._loop = asyncio.get_running_loop()
        self._events: dict[str, Callable[[Visit, list[Any]], None]] = {
            "NEW_GAME": self._new_game,
            "GAME_SETUP_UPDATE": self._update,
            "STOP_GAME": self._stop,
            "PAUSE_GAME": self._pause,
            "RESUME_GAME": self._resume,
            "RECLAIM_GAME": self._reclaim,
            "WATCH_GAME": self._watch,
            "UNWATCH_GAME": self._unwatch,
            "LIST_GAMES": self._list,
        }

    # What the transport tells.

    def connected(self, caller: Caller) -> None:
        visit = self._visits[caller] = Visit(caller)
        client = ConnectedClient(
            "battlecube organiser", caller.sid, Battlecube.name, visit.source, caller.traffic, lambda _: caller.disconnect()
        )
        visit.unlist = self._desk.registry.clients.enter(client)

    def event(self, caller: Caller, name: str, args: list[Any]) -> None:
        """Names that are not known are ignored, as in the original."""
        visit, meant = self._visits[caller], self._events.get(name)
        if meant is not None:
            try:
                meant(visit, args)
            except Fault as problem:
                visit.complain(problem)

    def gone(self, caller: Caller) -> None:
        visit = self._visits.pop(caller)
        visit.unlist()
        for game_id in visit.watched & self._reports.keys():
            self._reports[game_id].unwatch(caller)
        for game in tuple(visit.games.values()):
            game.orphan()

    # A new game.

    def _new_game(self, visit: Visit, args: list[Any]) -> None:
        if refusal := self._desk.registry.bans.address_refusal():
            raise Fault(refusal[0].upper() + refusal[1:])
        wanted = new_game_in(args)
        self._check_room(visit)
        if not wanted.players:
            return self._play_nothing(visit.caller, wanted.setup)
        visit.coming += 1
        return self._desk.tasks.start(self._set_up(visit, wanted))

    def _check_room(self, visit: Visit) -> None:
        most = self._desk.settings.of(CubeSection).games
        if len(visit.games) + visit.coming >= most:
            raise Fault(f"There are {most} games of yours already")
        here = sum(owner.source == visit.source for owner, _ in self._owned.values())
        if here >= most * ORGANISERS:
            raise Fault(f"There are {here} games of organisers at your address already")

    async def _set_up(self, visit: Visit, wanted: NewGame) -> None:
        try:
            game = await self._game(visit, wanted)
            if game is not None:
                self._begin(visit, game)
        except Fault as problem:
            visit.complain(problem)
        except StoreUnavailable:
            visit.complain(Fault(STORE_AWAY[0].upper() + STORE_AWAY[1:], "UNAVAILABLE"))
        except Exception:
            log.exception("a game could not be set up")
            visit.complain(Fault("The game could not be set up", "INTERNAL_ERROR"))
        finally:
            visit.coming -= 1

    async def _game(self, visit: Visit, wanted: NewGame) -> CubeGame | None:
        """None where the organiser has left meanwhile."""
        players = await admitted(self._desk, wanted)
        guests = await invited(self._desk, wanted, self._invitations)
        game = None
        try:
            if refusal := self._desk.refusal:
                raise Fault(refusal[0].upper() + refusal[1:], INVALID if self._desk.closing else "UNAVAILABLE")
            if visit.caller in self._visits:
                game = seated(self._desk, wanted, players, self._caller, guests)
        finally:
            if game is None:
                send_home(guests)
        return game

    def _begin(self, visit: Visit, game: CubeGame) -> None:
        game.report.table.subscribe(Subscriber(over=self._disown))
        visit.caller.emit("GAME_STARTED", {"id": game.id, "key": game.key})
        self._own_by(visit, game)

    def _own_by(self, visit: Visit, game: CubeGame) -> None:
        visit.games[game.id] = game
        self._owned[game.id] = visit, game
        game.belongs_to(visit.caller)
        self._add(visit, game.report)

    def _disown(self, table: Table) -> None:
        visit, game = self._owned.pop(table.entry.id)
        visit.games.pop(game.id, None)

    def _play_nothing(self, caller: Caller, setup: CubeSetup) -> None:
        """Without players there is no match, but a game as the original plays it."""
        *now, end = nobody(secrets.token_hex(8), setup)
        for name, payload in now:
            caller.emit(name, payload)
        self._loop.call_later(setup.speed / 1000, caller.emit, *end)

    # Games that run.

    def _update(self, visit: Visit, args: list[Any]) -> None:
        game_id, setup = update_in(args)
        for game in self._own(visit, game_id):
            game.change(setup)

    def _stop(self, visit: Visit, args: list[Any]) -> None:
        for game in self._own(visit, game_id_in(args)):
            game.stop()

    def _pause(self, visit: Visit, args: list[Any]) -> None:
        for game in self._own(visit, game_id_in(args)):
            game.pause()

    def _resume(self, visit: Visit, args: list[Any]) -> None:
        for game in self._own(visit, game_id_in(args)):
            game.resume()

    def _reclaim(self, visit: Visit, args: list[Any]) -> None:
        """An organiser has lost its connection, perhaps before anybody else noticed, and goes on with another."""
        game_id, key = claim_in(args)
        if game_id not in self._owned:
            raise _unknown(game_id)
        before, game = self._owned[game_id]
        if not secrets.compare_digest(key.encode(), game.key.encode()):
            raise _not_yours(game_id)
        if before is visit:
            return visit.caller.emit("GAME_RECLAIMED", game.report.told)
        self._check_room(visit)
        before.games.pop(game_id, None)
        before.caller.emit("GAME_TAKEN_OVER", {"id": game_id})
        visit.caller.emit("GAME_RECLAIMED", game.report.told)
        return self._own_by(visit, game)

    def _own(self, visit: Visit, game_id: str | None) -> tuple[CubeGame, ...]:
        """The game of that id, or all of the organiser's where none is named."""
        if game_id is None:
            return tuple(visit.games.values())
        if game_id not in visit.games:
            known = self._desk.floor[game_id] is not None
            raise _not_yours(game_id) if known else _unknown(game_id)
        return (visit.games[game_id],)

    # Those who watch.

    def _watch(self, visit: Visit, args: list[Any]) -> None:
        report = self._report_on(game_id_in(args) or "")
        visit.watched &= self._reports.keys()
        most = self._desk.settings.of(CubeSection).games
        if len(visit.watched) >= most:
            raise Fault(f"You watch {most} games already")
        visit.caller.emit("GAME_WATCHED", report.told)
        report.watch(visit.caller)
        self._add(visit, report)

    def _report_on(self, game_id: str) -> CubeReport:
        table = self._desk.floor[game_id]
        if table is None or table.entry.game != Battlecube.name or table.match.result is not None:
            raise _unknown(game_id)
        return self._reports.get(game_id) or CubeReport(table, table.entry.players)

    def _add(self, visit: Visit, report: CubeReport) -> None:
        game_id = report.table.entry.id
        visit.watched.add(game_id)
        if game_id not in self._reports:
            self._reports[game_id] = report
            report.table.subscribe(Subscriber(over=self._forget))

    def _forget(self, table: Table) -> None:
        self._reports.pop(table.entry.id, None)

    def _unwatch(self, visit: Visit, args: list[Any]) -> None:
        game_id = game_id_in(args) or ""
        if game_id not in visit.watched & self._reports.keys():
            raise _unknown(game_id)
        visit.watched.discard(game_id)
        self._reports[game_id].unwatch(visit.caller)

    def _list(self, visit: Visit, args: list[Any]) -> None:
        games = [
            {"id": one.id, "players": self._players(one), "currentTick": one.steps, "yours": one.id in visit.games}
            for one in self._desk.floor.live()
            if one.game == Battlecube.name
        ]
        visit.caller.emit("GAMES", {"games": games})

    def _players(self, one: LiveTable) -> list[str]:
        """By the names that their organiser gave, if it has one."""
        return list(self._reports[one.id].scene.names if one.id in self._reports else one.players)


def _unknown(game_id: str) -> Fault:
    return Fault(f"There is no game {game_id}", "UNKNOWN_GAME")


def _not_yours(game_id: str) -> Fault:
    return Fault(f"The game {game_id} is not yours", "NOT_YOUR_GAME")
