"""Mailbox: a user of a Bomberman room. It is not spoken to: it asks, and its actions are answered at once."""

import secrets
from hmac import compare_digest

from botdrome.match.events import Player
from botdrome.server.arena import hashed
from botdrome.server.table import Table, Tongue


class Mailbox:
    seeker = None
    present = True
    """Who is silent stands still, and may speak again."""

    def __init__(self, user_name: str, password: str | None, tongue: Tongue) -> None:
        self.user_name, self.tongue = user_name, tongue
        self.user_id = secrets.token_hex(16)
        """A secret between the room and the user."""
        self.player: Player | None = None
        self.acted: tuple[int, str] | None = None
        """The last action that was accepted, and in which step."""
        self._seal = None if password is None else hashed(password)

    def fits(self, password: str | None) -> bool:
        """Whether this is the password that it registered with; None is one too."""
        if password is None or self._seal is None:
            return password is None and self._seal is None
        return compare_digest(self._seal, hashed(password))

    def sit_down(self, table: Table, player: Player) -> None:
        self.player = player

    def tell(self, messages: list[bytes]) -> None:
        pass

    def dismiss(self, failed: bool) -> None:
        pass
