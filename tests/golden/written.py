"""What is read from the code: the JSON Schema, the OpenAPI document, the sentences of errors."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from console.cli_support.protocol_page import as_schema
from console.http_api.openapi import document

ROOT = Path(__file__).parents[2]
PACKAGES = ("agent", "console", "widgets")


def schema() -> str:
    """Return the JSON Schema of ops, events and replies."""
    return json.dumps(as_schema(), indent=1, sort_keys=True, ensure_ascii=False)


def openapi() -> str:
    """Return the OpenAPI document of the HTTP API."""
    return json.dumps(document(), indent=1, sort_keys=True, ensure_ascii=False)


def sentences() -> str:
    """Return what errors say, one a line, in the order of the letters; {} is what is filled in."""
    found = {
        said
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for said in sentences_of(path.read_text(encoding="utf-8"))
    }
    return "\n".join(sorted(found))


def sentences_of(source: str) -> Iterator[str]:
    """Yield each text with a space that a `raise` of a module hands to its error."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for given in (*node.exc.args, *(word.value for word in node.exc.keywords)):
                said = " ".join(_text(given).split())
                if " " in said:
                    yield said


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) for part in parts)
        case ast.FormattedValue():
            return "{}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
        case _:
            return ""
