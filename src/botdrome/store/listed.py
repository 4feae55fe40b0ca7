"""Listed: whether a column is among the texts of a list, which is bound as one value. The query is the same for any length."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Text, any_, bindparam
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler


class Listed(ColumnElement[bool]):
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
