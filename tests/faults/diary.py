"""Diary: the messages that clients got."""

from collections.abc import Hashable
from typing import Any

from msgspec import Struct


class Told(Struct, frozen=True):
    """A result, as one client was told it."""

    client: str
    facts: Hashable
    """In a form that can be made of a stored match, too."""


class Shown(Struct, frozen=True):
    """Counts that only ever grow, as they were shown at one moment."""

    where: str
    counts: dict[str, dict[str, int]]
    """By name and kind."""


class Cast(Struct, frozen=True):
    """Players that play together once. Another cast has other names and its own contest."""

    suffix: str = ""

    @property
    def contest(self) -> str:
        return f"cup{self.suffix}"

    def named(self, *names: str) -> tuple[str, ...]:
        return tuple(f"{name}{self.suffix}" for name in names)


class Diary:
    def __init__(self) -> None:
        self.told: dict[str, list[Told]] = {}
        """By protocol."""
        self.complete: list[tuple[str, str]] = []
        """Players and the contests that they know to be complete."""
        self.shown: list[Shown] = []
        self.registered: dict[str, dict[str, Any]] = {}
        """The logins of bots that were told their passwords."""

    def note(self, protocol: str, client: str, facts: Hashable) -> None:
        self.told.setdefault(protocol, []).append(Told(client, facts))

    @property
    def results(self) -> int:
        return sum(map(len, self.told.values()))
