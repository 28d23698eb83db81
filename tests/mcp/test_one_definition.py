"""A session's tools, its verbs and its paths are one definition: the op of the protocol."""

import json
from typing import Any

import click
import msgspec
import pytest

from agent.models.model import ToolCall
from agent.protocol import SessionCreate
from agent.sessions.rules.creation import STEPS_LIMIT
from agent.tools.registry import read_call
from console.cli import cli
from console.http_api.openapi import document
from console.mcp.session_tools import SESSION_TOOLS, StartSession
from console.mcp.tool import FIELD_OF, McpTool, op_of
from console.runs.single_action import swipe_call, tap_call, type_call

ACTS = [tool for tool in SESSION_TOOLS if tool.op is not None]
VERBS = {
    "answer_question": ("sessions", "answer"),
    "stop_session": ("sessions", "stop"),
    "resume_session": ("sessions", "resume"),
    "fork_session": ("sessions", "fork"),
    "list_jobs": ("jobs", "list"),
    "create_job": ("jobs", "create"),
    "stop_job": ("jobs", "stop"),
}
NOT_THE_OPS_OWN = {
    # The op takes the question's id, which a program is not told.
    ("answer_question", "session"),
    # A phone is found by it.
    ("start_session", "tag"),
    # The op has them as one record, and an enumeration that may be none.
    *(("start_session", name) for name in ("max_seconds", "max_tokens", "max_cost_usd")),
    ("start_session", "autonomy"),
}


def command(*path: str) -> click.Command:
    found: click.Command = cli
    for word in path:
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), word)
        assert inner is not None, word
        found = inner
    return found


def test_what_changes_a_session_is_an_op() -> None:
    changing = {tool.name for tool in SESSION_TOOLS if not tool.hints.reads_only}
    # An export writes a file and changes no session.
    assert changing - {"export_session"} <= {tool.name for tool in ACTS}


@pytest.mark.parametrize("tool", ACTS, ids=lambda tool: tool.name)
def test_an_op_has_the_same_words_everywhere(tool: McpTool[Any]) -> None:
    assert tool.op is not None
    brief = tool.op.brief
    assert brief
    assert tool.description.startswith(brief)
    tag = str(tool.op.__struct_config__.tag)
    assert document()["paths"][f"/v1/ops/{tag}"]["post"]["summary"] == brief
    if tool.name in VERBS:
        said = command(*VERBS[tool.name]).help or ""
        assert " ".join(said.partition("\n\n")[0].split()) == brief


@pytest.mark.parametrize("tool", ACTS, ids=lambda tool: tool.name)
def test_a_tools_arguments_are_its_ops_fields(tool: McpTool[Any]) -> None:
    assert tool.op is not None
    (shapes,), parts = msgspec.json.schema_components([tool.op], ref_template="{name}")
    fields = parts[shapes["$ref"]]["properties"]
    for name, shape in tool.schema["properties"].items():
        if (tool.name, name) in NOT_THE_OPS_OWN:
            continue
        of_op = fields[FIELD_OF.get(name, name)]
        assert shape["type"] == of_op["type"], name
        # A tool may want what the op can do without, as the one session that is stopped.
        assert shape.get("default", of_op.get("default")) == of_op.get("default"), name


def test_the_arguments_make_the_op() -> None:
    given = StartSession(goal="buy milk", phone="p1", max_steps=7)
    assert op_of(SessionCreate, given) == SessionCreate(goal="buy milk", serial="p1", max_steps=7)


def test_every_door_has_the_cores_limit_of_steps() -> None:
    (start,) = [tool for tool in ACTS if tool.op is SessionCreate]
    assert start.schema["properties"]["max_steps"]["maximum"] == STEPS_LIMIT
    (option,) = [one for one in command("run").params if one.name == "max_steps"]
    assert isinstance(option.type, click.IntRange)
    assert option.type.max == STEPS_LIMIT


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        tap_call("3"),
        tap_call("0.5,0.25"),
        tap_call("0.5,0.25", long=True),
        tap_call("4", long=True),
        type_call("hello", "2", clear=True),
        type_call("hello", "", clear=False),
        swipe_call(("up",)),
        swipe_call(("left", "3")),
        swipe_call(("0.5,0.8", "0.5,0.2")),
        ("press_button", {"button": "HOME"}),
        ("launch_app", {"app": "Clock"}),
        ("wait", {"seconds": 1}),
    ],
)
def test_a_phones_verb_calls_a_tool_that_a_model_has(name: str, arguments: dict[str, Any]) -> None:
    call = ToolCall(call_id="c", name=name, arguments=json.dumps(arguments))
    assert read_call(call).tool_name == name
