"""The text of a contest document: TOML that reads back as the same document."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from botdrome.contest.document import ContestDocument


def to_toml(document: ContestDocument) -> str:
    """Return the document without the keys that have their default values."""
    own = _changed(document)
    plain = {key: value for key, value in own.items() if not _is_table(value)}
    parts = [_pairs(plain)]
    for key, value in own.items():
        if isinstance(value, Mapping) and value:
            parts.append(f"[{key}]\n{_pairs(value)}")
        elif _is_table(value):
            parts += [f"[[{key}]]\n{_pairs(one)}" for one in value]
    return "\n".join(parts)


def _changed(part: Struct) -> dict[str, Any]:
    """Return the keys that differ from their defaults, ready for TOML."""
    found: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.default_factory is not msgspec.NODEFAULT and value == field.default_factory():
            continue
        if value != field.default:
            found[field.encode_name] = _converted(value)
    return found


def _converted(value: Any) -> Any:
    if isinstance(value, Struct):
        return _changed(value)
    return [_converted(one) for one in value] if isinstance(value, tuple) else msgspec.to_builtins(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value) and isinstance(value[0], Mapping))


def _pairs(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items() if value is not None)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = (f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None)
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return str(value).lower() if isinstance(value, bool) else repr(value)
