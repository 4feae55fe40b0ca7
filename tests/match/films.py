"""Films, taken apart again."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import UNSET

from botdrome.match.film import FilmFrame


def applied(change: Any, old: Any) -> Any:
    """Apply a change to a value: the rules of docs/watching.md, implemented a second time."""
    if isinstance(change, list):
        return change[0]
    new = old.copy()
    for key, part in change.items():
        if isinstance(new, list):
            _put(new, key, part)
        elif part == []:
            del new[key]
        else:
            new[key] = applied(part, new.get(key))
    return new


def _put(items: list[Any], key: str, part: Any) -> None:
    if key == "length":
        del items[part[0] :]
    elif int(key) == len(items):
        items.append(part[0])
    else:
        items[int(key)] = applied(part, items[int(key)])


def views(frames: Iterable[FilmFrame]) -> Iterator[Any]:
    view: Any = None
    for frame in frames:
        if frame.view is not UNSET:
            view = frame.view
        elif frame.change is not UNSET:
            view = applied(frame.change, view)
        yield view
