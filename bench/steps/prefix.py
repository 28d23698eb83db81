"""How much of what a session sends is a prefix of its call before, and what its first call has.

`python -m bench prefix`. Endpoints charge a tenth for input that they find in their cache, and they
find it only as far as a request begins like an earlier one. Real core, store and task; the model
walks through screens and keeps every request. Tokens are o200k's; pictures are left out, and stand
at the end of a request.
"""

import asyncio
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from agent.models.model import ModelRequest, ToolSchema
from agent.settings import Wire
from agent.store.embedded.sqlite_store import SqliteStore
from agent.tools.registry import schemas
from bench._tokens import count_tokens
from bench.steps._first_call import first_call, first_request
from bench.steps.loop import BenchDevice, KeepingModel, Moment, session_of
from tests.fakes import FakeFleet

STEPS = 48


def main() -> None:
    """Print the tables."""
    sent = asyncio.run(sent_by_a_session(STEPS))
    print("| 60 elements a screen | input tokens (o200k) | a prefix of the call before |")
    print("|---|---|---|")
    for steps in (10, 20, 40, len(sent)):
        tokens, cached = shared_tokens(sent[:steps])
        print(f"| {steps} calls | {tokens:,} | {cached / tokens:.0%} |")
    asyncio.run(_first_calls())


async def _first_calls() -> None:
    request = await first_request()
    print(
        "\n| the first call (o200k) | " + " | ".join(Wire) + " |\n|---" + "|---" * len(Wire) + "|"
    )
    calls = [await first_call(request, wire) for wire in Wire]
    for part in calls[0]:
        print(f"| {part} | " + " | ".join(str(parts[part]) for parts in calls) + " |")
    print("| together | " + " | ".join(f"{sum(parts.values()):,}" for parts in calls) + " |")
    print(f"\nAll {len(schemas())} tools have {count_tokens(_tools(schemas())):,}.")


async def sent_by_a_session(steps: int) -> list[str]:
    """Return what each call of a session of so many taps sends, in the order it is read."""
    clock, fleet = Moment(), FakeFleet("bench")
    fleet.adopt(BenchDevice(fleet, "bench", seconds=clock.seconds))
    model = KeepingModel(steps)
    with tempfile.TemporaryDirectory() as folder:
        async with SqliteStore.open(Path(folder)) as store:
            await session_of(store, Path(folder), fleet, model, serial="bench", clock=clock)
    return [written(request) for request in model.requests]


def shared_tokens(sent: Sequence[str]) -> tuple[int, int]:
    """Return the input tokens of calls, and how many of them are a prefix of the call before."""
    shared = sum(count_tokens(_shared(a, b)) for a, b in itertools.pairwise(sent))
    return sum(map(count_tokens, sent)), shared


def written(request: ModelRequest) -> str:
    """Write a request down in the order in which an endpoint reads it: tools, then messages."""
    parts = [_tools(request.tools)]
    for message in request.messages:
        calls = "".join(f"{call.name} {call.arguments}" for call in message.tool_calls)
        parts.append(f"\n<{message.role.value}>{message.text}{calls}")
    return "".join(parts)


def _shared(one: str, other: str) -> str:
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))]


def _tools(tools: Sequence[ToolSchema]) -> str:
    return msgspec.json.encode(tools).decode()
