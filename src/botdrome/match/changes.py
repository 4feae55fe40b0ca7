"""Changes: how one JSON value becomes another, written as JSON itself.

`[value]` puts a value in place of the old one, and `[]` removes it. An object leads into an object or an array: each of its keys
is a key or an index there, with the change of the value that is found under it. An index at the end of an array appends to it;
the key `length` says how many items an array keeps. Keys whose values stay the same are left out.
"""

from typing import Any

import msgspec

Change = dict[str, Any] | list[Any]

_ENCODE = msgspec.json.Encoder().encode


def change_between(old: Any, new: Any) -> Change | None:
    """The change that makes `new` of `old`, both as JSON is decoded; None: they are the same."""
    if type(old) is not type(new):
        return [new]
    if not isinstance(old, dict | list):
        return None if old == new else [new]
    text = _ENCODE(new)
    if text == _ENCODE(old):  # far quicker than to look at each item; and `==` takes true for 1
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
    return parts if kept == list(new)[: len(kept)] else [new]  # keys keep their order: renderers may go by it


def _in_array(old: list[Any], new: list[Any]) -> Change:
    parts: dict[str, Any] = {}
    for index, value in enumerate(new):
        change = change_between(old[index], value) if index < len(old) else [value]
        if change is not None:
            parts[str(index)] = change
    if len(new) < len(old):
        parts["length"] = [len(new)]
    return parts
