"""A call that cannot be carried out is refused, and nobody is asked about it: of every tool."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import protocol, records
from agent.errors import SwitchboardError, UsageError
from agent.loop.task_context import ServiceOp, TaskContext
from agent.tools.arguments import ToolKind
from agent.tools.registry import TOOLS, schemas
from tests.fakes import FakeFleet
from tests.loop.paper_phone import PaperPhone, button
from tests.stage import Stage
from tests.tasks.context import MemoryContext
from tests.tasks.scripted import DONE, says, scripted, task

NONSENSE: dict[str, Any] = {"no": [{"such": None}]}  # What no field of any tool takes.
SCHEMAS = {tool.name: tool.parameters for tool in schemas()}


async def use(
    name: str, refuse: Callable[[ServiceOp], None] | None = None, /, **arguments: object
) -> tuple[MemoryContext, PaperPhone]:
    """Have a model call a tool where every action is asked about, and end."""
    phone = PaperPhone(lambda: (button("Go", 0.3),))
    context = MemoryContext(
        scripted(says(name, **arguments), DONE),
        phone,
        answer=lambda _: "Deny",
        refuse=refuse,
        autonomy=records.Autonomy.ASK_BEFORE_ACTION,
    )
    await task().run(context)
    return context, phone


@pytest.mark.parametrize("name", sorted(TOOLS))
async def test_a_field_of_another_type_is_refused_unasked(name: str) -> None:
    for wrong in SCHEMAS[name].get("properties", {}):
        context, phone = await use(name, **{wrong: NONSENSE})
        assert context.questions == [] and context.requested == [], wrong
        assert phone.done == [], wrong
        if TOOLS[name].tool_kind is not ToolKind.CONTROL:
            first = context.of(protocol.ToolCallFinished)[0]
            assert isinstance(first, protocol.ToolCallFinished), wrong
            assert first.outcome is records.ActionOutcome.FAILED, wrong


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("background_job_create", {"title": "Tea", "prompt": "make tea", "reason": "asked for"}),
        ("background_job_stop", {"job_id": 1, "reason": "asked for"}),
        ("watcher_create", {"type": "time", "title": "Tea", "reason": "asked for"}),
        ("watcher_stop", {"watcher_id": 1, "reason": "asked for"}),
        ("commitment_create", {"title": "Tea", "reason": "asked for"}),
        ("notification_commitment_create", {"title": "Tea", "text": "tea", "reason": "asked for"}),
        ("message_commitment_create", {"title": "Tea", "sender": "Dad", "reason": "asked for"}),
        (
            "commitment_update_status",
            {"commitment_id": 1, "status": "completed", "reason": "asked for"},
        ),
    ],
)
async def test_what_a_desk_would_refuse_is_put_to_nobody(
    name: str, arguments: dict[str, object]
) -> None:
    def refuse(_op: ServiceOp) -> None:
        raise UsageError("The desk has no ink.", "Fill it.")

    asked, _ = await use(name, **arguments)
    assert len(asked.questions) == 1, "what would pass is asked about"
    refused, _ = await use(name, refuse, **arguments)
    assert refused.questions == [] and refused.requested == []


# --- what a desk refuses ----------

WORDS = st.sampled_from(["", " ", "x", "Tea at 5", "\x00\x07", "y" * 500])
MOMENTS = st.sampled_from([0, 1, 900_000_000, 2_000_000_000, 10**15, 10**18])
SPANS = st.sampled_from([0, 1, 15_000, 10**9, 10**17])
IDS = st.sampled_from([0, 1, 2, 999])
TARGETS = st.sampled_from(["main", "isolated", "current", "session:", "session:none", "moon", ""])
SERIALS = st.sampled_from(["", "phone-1", "phone-9"])
LIMITS = st.sampled_from([0, 1, 50, 10_000])
MODES = st.sampled_from(["notification", "silent", "none", "loud", ""])
OPS = st.one_of(
    st.builds(
        protocol.JobCreate,
        title=WORDS,
        prompt=WORDS,
        next_run_at=MOMENTS,
        interval_ms=SPANS,
        cron=st.sampled_from(["", "0 8 * * *", "* * * *", "99 99 * * *", "soon", "0 0 30 2 *"]),
        timezone=st.sampled_from(["", "Europe/Berlin", "Mars/Olympus"]),
        on=st.sampled_from([(), (records.Trigger.MANUAL,), tuple(records.Trigger)]),
        quiet=st.sampled_from(
            [
                None,
                records.QuietHours(since="22:00", until="07:00"),
                records.QuietHours(since="25:00", until="x"),
            ]
        ),
        misfire=st.sampled_from(records.Misfire),
        session_target=TARGETS,
        delivery_mode=MODES,
        notification_text=WORDS,
        serial=SERIALS,
        tags=st.sampled_from([(), ("blue",), ("",)]),
        payload=st.sampled_from([{}, {"a": "b" * 17_000}, {"tool": "no_such"}]),
        output_schema=st.sampled_from(["", "{}", "not json"]),
    ),
    st.builds(protocol.JobList, query=WORDS, limit=LIMITS),
    st.builds(protocol.JobStop, job_id=IDS),
    st.builds(
        protocol.WatcherCreate,
        watcher_type=st.sampled_from(records.WatcherType),
        title=WORDS,
        texts=st.sampled_from([(), ("x",), ("\x00",)]),
        url=st.sampled_from(["", "https://example.org/", "file:///etc/passwd", "nowhere"]),
        evaluator=st.sampled_from(records.Evaluator),
        meaning=WORDS,
        notify_on=st.sampled_from(records.NotifyOn),
        next_run_at=MOMENTS,
        interval_ms=SPANS,
        deadline_at=MOMENTS,
        serial=SERIALS,
        prompt=WORDS,
        tool=st.sampled_from(["", "launch_app", "no_such"]),
        session_target=TARGETS,
        delivery_mode=MODES,
    ),
    st.builds(protocol.WatcherList, query=WORDS, limit=LIMITS),
    st.builds(protocol.WatcherStop, watcher_id=IDS, query=WORDS, all=st.booleans()),
    st.builds(
        protocol.CommitmentCreate,
        title=WORDS,
        description=WORDS,
        due_at=MOMENTS,
        expires_at=MOMENTS,
        confidence=st.sampled_from([None, 0.5, 7.0]),
        origin=st.sampled_from(
            [None, records.Origin(kind=records.OriginKind.NOTIFICATION, text="x", serial="phone-9")]
        ),
    ),
    st.builds(protocol.CommitmentSearch, query=WORDS, limit=LIMITS),
    st.builds(
        protocol.CommitmentUpdate,
        commitment_id=IDS,
        status=st.sampled_from(records.CommitmentStatus),
        due_at=MOMENTS,
    ),
)


@settings(max_examples=15, deadline=None)
@given(ops=st.lists(OPS, min_size=5, max_size=25))
def test_what_is_refused_is_known_before_it_is_done(ops: list[ServiceOp]) -> None:
    """A desk's check raises what its work would, and stores nothing."""

    async def part(context: TaskContext) -> str:
        for op in ops:
            checked = await failure(context.check, op)
            done = await failure(context.request, op)
            assert checked == done, op
        return "all alike"

    async def play(place: Path) -> None:
        stage = Stage(place, FakeFleet("phone-1"))
        stage.parts["ask the desks"] = part
        async with stage.play():
            session = await stage.reach(
                await stage.create("ask the desks"),
                records.SessionState.COMPLETED,
                records.SessionState.FAILED,
            )
            assert session.state is records.SessionState.COMPLETED, session

    with tempfile.TemporaryDirectory() as name:
        asyncio.run(play(Path(name)))


async def failure(do: Callable[[ServiceOp], Awaitable[object]], op: ServiceOp) -> str:
    """Return what an op is refused with; empty where it passes."""
    try:
        await do(op)
    except SwitchboardError as error:
        return f"{type(error).__name__}: {error.message} {error.remedy}"
    return ""
