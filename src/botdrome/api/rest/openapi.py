"""The OpenAPI document, made from the endpoints."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from botdrome import __version__
from botdrome.api.rest.endpoint import NDJSON, Error, Parameter, RestEndpoint

Schema = dict[str, Any]
REST_PREFIX = re.compile(rb'("(?:#/components/schemas/)?)Rest(?=[A-Z]\w*")')
"""Of the names of classes, where another class has the plain name.

The document shows plain names.
"""


def document(base: str, endpoints: Sequence[RestEndpoint]) -> bytes:
    kinds = [
        kind
        for endpoint in endpoints
        for kind in (endpoint.answer, endpoint.body, *endpoint.lines)
        if kind not in (None, NDJSON)
    ]
    references, components = msgspec.json.schema_components(
        [*kinds, Error], ref_template="#/components/schemas/{name}"
    )
    known = dict(zip([*kinds, Error], references, strict=True))
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        path = re.sub(r":\w+}", "}", base + endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, known)
    about = {
        "openapi": "3.1.0",
        "info": {
            "title": "Botdrome",
            "version": __version__,
            "description": "Bots, matches and contests of this arena.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return REST_PREFIX.sub(rb"\1", msgspec.json.encode(about))


def _operation(endpoint: RestEndpoint, known: dict[Any, Schema]) -> Schema:
    operation: Schema = {
        "summary": endpoint.summary,
        "operationId": endpoint.name,
        "parameters": [
            *_in_path(endpoint.path),
            *(_in_query(parameter) for parameter in endpoint.parameters),
        ],
        "responses": _responses(endpoint, known),
    }
    if endpoint.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": known[endpoint.body]}},
        }
    if endpoint.file:
        operation["requestBody"] = {"required": True, "content": {NDJSON: {"schema": _TEXT}}}
    if endpoint.private:
        operation["security"] = [{"token": []}]
    return operation


def _in_path(path: str) -> list[Schema]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer", "minimum": 0} if kind == ":int" else _TEXT,
        }
        for name, kind in re.findall(r"{(\w+)(:\w+)?}", path)
    ]


_TEXT = {"type": "string"}


def _in_query(parameter: Parameter) -> Schema:
    schema: Schema = {"type": parameter.kind}
    if parameter.choices:
        schema["enum"] = parameter.choices
    if parameter.many:
        schema = {"type": "array", "items": schema}
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": schema,
    }


def _responses(endpoint: RestEndpoint, known: dict[Any, Schema]) -> Schema:
    lines = {"oneOf": [known[kind] for kind in endpoint.lines]} if endpoint.lines else _TEXT
    good = (
        {NDJSON: {"schema": lines}}
        if endpoint.answer == NDJSON
        else {"application/json": {"schema": known[endpoint.answer]}}
    )
    sorry = {"application/json": {"schema": known[Error]}}
    answers: Schema = {str(endpoint.status): {"description": "The answer.", "content": good}}
    for status, words in ((400, "The request has an error."), *endpoint.problems):
        answers[str(status)] = {"description": words, "content": sorry}
    return answers
