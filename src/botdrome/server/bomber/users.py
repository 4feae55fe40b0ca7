"""The users of a Bomberman room, and their registration."""

import secrets

from botdrome.match.events import Player
from botdrome.match.match import News
from botdrome.server.lobby.clients import no_login
from botdrome.server.lobby.owners import bot_owner, guest_owner, is_guests
from botdrome.server.lobby.registry import Admission
from botdrome.server.network.connection import Traffic
from botdrome.server.tables.table import Table
from botdrome.store.store import BotEntry
from botdrome.wire.writers import MakeWriter, MatchWriters, Standing


class BomberUser:
    """The client of a seat.

    The server sends it nothing unasked; it polls, and gets an answer to each action at once.
    """

    seeker = None
    present = True
    """Always present: a user that misses a round stands still, and may act again."""

    def __init__(
        self,
        user_name: str,
        admission: Admission,
        password: str | None,
        address: str,
        make_writer: MakeWriter,
    ) -> None:
        bot, self.version = admission.bot, admission.version
        self.user_name, self._make_writer = user_name, make_writer
        self.user_id = secrets.token_hex(16)
        """A secret shared by the server and the user."""
        self.owner = guest_owner(self.user_id, password) if bot is None else bot_owner(bot)
        self.is_bot, self._sealed, self._address = bot is not None, bool(password), address
        self.log_out = no_login
        self.traffic = Traffic()
        self.player: Player | None = None
        self.acted: tuple[int, str] | None = None
        """The round of the last accepted action, and its word."""

    def is_known_by(self, bot: BotEntry | None, password: str | None, address: str) -> bool:
        """Return whether a client is this user: by token, by password, or without either by
        address.
        """
        if bot is not None or self.is_bot:
            return bot is not None and self.owner == bot_owner(bot)
        if not password:
            return not self._sealed and address == self._address
        return self._sealed and is_guests(self.owner, password)

    def sit_down(self, table: Table, player: Player) -> None:
        self.player = player

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        self._writer = writers.join(player, self._make_writer)

    def notify(self, news: News, standing: Standing) -> list[bytes]:
        return [] if self.player is None else self._writer.messages(self.player, news, standing)

    def tell(self, messages: list[bytes]) -> None:
        pass

    def network_time(self) -> float:
        return 0.0

    def delay(self) -> float:
        return 0.0

    def dismiss(self, failed: bool) -> None:
        pass
