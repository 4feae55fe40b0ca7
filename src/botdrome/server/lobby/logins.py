"""Logins: sessions under a key, such as the secret of a guest. They can be ended together."""

from collections.abc import Callable

End = Callable[[], None]
TOKEN_CHANGED = "the token was changed"


class Logins:
    def __init__(self) -> None:
        self._ends: dict[str, dict[object, End]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._ends.values()))

    def enter(self, name: str, end: End) -> End:
        """Have `end` called when the sessions of this name are ended, until the function that this returns is called."""
        key = object()
        self._ends.setdefault(name, {})[key] = end

        def leave() -> None:
            ends = self._ends.get(name, {})
            ends.pop(key, None)
            if not ends:
                self._ends.pop(name, None)

        return leave

    def end(self, name: str) -> None:
        for end in tuple(self._ends.pop(name, {}).values()):
            end()


def no_login() -> None:
    """For sessions that are in no list: nothing is to be done when they end."""
