"""Queries: everything that is asked of the tables, for all databases alike. Whatever comes from outside is bound, never written in."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    Executable,
    FromClause,
    Select,
    Text,
    any_,
    bindparam,
    case,
    distinct,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from botdrome.store.store import Status, Wanted
from botdrome.store.tables import bots, flights, matches, records, seats
from botdrome.store.texts import key


class Listed(ColumnElement[bool]):
    """Whether a column is among the texts of a list, which is bound as one value: the query is the same for any length."""

    inherit_cache = False

    def __init__(self, column: ColumnElement[str], name: str) -> None:
        self.column = column
        self.texts: BindParameter[Sequence[str]] = bindparam(name, type_=ARRAY(Text))


@compiles(Listed, "postgresql")
def _any_of_array(element: Listed, compiler: SQLCompiler, **how: Any) -> str:
    return compiler.process(element.column == any_(element.texts), **how)


@compiles(Listed, "sqlite")
def _in_json(element: Listed, compiler: SQLCompiler, **how: Any) -> str:
    column, texts = compiler.process(element.column, **how), compiler.process(element.texts, **how)
    return f"{column} IN (SELECT value FROM json_each({texts}))"
