"""The tools with which a model looks out for something and writes commitments down."""

import json
from typing import Any

import pytest

from agent import protocol
from agent.errors import DeviceError, UsageError, WrongStateError
from agent.loop.task_context import ServiceOp
from agent.records import Autonomy, Commitment, Watcher
from agent.tools.arguments import ToolKind
from agent.tools.registry import TOOLS, schemas
from tests.console.fakes import commitment, watcher
from tests.loop.paper_phone import PaperPhone, button
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task


def seen() -> tuple[Watcher, Commitment]:
    evil = "Call 030 1234 5678901 \x1b[2J or ana@example.com"
    return (
        watcher(3, title="Parcel", last_result=evil, fired_count=1),
        commitment(4, title="Call", description=evil),
    )


def answered(op: ServiceOp) -> protocol.Reply:
    one, promised = seen()
    match op:
        case protocol.WatcherCreate(url="file:///x"):
            raise UsageError("'file:///x' is no address of a page.", "Give another.")
        case protocol.CommitmentUpdate(commitment_id=99):
            raise WrongStateError("Commitment 99 is completed.")
        case protocol.CommitmentCreate(title="Unread"):
            raise DeviceError("phone-2 cannot report its notifications.", "Try another.")
        case protocol.WatcherList() | protocol.WatcherStop():
            return protocol.Reply(submission_id="", watchers=(one,))
        case protocol.CommitmentSearch():
            return protocol.Reply(submission_id="", commitments=(promised,))
        case protocol.CommitmentCreate() | protocol.CommitmentUpdate():
            return protocol.Reply(submission_id="", commitment=promised)
        case _:
            return protocol.Reply(submission_id="", watcher=one)


async def use(
    name: str, *, autonomy: Autonomy = Autonomy.TRUSTED_ACTIONS, **arguments: object
) -> tuple[Any, list[ServiceOp]]:
    """Have a model call a tool; returns the reply that it reads, and what the desk was asked."""
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    model = scripted(says(name, **arguments), DONE)
    context = MemoryContext(
        model, phone, reply=answered, autonomy=autonomy, answer=lambda _: "Approve"
    )
    await task().run(context)
    finished = context.of(protocol.ToolCallFinished)[0]
    assert isinstance(finished, protocol.ToolCallFinished)
    text = finished.text
    return (json.loads(text) if text.startswith("{") else text), context.requested


def test_the_tools_have_the_kinds_of_the_contract_and_all_but_numbers_need_a_reason() -> None:
    kinds = {
        name: TOOLS[name].tool_kind for name in TOOLS if "watcher" in name or "commitment" in name
    }
    action, observe = ToolKind.ACTION, ToolKind.OBSERVE
    assert kinds == {
        "watcher_create": action,
        "watcher_list": observe,
        "watcher_stop": action,
        "commitment_search": observe,
        "commitment_create": action,
        "notification_commitment_create": action,
        "message_commitment_create": action,
        "commitment_update_status": action,
    }
    required = {tool.name: tool.parameters.get("required") for tool in schemas()}
    assert all("reason" in required[name] for name in kinds)


async def test_a_watcher_that_was_created_is_told_and_asked_for_as_it_was_said() -> None:
    reply, ops = await use(
        "watcher_create",
        type="message_reply",
        sender="Ana",
        notify_on="no_reply",
        deadline_at="2030-01-31T08:00:00+00:00",
        prompt="write it down",
        reason="asked for",
    )
    assert (reply["status"], reply["watcher_id"]) == ("watcher.created", 3)
    [op] = ops
    assert isinstance(op, protocol.WatcherCreate)
    assert (op.sender, op.deadline_at) == ("Ana", 1_896_076_800_000)


async def test_what_a_phone_wrote_reaches_the_model_clean_and_without_personal_data() -> None:
    for name, kind in (("watcher_list", "watchers"), ("commitment_search", "commitments")):
        reply, _ = await use(name, reason="curious", limit=99)
        text = json.dumps(reply[kind])
        assert "ana@example.com" not in text
        assert "\\u001b" not in text


@pytest.mark.parametrize(
    ("name", "arguments", "status"),
    [
        ("watcher_stop", {"all": True, "reason": "x"}, "watcher.stopped"),
        ("commitment_create", {"title": "Call", "reason": "x"}, "commitment.created"),
        (
            "commitment_update_status",
            {"commitment_id": 4, "status": "completed", "reason": "x"},
            "commitment.updated",
        ),
        (
            "notification_commitment_create",
            {"title": "Call", "text": "call", "reason": "x"},
            "commitment.created",
        ),
        (
            "message_commitment_create",
            {"title": "Call", "sender": "Ana", "reason": "x"},
            "commitment.created",
        ),
        ("watcher_create", {"type": "web_change", "url": "file:///x"}, "watcher.refused"),
        ("notification_commitment_create", {"title": "Unread", "text": "x"}, "commitment.refused"),
        (
            "commitment_update_status",
            {"commitment_id": 99, "status": "snoozed"},
            "commitment.refused",
        ),
    ],
)
async def test_each_call_is_told_what_came_of_it(
    name: str, arguments: dict[str, object], status: str
) -> None:
    reply, _ = await use(name, **arguments)
    assert reply["status"] == status


async def test_a_session_that_only_observes_looks_at_watchers_and_creates_none() -> None:
    reply, ops = await use(
        "watcher_create", autonomy=Autonomy.OBSERVE_ONLY, type="notification", reason="x"
    )
    assert ("observe_only" in str(reply), ops) == (True, [])
    reply, ops = await use("watcher_list", autonomy=Autonomy.OBSERVE_ONLY, reason="x")
    assert reply["status"] == "watcher.list.results"


async def test_a_time_that_cannot_be_read_is_said_and_nothing_is_asked() -> None:
    reply, ops = await use("watcher_create", type="time", run_at="soon", reason="x")
    assert "is not a time" in reply
    assert ops == []
