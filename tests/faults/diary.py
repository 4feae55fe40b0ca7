"""Diary: what clients were told."""

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
    """By name and by what is counted."""


class Cast(Struct, frozen=True):
    """Those who play together once. Another cast has other names, and a contest of its own."""

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
        """Who was told that which contest is complete."""
        self.shown: list[Shown] = []
        self.registered: dict[str, dict[str, Any]] = {}
        """The logins of bots that were told their passwords."""

    def note(self, protocol: str, client: str, facts: Hashable) -> None:
        self.told.setdefault(protocol, []).append(Told(client, facts))

    @property
    def results(self) -> int:
        return sum(map(len, self.told.values()))
