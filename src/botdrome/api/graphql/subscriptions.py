"""Subscriptions: what comes of a question, once or again and again."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from inspect import isawaitable
from typing import Any

import msgspec
from graphql import DocumentNode, ExecutionResult, FieldNode, OperationDefinitionNode, OperationType, subscribe

from botdrome.api.graphql.bulletins import Bulletins
from botdrome.api.graphql.clerk import Clerk, Question, Unfit, outcome


class Subscriptions:
    def __init__(self, clerk: Clerk) -> None:
        self._clerk, self._bulletins = clerk, Bulletins(clerk.arena.tables)

    async def results(self, question: Question, token: str | None) -> AsyncGenerator[msgspec.Raw, None]:
        """As they are sent. Unfit where it cannot be asked."""
        document, operation = await self._clerk.prepare(question)
        if operation.operation != OperationType.SUBSCRIPTION:
            yield msgspec.Raw((await self._clerk.answer(question, self._clerk.reading(token))).body)
            return
        results = self._bulletin(document, question) if _of_all_tables(operation) else self._encoded(document, question)
        async with aclosing(results):
            async for result in results:
                yield msgspec.Raw(result)

    def _bulletin(self, document: DocumentNode, question: Question) -> AsyncGenerator[bytes, None]:
        words = msgspec.json.encode((question.query, question.operation, question.variables))
        return self._bulletins.follow(words, partial(self._first, document, question))

    async def _first(self, document: DocumentNode, question: Question) -> bytes:
        async with aclosing(self._encoded(document, question)) as results:
            return await anext(results)

    async def _encoded(self, document: DocumentNode, question: Question) -> AsyncGenerator[bytes, None]:
        reading = self._clerk.reading(None)
        stream = subscribe(self._clerk.schema, document, None, reading, question.variables, question.operation)
        source: Any = await stream if isawaitable(stream) else stream
        if isinstance(source, ExecutionResult):
            raise Unfit(source.errors or ())
        async with aclosing(source) as results:
            async for result in results:
                yield msgspec.json.encode(outcome(result))


def _of_all_tables(operation: OperationDefinitionNode) -> bool:
    """Whether it is the same for all who ask. It is not found in a fragment, and then it is made for each."""
    field = operation.selection_set.selections[0]
    return isinstance(field, FieldNode) and field.name.value == "liveTables"
