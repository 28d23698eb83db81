"""Sessions with screens, calls and texts, as a store holds them."""

from io import BytesIO

from PIL import Image

from agent import protocol, records
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
    await stage.reach(session_id, records.SessionState.COMPLETED)
    store = stage.store
    tree = await store.blobs.put(TREE, "application/xml")
    drafts = []
    for step in range(1, steps + 1):
        frame = records.Frame(
            digest=await store.blobs.put(png(step * 20), "image/png"),
            width_px=108,
            height_px=240,
            captured_ms=1,
        )
        prompt = await store.blobs.put(
            f'[{{"text": "{goal} {step}"}}]'.encode(), "application/json"
        )
        seen = records.Observation(
            started_ms=1,
            ended_ms=2,
            foreground=records.Foreground(package="com.android.settings", activity=".Main"),
            screen_text="[1] Wi-Fi",
            frame=frame,
            tree_digest=tree,
        )
        drafts += [
            protocol.StepStarted(step=step),
            protocol.ObservationRecorded(step=step, observation=seen),
            protocol.AgentMessage(step=step, text=f"thought {step}"),
            protocol.ToolCallRequested(
                step=step,
                call_id=f"c{step}",
                tool="swipe",
                arguments='{"direction": "up"}',
                point=records.Point(x=0.5, y=0.75),
                path=(records.Point(x=0.5, y=0.75), records.Point(x=0.5, y=0.25)),
                prompt_digest=prompt,
            ),
            protocol.ToolCallFinished(
                step=step, call_id=f"c{step}", outcome=records.ActionOutcome.DONE, text="OK: Swiped"
            ),
        ]
    last = protocol.ObservationRecorded(step=steps, observation=seen)
    await store.append(*(EventDraft(session_id, msg) for msg in (*drafts, last)))
    await stage.do(
        protocol.SessionVerify(
            session_id=session_id,
            verdict=records.GoalVerdict.MET,
            verified_by=records.VerifiedBy.CHECKER,
        )
    )
    return session_id
