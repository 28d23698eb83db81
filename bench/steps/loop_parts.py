"""Two parts of a step by themselves: a model's picture, and a call with a long conversation.

`python -m bench loop_parts`. Each is measured beside the way that it replaced, on the same pictures
and the same conversation. CPU and not the clock: the endpoint is on loopback, in a thread of its
own that is not counted; the threads of a picture are. Not a step (that is `bench loop`).
"""

import asyncio
import io
import statistics
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from PIL import Image

from agent.loop.images.scaling import MODE, fitted, scaled
from agent.loop.images.set_of_marks import marked
from agent.models.model import Message, MessageKind, ModelRequest, Role, ToolCall
from agent.models.openai import OpenAIModel
from agent.models.openai.chat import message_of
from agent.records import Bounds, Element
from agent.tools.registry import schemas
from bench.steps.loop import ELEMENTS, picture
from tests.openai_server import Reply, openai_server

PICTURES = 20
CALLS = 20
STEPS = (20, 60)
SCREEN_CHARACTERS = 3000
_ANSWER = Reply(text="ok")


def main() -> None:
    """Print both tables."""
    _pictures()
    asyncio.run(_calls())


# --- a model's picture ----------


def _pictures() -> None:
    pngs = [picture(version) for version in range(PICTURES)]
    small = [scaled(png) for png in pngs]
    elements = _elements()
    print("| a picture of 1080×2400 for a model | CPU ms, p50 |")
    print("|---|---|")
    for name, work in (
        ("decoded and scaled by FFmpeg, as it is", lambda at: scaled(pngs[at])),
        ("decoded and scaled by Pillow", lambda at: _by_pillow(pngs[at])),
        (f"{ELEMENTS} elements numbered, written as JPEG", lambda at: marked(small[at], elements)),
    ):
        print(f"| {name} | {_cpu_ms(work):.1f} |", flush=True)


def _cpu_ms(work: Callable[[int], object]) -> float:
    """Return the median of what a piece of work takes on all threads; the first one warms up."""
    work(0)
    spent = []
    for at in range(PICTURES):
        began_s = time.process_time()
        work(at)
        spent.append((time.process_time() - began_s) * 1000)
    return statistics.median(spent)


def _by_pillow(data: bytes) -> Image.Image:
    """Do what FFmpeg does, as before: whole in RGB, then small, then in a JPEG's colours."""
    large = Image.open(io.BytesIO(data)).convert("RGB")
    size = fitted(*large.size)
    return large.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0).convert(MODE)


def _elements() -> tuple[Element, ...]:
    return tuple(
        Element(
            number=row + 1,
            key=f"{row}",
            kind="button",
            label=f"entry {row}",
            bounds=Bounds(left=0.05, top=row / ELEMENTS, right=0.95, bottom=(row + 1) / ELEMENTS),
            clickable=row % 2 == 0,
        )
        for row in range(ELEMENTS)
    )


# --- a call ----------


async def _calls() -> None:
    print(f"\n| a call, {SCREEN_CHARACTERS:,} characters a screen | CPU ms, p50 |")
    print("|---|---|")
    async with _endpoint() as base_url:
        for steps in STEPS:
            request = _conversation(steps)
            ours_ms = await _ours_ms(base_url, request)
            typed_ms = await _typed_ms(base_url, request)
            print(f"| after {steps} steps, as it is | {ours_ms:.1f} |")
            print(f"| the same by the SDK's own parameters | {typed_ms:.1f} |", flush=True)


@asynccontextmanager
async def _endpoint() -> AsyncIterator[str]:
    ready: asyncio.Queue[str] = asyncio.Queue()
    here, ended = asyncio.get_running_loop(), threading.Event()

    async def serve() -> None:
        async with openai_server(lambda _request: _ANSWER) as server:
            here.call_soon_threadsafe(ready.put_nowait, server.base_url)
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        yield await ready.get()
    finally:
        ended.set()
        await asyncio.to_thread(thread.join)


def _conversation(steps: int) -> ModelRequest:
    """Return what a session of so many steps asks: instructions, and three messages a step."""
    screen = ("[12] button: Entry of a screen, as a model reads it.\n" * 60)[:SCREEN_CHARACTERS]
    messages = [
        Message(role=Role.SYSTEM, kind=MessageKind.INSTRUCTIONS, text="Work on the phone. " * 200),
        Message(role=Role.USER, kind=MessageKind.GOAL, text="tap on"),
    ]
    for step in range(steps):
        call = ToolCall(call_id=f"call-{step}", name="click_element", arguments='{"element": 12}')
        messages += [
            Message(role=Role.USER, kind=MessageKind.OBSERVATION, text=screen),
            Message(role=Role.ASSISTANT, kind=MessageKind.REPLY, tool_calls=(call,)),
            Message(role=Role.TOOL, kind=MessageKind.RESULT, text="OK", call_id=call.call_id),
        ]
    return ModelRequest(messages=tuple(messages), tools=schemas())


async def _ours_ms(base_url: str, request: ModelRequest) -> float:
    model = OpenAIModel("m", base_url=base_url, api_key="k")

    async def call() -> None:
        await model.complete(request)

    spent = await _thread_ms(call)
    await model.close()
    return spent


async def _typed_ms(base_url: str, request: ModelRequest) -> float:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0)
    create: Any = client.chat.completions.create

    async def call() -> None:
        stream = await create(
            model="m",
            messages=[message_of(message, vision=False) for message in request.messages],
            tools=_tools(request),
            max_tokens=8192,
            stream=True,
        )
        async for _chunk in stream:
            pass

    spent = await _thread_ms(call)
    await client.close()
    return spent


def _tools(request: ModelRequest) -> Sequence[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in request.tools
    ]


async def _thread_ms(call: Callable[[], Any]) -> float:
    """Return the median of what a call takes in this thread; the first one warms up."""
    await call()
    spent = []
    for _ in range(CALLS):
        began_s = time.thread_time()
        await call()
        spent.append((time.thread_time() - began_s) * 1000)
    return statistics.median(spent)
