"""Owners of seats, and of their flight records.

A name proves nothing, because a guest's name may be registered while it plays, or later. So a seat
belongs to the bot that was registered when the seat was taken, or to a guest that can show its
secret again, or to nobody.
"""

import hashlib
import hmac
import secrets

from botdrome.match.events import Player
from botdrome.store.entries import BotEntry, MatchEntry

NOBODY = ""
"""The owner of the seats of house bots, and of guests without a secret."""
BOT, GUEST = "bot", "guest"


def bot_owner(bot: BotEntry) -> str:
    """The time of registration tells a bot from a later one of the same name."""
    return f"{BOT} {bot.registered} {bot.name}"


def guest_owner(*shown: str | None) -> str:
    """Return the owner for a guest with these secrets. Any one of them proves it."""
    salt = secrets.token_hex(8)
    hashes = [_hashed(salt, secret) for secret in shown if secret]
    return " ".join([GUEST, salt, *hashes]) if hashes else NOBODY


def is_guests(owner: str, secret: str) -> bool:
    """Whether this is a secret of the guest that owns the seat."""
    kind, *rest = owner.split(" ")
    if kind != GUEST or not secret:
        return False
    salt, *hashes = rest
    return any(hmac.compare_digest(known, _hashed(salt, secret)) for known in hashes)


def is_of_guest(owner: str) -> bool:
    """Whether the seat belongs to a guest with a secret."""
    return owner.startswith(f"{GUEST} ")


def is_another_bots(owner: str, other: str) -> bool:
    """Whether `owner` is a registered bot, and not the owner of the other seat."""
    return owner.startswith(f"{BOT} ") and owner != other


def is_bots(entry: MatchEntry, seat: int, bot: BotEntry) -> bool:
    """Whether a seat is this bot's.

    Where an older store names no owners, a bot owns what it played since it registered.
    """
    if entry.owners:
        return entry.owners[seat] == bot_owner(bot)
    return entry.players[seat] == bot.name and bot.registered <= entry.started


def seat_of(entry: MatchEntry, owner: str, secret: str) -> int | None:
    """Return the seat of an owner, or of a guest with this secret."""
    owners = enumerate(entry.owners)
    return next(
        (player for player, seat in owners if (seat and seat == owner) or is_guests(seat, secret)),
        None,
    )


def seat_key(match_id: str, player: Player) -> str:
    return f"{match_id} {player}"


def _hashed(salt: str, secret: str) -> str:
    return hashlib.sha256(f"{salt} {secret}".encode(errors="surrogatepass")).hexdigest()
