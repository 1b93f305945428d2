"""The API's documentation as a page: drawn on the server from the OpenAPI document, no script, no CDN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.web.answers import DOCS
from app.web.errors import HTTP_CODES, TABLE
from app.web.messages import MESSAGES
from app.web.templating import render

PATH: Final = DOCS

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One operation of the API as the page shows it; bodies are drawn as shapes."""

    tag: str
    method: str
    path: str
    summary: str
    parameters: list[tuple[str, str]]
    body: str
    answers: list[tuple[str, str]]


async def docs(request: Request) -> Response:
    """Every call, and every code that a problem can have."""
    document = request.app.openapi()
    calls = list(_calls(document))
    groups = {tag: [call for call in calls if call.tag == tag] for tag in dict.fromkeys(c.tag for c in calls)}
    page = render("docs.html", visitor=None, title=document["info"]["title"], groups=groups, codes=_codes())
    return HTMLResponse(page, headers={"cache-control": "no-cache"})


def _calls(document: Schema) -> Iterator[Call]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield Call(
                tag=operation["tags"][0],
                method=method.upper(),
                path=path,
                summary=operation.get("description", ""),
                parameters=[(each["name"], each["in"]) for each in operation.get("parameters", [])],
                body=_content(operation.get("requestBody", {}), document),
                answers=[
                    (status, _content(answer, document))
                    for status, answer in operation["responses"].items()
                    if status.startswith("2")
                ],
            )


def _content(described: Schema, document: Schema) -> str:
    content = described.get("content", {}).get("application/json")
    return shape(content["schema"], document) if content else ""


def shape(schema: Schema, document: Schema, indent: str = "") -> str:
    """A JSON schema as it looks: ``{name: string, lines: [{sku: string}]}``, one field to a line."""
    if "$ref" in schema:
        return shape(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document, indent)
    if "anyOf" in schema:
        return " | ".join(shape(each, document, indent) for each in schema["anyOf"])
    match schema.get("type"):
        case "object" if "properties" in schema:
            inner = indent + "  "
            fields = [
                f"{inner}{name}: {shape(each, document, inner)}"
                for name, each in schema["properties"].items()
            ]
            return "{\n" + "\n".join(fields) + f"\n{indent}}}"
        case "array":
            return f"[{shape(schema['items'], document, indent)}]"
        case kind:
            return str(schema.get("format", kind))


def _codes() -> list[tuple[str, int, str]]:
    """Code, status and sentence of every problem, in the order of the statuses."""
    statuses = {code: status for status, code in TABLE.values()}
    statuses.update({code: status for status, code in HTTP_CODES.items()}, internal=500)
    return sorted(
        ((code, status, MESSAGES[code]) for code, status in statuses.items()), key=lambda c: (c[1], c[0])
    )
