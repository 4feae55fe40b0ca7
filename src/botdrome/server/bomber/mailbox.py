"""Mailbox: a user of a Bomberman room. It is not spoken to: it asks, and its actions are answered at once."""

import secrets

from botdrome.match.course import News
from botdrome.match.events import Player
from botdrome.server.lobby.clients import no_login
from botdrome.server.lobby.owners import bot_owner, guest_owner, is_guests
from botdrome.server.network.traffic import Traffic
from botdrome.server.tables.table import Table
from botdrome.store.store import BotEntry
from botdrome.wire.standing import Standing
from botdrome.wire.writers import MakeWriter, MatchWriters


class Mailbox:
    seeker = None
    present = True
    """Who is silent stands still, and may speak again."""

    def __init__(self, user_name: str, bot: BotEntry | None, password: str | None, address: str, make_writer: MakeWriter) -> None:
        self.user_name, self._make_writer = user_name, make_writer
        self.user_id = secrets.token_hex(16)
        """A secret between the room and the user."""
        self.owner = guest_owner(self.user_id, password) if bot is None else bot_owner(bot)
        self._bot, self._sealed, self._address = bot is not None, bool(password), address
        self.log_out = no_login
        self.traffic = Traffic()
        self.player: Player | None = None
        self.acted: tuple[int, str] | None = None
        """The last action that was accepted, and in which step."""

    def is_known_by(self, bot: BotEntry | None, password: str | None, address: str) -> bool:
        """Whether this user registers again: with its bot's token, its password, or without any from the same address."""
        if bot is not None or self._bot:
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

    def dismiss(self, failed: bool) -> None:
        pass
