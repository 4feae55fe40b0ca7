"""Changes between two JSON values, written as JSON.

`[value]` replaces the old value, and `[]` removes it. An object changes an object or an array: each of its keys is a key or an
index there, with the change of that value. An index at the end of an array appends to it. The key `length` gives the number of
items that an array keeps. Keys with unchanged values are omitted.
"""

from typing import Any

import msgspec

Change = dict[str, Any] | list[Any]

_ENCODE = msgspec.json.Encoder().encode


def change_between(old: Any, new: Any) -> Change | None:
    """Return the change from `old` to `new`, both decoded from JSON; None if they are equal."""
    if type(old) is not type(new):
        return [new]
    if not isinstance(old, dict | list):
        return None if old == new else [new]
    text = _ENCODE(new)
    if text == _ENCODE(old):  # much faster than comparing items, and `==` treats true as 1
        return None
    parts = _in_object(old, new) if isinstance(old, dict) else _in_array(old, new)
    return parts if len(_ENCODE(parts)) <= len(text) + 2 else [new]


def _in_object(old: dict[str, Any], new: dict[str, Any]) -> Change:
    parts: dict[str, Any] = {key: [] for key in old if key not in new}
    for key, value in new.items():
        change = change_between(old[key], value) if key in old else [value]
        if change is not None:
            parts[key] = change
    kept = [key for key in old if key in new]
    return parts if kept == list(new)[: len(kept)] else [new]  # keep the order of keys: renderers may rely on it


def _in_array(old: list[Any], new: list[Any]) -> Change:
    parts: dict[str, Any] = {}
    for index, value in enumerate(new):
        change = change_between(old[index], value) if index < len(old) else [value]
        if change is not None:
            parts[str(index)] = change
    if len(new) < len(old):
        parts["length"] = [len(new)]
    return parts
