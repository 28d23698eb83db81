"""The OpenAPI document: valid, and whole by construction."""

import json
import re
from typing import Any

import msgspec
import pytest
from openapi_spec_validator import validate

from agent.errors import UsageError
from agent.protocol import DirectCall, SessionCreate
from agent.rpc.unknown_fields import unknown_fields
from console.http_api.openapi import document
from console.http_api.operations import LOOK_UPS, STREAMS, op_of, ops


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(msgspec.json.encode(document("http://127.0.0.1:8432")))
    return found


def test_the_document_is_valid(told: dict[str, Any]) -> None:
    validate(told)


def test_every_op_look_up_and_stream_has_its_path(told: dict[str, Any]) -> None:
    posted = {path for path, item in told["paths"].items() if "post" in item}
    assert posted == {f"/v1/ops/{tag}" for tag in ops()}
    read = {path for path, item in told["paths"].items() if "get" in item}
    assert read == {f"/v1/{name}" for name in (*LOOK_UPS, *STREAMS)}


def test_an_op_takes_the_fields_of_its_type(told: dict[str, Any]) -> None:
    for op in (SessionCreate, DirectCall):
        schema = told["components"]["schemas"][op.__name__]
        assert set(schema["properties"]) == {"type", *op.__struct_fields__}
        assert "type" not in schema["required"]
        assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("kind", "written", "unknown"),
    [
        ("session_create", {"goal": "x", "budget": {"tokns": 5}}, ("$.budget.tokns",)),
        (
            "session_create",
            {"goal": "x", "targets": [{"objective": "y"}, {"objective": "y", "serail": "z"}]},
            ("$.targets[1].serail",),
        ),
        ("session_create", {"goal": "x", "budget": {"tokens": 5}}, ()),
        ("session_create", {"type": "session_create", "goal": "x", "budget": None}, ()),
        ("user_input_answer", {"question_id": "q", "answers": {"any": ["a"]}}, ()),
    ],
)
def test_a_misspelt_field_is_refused_at_any_depth(
    kind: str, written: dict[str, Any], unknown: tuple[str, ...]
) -> None:
    assert unknown_fields(ops()[kind], written) == unknown
    if unknown:
        with pytest.raises(UsageError, match="unknown fields"):
            op_of(ops()[kind], json.dumps(written).encode())
    else:
        op_of(ops()[kind], json.dumps(written).encode())


def test_the_objects_of_requests_are_closed(told: dict[str, Any]) -> None:
    schemas = told["components"]["schemas"]
    todo = [op.__name__ for op in ops().values()]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if "properties" in schemas[name]:
            assert schemas[name]["additionalProperties"] is False, name
        todo += re.findall(r"#/components/schemas/(\w+)", json.dumps(schemas[name]))
    assert {"Budget", "Target", "Point", "Allowance"} <= seen


def test_what_is_named_is_there_and_what_is_there_is_named(told: dict[str, Any]) -> None:
    text = json.dumps(told)
    for name in told["components"]["schemas"]:
        assert f'"#/components/schemas/{name}"' in text, name
