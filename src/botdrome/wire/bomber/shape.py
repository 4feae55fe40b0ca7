"""Shape: how a Bomberman client wants its states and answers spelled."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.wire.bomber.request import BadRequest, read_switch

ENCODER = msgspec.json.Encoder()
STATES = ("dict", "list", "grid")
KEYS = ("tuple", "comma")
FORMATS = ("json", "python")
JSON = "application/json; charset=UTF-8"
PYTHON = "text/x-python; charset=UTF-8"


class Shape(Struct, frozen=True):
    state: str = "dict"
    """dict: tiles by their places; list: row after row, flat; grid: a list of rows."""
    keys: str = "tuple"
    """tuple: "(0, 0)"; comma: "0,0"."""
    sparse: bool = False
    """FREE tiles are left out of the dict."""
    python: bool = False
    """Python literals in place of JSON."""

    @property
    def content_type(self) -> str:
        return PYTHON if self.python else JSON

    def spelled(self, value: Any) -> bytes:
        """A value of tuples, dicts, text and numbers."""
        return repr(value).encode() if self.python else ENCODER.encode(value)


DEFAULT = Shape()
LITERAL = Shape(python=True)


def read_shape(query: Mapping[str, str], accept: str = "") -> Shape:
    """The shape that a query and an Accept header ask for."""
    python = "python" if "text/x-python" in accept else "json"
    if not query:
        return LITERAL if python == "python" else DEFAULT
    return Shape(
        _one_of(STATES, query.get("state"), "state"),
        _one_of(KEYS, query.get("keys"), "keys"),
        read_switch(query.get("sparse"), "sparse"),
        _one_of(FORMATS, query.get("format", python), "format") == "python",
    )


def _one_of(words: tuple[str, ...], value: str | None, field: str) -> str:
    word = (value or words[0]).lower()
    if word not in words:
        raise BadRequest("BAD_FIELD", f"{field} is {' or '.join(words)}")
    return word
