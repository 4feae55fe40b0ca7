"""The OpenAPI document is true: it names every route, and every answer is as it says."""

import re
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from botdrome.api.rest.routes import BASE
from botdrome.store.store import Store
from tests.api.tables import HandTables, entry_of, played_noughts

pytestmark = pytest.mark.anyio

ABOUT_ITSELF = {f"{BASE}/openapi.json", f"{BASE}/docs"}


@pytest.fixture
async def document(http: httpx.AsyncClient) -> dict[str, Any]:
    document: dict[str, Any] = (await http.get(f"{BASE}/openapi.json")).json()
    return document


async def test_every_route_is_in_the_document(app: Starlette, document: dict[str, Any]) -> None:
    routes = {
        (re.sub(r":\w+}", "}", route.path), method.lower())
        for route in app.routes
        if isinstance(route, Route)
        and route.path.startswith(BASE)
        and route.path not in ABOUT_ITSELF
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert routes == {
        (path, method) for path, methods in document["paths"].items() for method in methods
    }


async def test_every_operation_has_a_name_of_its_own(document: dict[str, Any]) -> None:
    operations = [
        operation for methods in document["paths"].values() for operation in methods.values()
    ]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert all(name.isalpha() for name in names)


async def test_references_lead_somewhere(document: dict[str, Any]) -> None:
    for name in re.findall(r"'#/components/schemas/(\w+)'", str(document)):
        assert name in document["components"]["schemas"]


async def test_answers_are_as_the_document_says(
    http: httpx.AsyncClient, store: Store, tables: HandTables, document: dict[str, Any]
) -> None:
    entry = entry_of("m", "Ann", "Bob", contest="cup")
    await played_noughts(
        store, entry, [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]
    )
    tables.open(entry_of("now", "Ann", "Bob"))
    ann = {"game": "gomoku", "name": "Ann", "owner": "me"}
    bodies = {"bots": ann, "evaluation": None, "continuation": {"step": 1}}
    bodies["participants"] = {"code": "7KQ2-M0XT-94RD", "name": "Ann"}
    values = {"{name}": "Ann", "{id}": "m", "{game}": "noughts-and-crosses"}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if "security" in operation or path.endswith("/films"):
                continue
            address = path if "contests" not in path else path.replace("{name}", "cup")
            for key, value in values.items():
                address = address.replace(key, value)
            body = bodies[path.rpartition("/")[2]] if method == "post" else None
            response = await http.request(method, address, json=body)
            answer = operation["responses"][str(response.status_code)]
            (media, content), *_ = answer["content"].items()
            assert response.headers["content-type"] == media
            if media == "application/json":
                check(response.json(), content["schema"], document)


def check(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> None:
    """As much of JSON Schema as the document uses."""
    if "$ref" in schema:
        return check(
            value, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document
        )
    if "anyOf" in schema:
        fitting = [
            kind
            for kind in schema["anyOf"]
            if kind.get("type", "object") == kind_of(value) or "$ref" in kind
        ]
        assert fitting, value
        return None if value is None else check(value, fitting[-1], document)
    if "type" in schema:
        assert kind_of(value) == schema["type"] or (schema["type"], kind_of(value)) == (
            "number",
            "integer",
        ), (value, schema)
    for name in schema.get("required", ()):
        assert name in value
    if "properties" in schema:
        assert value.keys() <= schema["properties"].keys()
        for name, item in value.items():
            check(item, schema["properties"][name], document)
    if isinstance(schema.get("items"), dict):
        for item in value:
            check(item, schema["items"], document)
    return None


def kind_of(value: Any) -> str:
    kinds = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    return kinds[type(value)]
