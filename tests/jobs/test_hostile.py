"""What strangers hand in: huge, deep, of the wrong type, with control characters; each door refuses
it by a word of its own or stores it whole, and goes on working.
"""

import json

import msgspec
import pytest

from agent.errors import SwitchboardError
from agent.models.model import ToolCall
from agent.protocol import JobCreate, JobList, WatcherCreate
from agent.tools.arguments import BadArguments
from agent.tools.registry import read_call
from agent.tools.service_tool_args import ServiceCall, op_of
from tests.stage import Stage

DEEP: list[object] = []
for _ in range(300):
    DEEP = [DEEP]
EVIL = "\x1b[2J\x00\u202e" + "x" * 50
SCHEDULES: list[object] = [
    {"cron": 7},
    {"cron": "* " * 4000},
    {"cron": EVIL},
    {"timezone": "../../etc/passwd", "cron": "* * * * *"},
    {"next_run_at": "soon"},
    {"next_run_at": -1},
    {"next_run_at": 1e300},
    {"next_run_at": 253_402_300_800_000},
    {"next_run_at": 1 << 52, "quiet": {"since": "22:00", "until": "07:00"}},
    {"interval_ms": True},
    {"interval_ms": 1 << 70},
    {"interval_ms": 1 << 51},
    {"cron": "* * * * * *"},
    {"on": "manual"},
    {"on": [EVIL]},
    {"quiet": {"since": EVIL, "until": "07:00"}},
    {"quiet": {"since": "22:00", "until": "22:00"}},
    {"misfire": EVIL},
    DEEP,
    EVIL,
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=range(len(SCHEDULES)))
async def test_a_schedule_that_is_none_is_refused_at_every_door(
    stage: Stage, schedule: object
) -> None:
    fields = schedule if isinstance(schedule, dict) else {"schedule": schedule}
    raw = {"type": "job_create", "title": "x", "prompt": "x", **fields}
    called = {"title": "x", "prompt": "x", "reason": "x", "schedule": schedule}
    async with stage.play():
        with pytest.raises((SwitchboardError, msgspec.ValidationError)):
            if not isinstance(schedule, dict):
                raise msgspec.ValidationError
            await stage.do(msgspec.convert(raw, JobCreate))
        with pytest.raises((SwitchboardError, BadArguments)):
            arguments = read_call(
                ToolCall(call_id="c", name="background_job_create", arguments=json.dumps(called))
            )
            assert isinstance(arguments, ServiceCall)
            op = op_of(arguments)
            assert isinstance(op, JobCreate)
            await stage.do(op)
        assert (await stage.do(JobList())).jobs == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "x" * 201},
        {"prompt": " \n"},
        {"prompt": "\x1b[31m\x01\n"},
        {"title": "\u200b\x00"},
        {"payload": {"a": "x" * 20_000}},
        {"payload": {"call": DEEP}},
        {"payload": {"call": {"tool": EVIL}}},
        {"payload": {"call": {"tool": "launch_app", "arguments": {"app": DEEP}}}},
        {"job_type": "heartbeat", "prompt": "x" * 20_001},
        {"job_type": "system_event", "prompt": "\x1b[31m"},
        {"tags": ("",)},
        {"tags": tuple(f"lab {number:0100}" for number in range(200))},
        {"app": EVIL * 100},
        {"notification_text": "x" * 401},
        {"session_target": EVIL},
        {"delivery_mode": EVIL},
    ],
    ids=str,
)
async def test_a_job_of_nonsense_is_refused_in_clean_words(
    stage: Stage, fields: dict[str, object]
) -> None:
    raw = {"type": "job_create", "title": "x", "prompt": "x", **fields}
    async with stage.play():
        with pytest.raises(SwitchboardError) as refused:
            await stage.do(msgspec.convert(raw, JobCreate))
        assert str(refused.value).isprintable() or "\n" in str(refused.value)
        assert "\x1b" not in str(refused.value)
        assert (await stage.do(JobList())).jobs == ()


@pytest.mark.parametrize(
    "arguments", [{"title": DEEP}, {"title": {"a": [1]}}, {EVIL: 1, "title": 5.5, "type": []}]
)
async def test_arguments_of_a_tool_that_are_none_are_refused_with_the_watcher(
    stage: Stage, arguments: dict[str, object]
) -> None:
    raw = {
        "type": "watcher_create",
        "watcher_type": "notification",
        "tool": "watcher_create",
        "arguments": arguments,
    }
    async with stage.play():
        with pytest.raises(SwitchboardError) as refused:
            await stage.do(msgspec.convert(raw, WatcherCreate))
        assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"texts": ("a\ud800",)}, "half of a character"),
        ({"sender": "\udcff"}, "half of a character"),
        ({"package": "a\udcff"}, "half of a character"),
        ({"texts": ("parcel", "\x00\x1b[2J")}, "only control characters"),
    ],
    ids=["text", "sender", "app", "controls"],
)
async def test_what_nothing_can_say_is_not_looked_out_for(
    stage: Stage, fields: dict[str, object], said: str
) -> None:
    wanted = {"type": "watcher_create", "watcher_type": "notification", **fields}
    async with stage.play():
        with pytest.raises(SwitchboardError, match=said):
            await stage.do(msgspec.convert(wanted, WatcherCreate))
        assert await stage.store.watches.watchers() == ()
