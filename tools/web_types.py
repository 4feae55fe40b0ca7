"""Write the TypeScript types of the REST answers for the pages, from the server's OpenAPI document.

python -m tools.web_types
"""

import json
import re
from pathlib import Path
from typing import Any

from botdrome.api.rest.routes import openapi_document

TARGET = Path(__file__).parents[1] / "web" / "src" / "api" / "types.ts"
HEAD = (
    "/** The answers of the REST interface. Made by `python -m tools.web_types` from the "
    "server's types. */\n"
)
PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
Schema = dict[str, Any]


def text() -> str:
    components = json.loads(openapi_document(operator=True))["components"]["schemas"]
    return HEAD + "".join(
        f"\n{_declared(name, schema)}\n" for name, schema in sorted(components.items())
    )


def _declared(name: str, schema: Schema) -> str:
    if "properties" in schema:
        return f"export interface {name} {_object(schema)}"
    return f"export type {name} = {_type(schema)};"


def _object(schema: Schema) -> str:
    lines = []
    required = schema.get("required", ())
    for name, inner in schema["properties"].items():
        if "description" in inner:
            lines.append(f"  /** {inner['description']} */")
        lines.append(
            f"  {name}{'' if name in required or 'default' in inner else '?'}: {_type(inner)};"
        )
    return "{\n" + "\n".join(lines) + "\n}"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(inner) for inner in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    return _of_kind(schema)


def _of_kind(schema: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(inner) for inner in schema['prefixItems'])}]"
        inner = _type(schema["items"]) if schema.get("items") else "unknown"
        return f"{inner}[]" if re.fullmatch(r"\w+", inner) else f"({inner})[]"
    if kind == "object":
        if "properties" in schema:
            return re.sub(r"\s+", " ", re.sub(r"/\*\*.*?\*/", "", _object(schema)))
        values = schema.get("additionalProperties")
        return (
            f"Record<string, {_type(values) if isinstance(values, dict) and values else 'unknown'}>"
        )
    return PLAIN.get(str(kind), "unknown")


if __name__ == "__main__":
    TARGET.write_text(text())
