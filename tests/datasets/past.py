"""Sessions with screens, calls and texts, as a store holds them."""

from __future__ import annotations

from io import BytesIO

from PIL import Image

from agent.protocol import (
    AgentMessage,
    ObservationRecorded,
    SessionVerify,
    StepStarted,
    ToolCallFinished,
    ToolCallRequested,
)
from agent.records import (
    ActionOutcome,
    Foreground,
    Frame,
    GoalVerdict,
    Observation,
    Point,
    SessionState,
    VerifiedBy,
)
from agent.store.store import EventDraft
from tests.stage import Stage

TREE = (
    b'<?xml version="1.0"?><hierarchy rotation="0"><node text="Wi-Fi \xf0\x9f\x93\xb6" '
    b'class="android.widget.Switch" checked="true" bounds="[0,0][54,120]"/></hierarchy>'
)
GOALS = ("turn on Wi‑Fi", "write a note: 牛奶")


def png(shade: int) -> bytes:
    out = BytesIO()
    Image.new("RGB", (108, 240), (shade, 80, 120)).save(out, "PNG")
    return out.getvalue()


async def recorded(stage: Stage, goal: str, steps: int = 3) -> str:
    """Make an ended session that saw a screen before each of its calls, and one after."""
    session_id = await stage.create(goal)
    await stage.reach(session_id, SessionState.COMPLETED)
    store = stage.store
    tree = await store.blobs.put(TREE, "application/xml")
    drafts = []
    for step in range(1, steps + 1):
        frame = Frame(
            digest=await store.blobs.put(png(step * 20), "image/png"),
            width_px=108,
            height_px=240,
            captured_ms=1,
        )
        prompt = await store.blobs.put(
            f'[{{"text": "{goal} {step}"}}]'.encode(), "application/json"
        )
        seen = Observation(
            started_ms=1,
            ended_ms=2,
            foreground=Foreground(package="com.android.settings", activity=".Main"),
            screen_text="[1] Wi-Fi",
            frame=frame,
            tree_digest=tree,
        )
        drafts += [
            StepStarted(step=step),
            ObservationRecorded(step=step, observation=seen),
            AgentMessage(step=step, text=f"thought {step}"),
            ToolCallRequested(
                step=step,
                call_id=f"c{step}",
                tool="swipe",
                arguments='{"direction": "up"}',
                point=Point(x=0.5, y=0.75),
                path=(Point(x=0.5, y=0.75), Point(x=0.5, y=0.25)),
                prompt_digest=prompt,
            ),
            ToolCallFinished(
                step=step, call_id=f"c{step}", outcome=ActionOutcome.DONE, text="OK: Swiped"
            ),
        ]
    last = ObservationRecorded(step=steps, observation=seen)
    await store.append(*(EventDraft(session_id, msg) for msg in (*drafts, last)))
    await stage.do(
        SessionVerify(
            session_id=session_id, verdict=GoalVerdict.MET, verified_by=VerifiedBy.CHECKER
        )
    )
    return session_id
