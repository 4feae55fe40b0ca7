"""The versions of the bots of a game, and the keys under which they are rated."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from botdrome.store.store import Epoch

KEPT = 4
"""The newest versions of a bot that have ratings of their own.

Older ones are rated together, as results without a version.
"""
MOST = 1000
"""Versions of all bots that are remembered one by one; then the older ones of each bot are put
together.
"""


def rated_key(bot: str, version: str) -> str:
    """Return the key of a bot and its version. No name has a line end."""
    return f"{bot}\n{version}" if version else bot


def bot_of(key: str) -> str:
    return key.partition("\n")[0]


def version_of(key: str) -> str:
    return key.partition("\n")[2]


class BotVersions:
    """When each version of each bot was seen. A bot without versions has one, which is empty."""

    def __init__(self) -> None:
        self.changes = 0
        """Grows when a bot has another version than before."""
        self._seen: dict[str, dict[str, tuple[Epoch, Epoch]]] = {}
        self._current: dict[str, str] = {}
        self._count, self._limit = 0, MOST

    def note(self, key: str, at: Epoch) -> None:
        """A bot has begun a match at this time."""
        bot = bot_of(key)
        seen = self._seen.setdefault(bot, {})
        self._count += key not in seen
        first, last = seen.get(key, (at, at))
        seen[key] = min(first, at), max(last, at)
        before = self._current.setdefault(bot, key)
        if key != before and seen[key][1] >= seen[before][1]:
            self._current[bot] = key
            self.changes += 1

    def current(self, bot: str) -> str:
        """Return the key of the version that played last."""
        return self._current.get(bot, bot)

    def age(self, key: str) -> tuple[bool, Epoch, str]:
        """Sort keys by this, oldest first. Results without a version come first."""
        first, _ = self._seen.get(bot_of(key), {}).get(key, (0, 0))
        return bool(version_of(key)), first, key

    def forget_old(self) -> dict[str, str]:
        """Forget old versions if there are too many.

        Return the keys under which their results count from now on.
        """
        if self._count <= self._limit:
            return {}
        moved: dict[str, str] = {}
        for bot, seen in self._seen.items():
            old = {key: seen.pop(key) for key in sorted(seen, key=self.age)[:-KEPT]}
            if old:
                seen[bot] = (
                    min(first for first, _ in old.values()),
                    max(last for _, last in old.values()),
                )
                moved |= {key: bot for key in old if key != bot}
                self._current[bot] = moved.get(self._current[bot], self._current[bot])
        self._count = sum(map(len, self._seen.values()))
        self._limit = max(MOST, 2 * self._count)
        return moved


class VersionChains:
    """The rated versions of each bot at tables of one size, oldest first.

    Older ones have one key together.
    """

    def __init__(self, versions: BotVersions, keys: Iterable[str], most: int) -> None:
        """`keys` are those with results; there shall be no more than `most` rated versions in all,
        if possible.
        """
        chains: dict[str, list[str]] = {}
        for key in keys:
            chains.setdefault(bot_of(key), []).append(key)
        for bot, chain in chains.items():
            chain.sort(key=versions.age)
            if versions.age(versions.current(bot)) > versions.age(chain[-1]):
                chain.append(versions.current(bot))
        kept = next(
            (
                kept
                for kept in range(KEPT, 1, -1)
                if sum(min(len(one), kept + 1) for one in chains.values()) <= most
            ),
            1,
        )
        self.stand_ins: dict[str, str] = {}
        """The key under which the results of an older version count."""
        self.merged: dict[str, list[str]] = {}
        """All keys whose results count under a key, where they are several."""
        self.of_bot = {bot: self._shortened(bot, chain, kept) for bot, chain in chains.items()}
        self._current = {bot: versions.current(bot) for bot in chains}

    def _shortened(self, bot: str, chain: list[str], kept: int) -> list[str]:
        if len(chain) <= kept + 1:
            return chain
        self.merged[bot] = chain[:-kept]
        self.stand_ins |= dict.fromkeys(chain[:-kept], bot)
        return [bot, *chain[-kept:]]

    def key(self, key: str) -> str:
        return self.stand_ins.get(key, key)

    def shown(self, bot: str) -> str | None:
        """Return the key of the version that stands for a bot: the current one, or else the newest.

        None: it is unrated.
        """
        chain, current = self.of_bot.get(bot), self.key(self._current.get(bot, bot))
        return None if chain is None else current if current in chain else chain[-1]

    @property
    def parents(self) -> Mapping[str, str]:
        return {
            child: parent for chain in self.of_bot.values() for parent, child in pairwise(chain)
        }
