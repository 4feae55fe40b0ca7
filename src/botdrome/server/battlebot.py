"""BattlebotServer: brings clients of the native protocol to the desk."""

import asyncio
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from botdrome.contest.lobby import NO_OPTIONS, Wish, in_a_wish
from botdrome.server.calling.bot_connection import BotAnswer, CallFailed
from botdrome.server.calling.tunnels import BotTunnel, Tunnels
from botdrome.server.lobby.clients import is_of_guest, seat_key
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.registry import may_log_in
from botdrome.server.network.connection import Connection
from botdrome.server.network.peer import current_peer
from botdrome.server.network.websocket import MakeSession
from botdrome.server.protocol import ServedProtocol, ServerParts
from botdrome.server.session import AdmittedClient, Session, Transfer
from botdrome.server.tables.kept_table import KeptTable
from botdrome.store.entries import StoreUnavailable
from botdrome.wire.battlebot.conversation import PLAY_PATH, BattlebotConversation, Login, Seek
from botdrome.wire.conversation import AGAIN, Command, Removed, Seated, TokenChanged
from botdrome.wire.safe_headers import plain_answer
from botdrome.wire.tunnel import TakeAnswer, TunnelConversation, UnknownCall

LOGGED_IN_AGAIN = "you have logged in again from another window, which goes on in place of this one"

NATIVE = "battlebot"
STAYS = Transfer(NATIVE)
plain_wish = lru_cache(maxsize=64)(Wish)
"""Made once, since nearly all clients have one of them."""


class BattlebotServer:
    protocol = NATIVE

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        limits, message = desk.settings.limits, desk.settings.message
        self._limits = limits.login, message.rate, message.burst

    def receive_socket(self, target: str) -> MakeSession | bytes:
        """Refuse a client while no match begins, unless another node takes it.

        Battlebot's own client ends after a 503 only.
        """
        refusal = self._desk.refusal
        if not refusal or target.partition("?")[0] == PLAY_PATH or self._desk.others.drained:
            return self.connect
        return plain_answer("503 Service Unavailable", refusal)

    def connect(
        self,
        connection: Connection,
        transfer: Transfer | None = None,
        client: AdmittedClient | None = None,
    ) -> Session:
        """`transfer` is that of a connection which comes from another node; `client` has logged in
        there.
        """
        now = asyncio.get_running_loop().time()
        conversation = BattlebotConversation(*self._limits, now)
        if client is None:
            return Session(connection, conversation, self, self._desk, now)
        login = conversation.resume(client.login)
        session = Session(connection, conversation, self, self._desk)
        session.name, session.owner = client.name, client.owner
        session.version, session.registered = client.version, client.registered
        session.enlist(login.game)
        if client.registered and (peer := current_peer()) is not None:
            peer.bill(client.name)
        session.transfer = transfer
        if refusal := self._desk.registry.bans.refusal(client.name):  # it was banned on the way
            session.answer(Removed(refusal))
        elif not self._sits_again(session, login, client.login):
            self.act(session, Seek(login, client.login))
        if client.registered and not session.closed:
            self._desk.tasks.start(self._check_token(session, login.password))
        return session

    async def _check_token(self, session: Session, token: str) -> None:
        """Its token may have been changed while the client was on its way."""
        try:
            bot = await self._desk.registry.find(session.name)
        except StoreUnavailable:
            return  # the node that sent the client has checked it
        if bot is None or not may_log_in(bot, token):
            session.answer(TokenChanged())

    def _sits_again(self, session: Session, login: Login, message: bytes) -> bool:
        """Seat a client that knows how its match stands, if the match is here by now."""
        transfer = session.transfer
        if transfer is None or transfer.player is None:
            return False
        table = self._desk.tables[transfer.match]
        if not isinstance(table, KeptTable) or not table.take_again(transfer.player, session):
            return False
        self._prepare(session, login, message)
        session.transfer = None
        session.sit_down(table, transfer.player)
        session.answer(Seated(transfer.player, table.writers, moved=True))
        return True

    def _prepare(self, session: Session, login: Login, message: bytes) -> None:
        session.transfer_login = message
        if login.guest:
            session.on_seat = partial(self._keep_seat, session)

    def act(self, session: Session, command: Command) -> None:
        assert isinstance(command, Seek)
        login, desk = command.login, self._desk
        wish = plain_wish(login.game, login.players) if login.plain else _wish(login)
        session.transfer_login, session.stays = command.message, AGAIN in login.features
        if login.guest:
            self._prepare(session, login, command.message)
            self._replace(session, f"{login.password} {wish}")
        transfer = session.transfer
        if transfer is None and not login.match:  # nearly always
            return desk.seek(session, login.name, wish, login.opponent)
        session.transfer, transfer = None, transfer or STAYS
        if transfer.waited:
            how: dict[str, Any] = {"waited": transfer.waited, "avoids": transfer.avoids}
            desk.seek(session, login.name, wish, login.opponent, moved=True, **how)
        elif match := transfer.match or login.match:
            desk.come_back(session, match, login.password if login.guest else "")
        else:
            desk.seek(session, login.name, wish, login.opponent)

    def _keep_seat(self, session: Session) -> None:
        if session.table is not None and is_of_guest(session.owner):
            self._replace(session, seat_key(session.table.entry.id, session.player))

    def _replace(self, session: Session, key: str) -> None:
        """Of several sessions of a guest that wait for the same table, or sit on one seat, keep the
        newest.
        """
        session.release()
        self._desk.guest_sessions.end(key)
        session.release = self._desk.guest_sessions.enter(
            key, lambda: session.turn_away({"error": LOGGED_IN_AGAIN})
        )


async def open_battlebot(server: ServerParts) -> ServedProtocol:
    native = BattlebotServer(server.desk)
    return ServedProtocol(native, receive_socket=native.receive_socket)


def _wish(login: Login) -> Wish:
    return Wish(
        login.game,
        login.players,
        in_a_wish(login.options) if login.options else NO_OPTIONS,
        login.contest,
        login.pace,
        login.invite,
        login.ladder,
    )


class TunnelServer:
    """Takes the answers of one bot behind a firewall (`botdrome connect`)."""

    protocol = "botdrome connect"

    def __init__(self, tunnels: Tunnels, arrived: Callable[[str], None]) -> None:
        self._tunnels, self._arrived = tunnels, arrived
        self._tunnel: BotTunnel | None = None
        """None: the bot has not logged in."""

    def act(self, session: Session, command: Command) -> None:
        if not isinstance(command, TakeAnswer):
            return self._open(session)
        failed = command.failed[:200]
        body = command.body.encode(errors="replace")
        outcome = CallFailed(failed) if failed else BotAnswer(command.status, body)
        if self._tunnel is None or not self._tunnel.settle(command.call, outcome):
            session.answer(UnknownCall())
        return None

    def _open(self, session: Session) -> None:
        def close(why: str, code: int) -> None:
            session.turn_away({"error": why}, code)

        def leave() -> None:
            self._tunnels.leave(tunnel)
            tunnel.lose()

        network_time, most = session.connection.network_time, self._tunnels.most_calls
        tunnel = self._tunnel = BotTunnel(session.name, most, session.answer, network_time, close)
        session.release = leave
        self._tunnels.join(tunnel)
        self._arrived(session.name)


def receive_tunnel(
    desk: Desk, tunnels: Tunnels, arrived: Callable[[str], None], connection: Connection
) -> Session:
    """Open a tunnel to a bot behind a firewall. `arrived` is told its name."""
    limits, message = desk.settings.limits, desk.settings.message
    now = asyncio.get_running_loop().time()
    conversation = TunnelConversation(
        limits.login, message.rate, message.burst, message.longest, now
    )
    return Session(connection, conversation, TunnelServer(tunnels, arrived), desk)
