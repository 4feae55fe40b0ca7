"""Steps: what a database is asked to do on behalf of a change, as plain data. Each database takes them in its own way."""

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Dialect, Executable, Table
from sqlalchemy.sql.compiler import SQLCompiler

from botdrome.store.rows import Row

T = TypeVar("T")


class Find(Struct, frozen=True):
    """Answered with rows."""

    query: Executable
    values: Mapping[str, Any]


class Take(Struct, frozen=True):
    """Answered with as many new numbers for matches, rising."""

    numbers: int


class Lock(Struct, frozen=True):
    """Nobody else changes the table until all is committed. What others are just committing is waited for."""

    table: Table


class Put(Struct, frozen=True):
    """New rows with a value for every column."""

    table: Table
    rows: Sequence[Row]


class Alter(Struct, frozen=True):
    """Other values for rows that are there. A row has the new values of `columns`, then what `keys` must be."""

    table: Table
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    rows: Sequence[Row]


class Run(Struct, frozen=True):
    """A statement that answers nothing."""

    statement: Executable
    values: Mapping[str, Any]


Step = Find | Take | Lock | Put | Alter | Run
Plan = Generator[Step, Any, T]
"""Steps that depend on the answers to those before; at the end, the outcome."""


def followed(plan: Plan[T], do: Callable[[Step], Any]) -> T:
    answer = None
    while True:
        try:
            step = plan.send(answer)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answer = do(step)


class Prepared(Struct, frozen=True):
    """A statement in the words of one database."""

    text: str
    names: tuple[str, ...]
    """What the places in the text stand for."""
    defaults: Mapping[str, Any]

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        return [values[name] if name in values else self.defaults[name] for name in self.names]


def preparer(dialect: Dialect) -> Callable[[Executable], Prepared]:
    """Each statement is put into words once."""

    @cache
    def prepare(statement: Executable) -> Prepared:
        compiled = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})  # type: ignore[attr-defined]
        assert isinstance(compiled, SQLCompiler)
        return Prepared(str(compiled), tuple(compiled.positiontup or ()), compiled.params)

    return prepare
