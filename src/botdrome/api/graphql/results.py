"""Outcomes of queries, as they are sent."""

from typing import Any

import structlog
from graphql import ExecutionResult, GraphQLError

from botdrome.api.registration import refusal

log = structlog.get_logger()


def outcome(result: ExecutionResult, extensions: dict[str, Any] | None = None) -> dict[str, Any]:
    """As it is sent. Without data where the query was not even begun."""
    more: dict[str, Any] = {"extensions": extensions} if extensions else {}
    if not result.errors:
        return {"data": result.data} | more
    errors = {"errors": [shown(error) for error in result.errors]}
    begun = result.data is not None or any(error.path for error in result.errors)
    return errors | ({"data": result.data} | more if begun else {})


def shown(error: GraphQLError) -> dict[str, Any]:
    """An error as others may see it: what went wrong in here stays in the log."""
    fields: dict[str, Any] = dict(error.formatted)
    if foreseen(error):
        return fields
    problem = refusal(error.original_error)
    if problem is None:
        log.error("a query failed", path=error.path, exc_info=error.original_error)
    return fields | {"message": problem.words if problem else "Something went wrong in the server."}


def foreseen(error: GraphQLError) -> bool:
    """An error of GraphQL itself."""
    return error.original_error is None or isinstance(error.original_error, GraphQLError)
