"""Duel arena's login: a name and, beyond the original, a token for registered names."""

import json
from typing import Any

from msgspec import Struct

from botdrome.wire.features import DRAW, BadFeatures, read_features
from botdrome.wire.names import can_be_shown
from botdrome.wire.versions import BadVersion, read_version

LONGEST_NAME = 64
OK = b'{"status": "ok"}'


class DuelLogin(Struct, frozen=True):
    name: str
    token: Any
    """The token as it was sent; None: none was sent."""
    draws: bool
    """Whether the client wants to be told of draws."""
    version: str = ""


class BadDuelLogin(Exception):
    """A login that fails, with the reason."""


def error(words: str) -> bytes:
    return json.dumps({"status": "error", "message": words}).encode()


def read_duel_login(message: Any) -> DuelLogin:
    """Return the login in a message, or raise BadDuelLogin. Unknown keys are ignored."""
    if not isinstance(message, dict) or "username" not in message:
        raise BadDuelLogin('log in first: {"username": "NAME"}')
    try:
        features, version = read_features(message, (DRAW,)), read_version(message.get("version"))
    except (BadFeatures, BadVersion) as problem:
        raise BadDuelLogin(str(problem)) from None
    return DuelLogin(_name(message["username"]), message.get("password"), DRAW in features, version)


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise BadDuelLogin("username is text")
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadDuelLogin(f"username has 1 to {LONGEST_NAME} characters")
    if not can_be_shown(name):
        raise BadDuelLogin("username has printable characters only")
    return name
