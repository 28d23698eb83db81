"""A step opened in the Deck's transcript: what was seen, asked and said, and its frame."""

import io

import pytest
from PIL import Image

from agent.protocol import AgentMessage, ObservationRecorded, StepStarted, ToolCallRequested
from agent.records import Foreground, Frame, Observation
from console.steps.step_reading import find_record, read_part
from console.steps.step_record import Part
from tests.console.conftest import Open
from tests.console.fakes import FakeCore
from tests.console.screens.test_replay_acts import PROMPT, REPLY, plain
from tests.console.script import configure, elements, evening, run, step


def picture() -> bytes:
    kept = io.BytesIO()
    Image.new("RGB", (90, 200), (200, 30, 30)).save(kept, "PNG")
    return kept.getvalue()


def opened(core: FakeCore) -> None:
    """Play a session whose second step has a frame, a long prompt and a reply."""
    evening(core)
    configure(core, "d1", "Look closely", serial="phone-2")
    run(core, "d1")
    step(core, "d1", 1, "The first thought.")
    core.blobs |= {"prompt-1": PROMPT, "reply-1": REPLY, "frame-1": picture()}
    core.tell(StepStarted(step=2), "d1")
    seen = Observation(
        started_ms=core.now_ms,
        ended_ms=core.now_ms,
        foreground=Foreground(package="com.android.settings"),
        elements=elements(),
        frame=Frame(
            digest="frame-1",
            width_px=90,
            height_px=200,
            captured_ms=core.now_ms,
            media_type="image/png",
        ),
    )
    core.tell(ObservationRecorded(step=2, observation=seen), "d1")
    core.tell(AgentMessage(step=2, text="The second thought."), "d1")
    core.tell(
        ToolCallRequested(
            step=2,
            call_id="c2",
            tool="click_element",
            arguments='{"element": 2}',
            element=elements()[1],
            prompt_digest="prompt-1",
            reply_digest="reply-1",
        ),
        "d1",
    )


async def test_space_opens_a_step_layer_by_layer_down_to_its_prompt_reply_screen_and_frame(
    console: Open,
) -> None:
    async with console(play=opened, size=(160, 60)) as seat:
        seat.deck.select("d1")
        seat.deck.refresh_all()
        view = seat.deck.pane.transcript
        await seat.until(lambda: len(view.items) == 2, "the transcript")
        seat.deck.panes.go_to("middle", view)
        await seat.see("space expand")
        await seat.press("space")
        await seat.see("com.android.settings")
        await seat.see("space prompt, reply, screen")
        assert "You work on a phone." not in seat.text()
        await seat.press("space")
        for told in ("Connected devices", "You work on a phone.", "→ click_element", "space fold"):
            await seat.see(told)
        # The picture is that of the step, and says so; the live one is back when it is folded.
        await seat.see("stored · step 2")
        assert "\x1b" not in seat.text()
        await seat.press("space")
        await seat.until(lambda: "stored · step 2" not in seat.text(), "the present")
        assert "You work on a phone." not in seat.text()


async def test_following_again_leaves_the_moment_of_a_step(console: Open) -> None:
    async with console(play=opened) as seat:
        seat.deck.select("d1")
        seat.deck.refresh_all()
        view = seat.deck.pane.transcript
        await seat.until(lambda: len(view.items) == 2, "the transcript")
        seat.deck.panes.go_to("middle", view)
        await seat.press("space", "space")
        await seat.see("stored · step 2")
        await seat.press("G")
        await seat.until(lambda: "stored · step 2" not in seat.text(), "the present")


async def test_what_is_gone_of_a_step_is_said_where_it_would_stand(console: Open) -> None:
    async with console(play=opened, size=(160, 60)) as seat:
        seat.core.blobs.clear()
        seat.deck.select("d1")
        seat.deck.refresh_all()
        view = seat.deck.pane.transcript
        await seat.until(lambda: len(view.items) == 2, "the transcript")
        seat.deck.panes.go_to("middle", view)
        await seat.press("space", "space")
        await seat.see("prompt-1 is gone")
        await seat.see("Connected devices")


async def test_a_record_is_read_as_far_as_its_step_has_come() -> None:
    core = FakeCore()
    opened(core)
    starts = [e.seq for e in core.stored if e.session_id == "d1" and e.msg == StepStarted(step=1)]
    first = await find_record(core, "d1", starts[0])
    assert (first.step, first.is_whole, first.prompt_digest) == (1, True, "")
    assert plain(await read_part(core, first, Part.PROMPT)) == "Nothing of it was stored."
    core.tell(StepStarted(step=3), "d1")
    last = await find_record(core, "d1", core.stored[-1].seq)
    assert (last.step, last.is_whole, last.observation) == (3, False, None)
    assert plain(await read_part(core, last, Part.REPLY)) == "This step has none yet."


async def test_a_browser_offers_no_editor_and_a_terminal_does(
    console: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(play=opened, size=(160, 60)) as seat:
        seat.deck.select("d1")
        seat.deck.refresh_all()
        view = seat.deck.pane.transcript
        await seat.until(lambda: len(view.items) == 2, "the transcript")
        seat.deck.panes.go_to("middle", view)
        await seat.see("e editor")
        monkeypatch.setattr(type(seat.app), "is_web", True)
        seat.deck.refresh_all()
        await seat.until(lambda: "e editor" not in seat.text(), "a footer without an editor")
