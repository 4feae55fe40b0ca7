"""The steps of a change as plain data. Each database executes them in its own way."""

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Dialect, Executable, Table
from sqlalchemy.sql.compiler import SQLCompiler

from botdrome.store.rows import Row

T = TypeVar("T")


class Find(Struct, frozen=True):
    """A query, answered with rows."""

    query: Executable
    values: Mapping[str, Any]


class TakeNumbers(Struct, frozen=True):
    """Reserve numbers for new matches; answered with the numbers, ascending."""

    numbers: int


class Lock(Struct, frozen=True):
    """Block other writers of the table until the commit, after waiting for their own commits."""

    table: Table


class Put(Struct, frozen=True):
    """Insert rows with a value for every column."""

    table: Table
    rows: Sequence[Row]


class Alter(Struct, frozen=True):
    """Update rows.

    Each has the new values of `columns`, then the values of `keys` that select the row.
    """

    table: Table
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    rows: Sequence[Row]


class Run(Struct, frozen=True):
    """A statement without an answer."""

    statement: Executable
    values: Mapping[str, Any]


Step = Find | TakeNumbers | Lock | Put | Alter | Run
Plan = Generator[Step, Any, T]
"""A generator of steps that is sent the answer to each step, and returns the outcome."""


def followed(plan: Plan[T], do: Callable[[Step], Any]) -> T:
    answer = None
    while True:
        try:
            step = plan.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answer = do(step)


class PreparedStatement(Struct, frozen=True):
    """A statement compiled for one database."""

    text: str
    names: tuple[str, ...]
    """The parameters, in the order of their placeholders."""
    defaults: Mapping[str, Any]

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        return [values[name] if name in values else self.defaults[name] for name in self.names]


def preparer(dialect: Dialect) -> Callable[[Executable], PreparedStatement]:
    """Return a function that compiles each statement once."""

    @cache
    def prepare(statement: Executable) -> PreparedStatement:
        compiled = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)
        return PreparedStatement(str(compiled), tuple(compiled.positiontup or ()), compiled.params)

    return prepare
