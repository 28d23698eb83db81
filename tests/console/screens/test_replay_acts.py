"""A replayed session's records, a branch from it, and files of it."""

from pathlib import Path

import msgspec

from agent.protocol import DeviceChanged, Reply, SessionFork, SessionReplay, ToolCallRequested
from agent.records import Session, SessionState
from agent.state.reducer import SessionView
from console.screens.dialogs.export import ExportScreen
from console.screens.history.replay import ReplayScreen
from console.steps.playback import Playback
from console.steps.step_record import Part, blob_parts, record_at
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore, phone
from tests.console.report.test_report import filmed
from tests.console.script import configure, evening, run, step
from widgets.transcript.record_pane import RecordPane
from widgets.transcript.session_pane import SessionPane

PROMPT = msgspec.json.encode(
    [{"role": "system", "text": "You work on a phone.\x1b[2J"}, {"role": "user", "text": "Go"}]
)
REPLY = msgspec.json.encode(
    {"text": "I go.", "tool_calls": [{"name": "click_element", "arguments": '{"element": 2}'}]}
)


def recorded(core: FakeCore) -> None:
    evening(core)
    configure(core, "r1", "Go there")
    run(core, "r1")
    core.blobs |= {"prompt-1": PROMPT, "reply-1": REPLY}
    for number in (1, 2):
        step(core, "r1", number)
        core.tell(
            ToolCallRequested(
                step=number,
                call_id=f"z{number}",
                tool="wait",
                arguments="{}",
                prompt_digest="prompt-1",
                reply_digest="reply-1",
            ),
            "r1",
        )


def plain(parts: tuple[tuple[str, str], ...]) -> str:
    return "".join(text for text, _ in parts)


async def replaying(seat: Seat, session_id: str) -> ReplayScreen:
    seat.app.push_screen(ReplayScreen(session_id))
    await seat.until(lambda: isinstance(seat.app.top, ReplayScreen), "the replay")
    screen = seat.app.top
    assert isinstance(screen, ReplayScreen)
    await seat.until(lambda: screen.tape.playback is not None, "the tape")
    return screen


async def test_tree_prompt_and_reply_of_a_step_stand_beside_it(console: Open) -> None:
    async with console(play=recorded) as seat:
        screen = await replaying(seat, "r1")
        await seat.press("home", "l", "i")
        await seat.see("Connected devices")
        await seat.press("i")
        pane = screen.query_one(RecordPane)
        await seat.until(lambda: "You work on a phone." in plain(pane.parts), "the prompt")
        assert "\x1b" not in plain(pane.parts)
        await seat.press("i")
        await seat.until(lambda: "→ click_element" in plain(pane.parts), "the reply")
        del seat.core.blobs["prompt-1"]
        screen.record.part = Part.PROMPT
        screen.refresh_all()
        await seat.until(lambda: "is gone" in plain(pane.parts), "why there is none")
        await seat.press("i", "i")
        await seat.until(lambda: not screen.record.is_shown, "the transcript alone")


async def test_branching_takes_two_presses_and_shows_the_new_session(console: Open) -> None:
    def forked(op: SessionFork) -> Reply:
        configure(seat.core, "f9", "Go there")
        return Reply(submission_id="x", session_id="f9")

    async with console(play=recorded) as seat:
        seat.core.answers[SessionFork] = forked
        await replaying(seat, "r1")
        await seat.press("home", "b")
        await seat.see("Go to a step first")
        await seat.press("l", "b")
        await seat.see("b again branches a new session from step 1")
        assert not any(isinstance(op, SessionFork) for op in seat.core.ops)
        await seat.press("b")
        await seat.until(
            lambda: SessionFork(session_id="r1", after_step=1) in seat.core.ops, "the fork"
        )
        await seat.until(lambda: seat.deck.selected == "f9", "the new session on the Deck")


async def test_a_session_is_written_to_a_file_from_its_replay(
    console: Open, tmp_path: Path
) -> None:
    def play(core: FakeCore) -> None:
        evening(core)
        filmed(core, "f1", 2)

    page = tmp_path / "exports" / "session-f1.html"
    async with console(play=play) as seat:
        await replaying(seat, "f1")
        for place in (page, page.with_stem("session-f1-2")):
            await seat.press("E")
            await seat.until(lambda: isinstance(seat.app.screen, ExportScreen), "the kinds")
            await seat.press("enter")
            await seat.until(place.exists, f"{place.name}")
            await seat.until(lambda: isinstance(seat.app.screen, ReplayScreen), "the replay")
        assert "data:image/jpeg" in page.read_text("utf-8")


def test_a_change_of_app_is_marked_on_the_tape() -> None:
    core = FakeCore()
    evening(core)
    tape = Playback([e for e in core.stored if e.session_id == "s1"])
    assert [sign.kind for sign in tape.signs if sign.kind == "app"] == []
    filmed(core, "f1", 1)
    events = [e for e in core.stored if e.session_id in {"s1", "f1"}]
    assert [sign.kind for sign in Playback(events).signs if sign.kind == "app"] == ["app"]


def test_a_record_is_that_of_the_step_at_its_place() -> None:
    core = FakeCore()
    recorded(core)
    events = [e for e in core.stored if e.session_id == "r1"]
    assert record_at(events, 0).step == 0
    last = record_at(events, len(events))
    assert (last.step, last.prompt_digest, last.is_whole) == (2, "prompt-1", True)
    assert record_at(events, len(events) // 2).step == 1


def test_what_is_no_prompt_of_ours_is_shown_as_it_is() -> None:
    assert plain(blob_parts(b"\xff not json")).endswith("not json")
    assert plain(blob_parts(b"[1, null]")).split() == ["1", "None"]
    long = msgspec.json.encode([{"role": "user", "text": "x" * 50_000}, {"text": "the end"}])
    assert "characters before" in plain(blob_parts(long))
    assert plain(blob_parts(long)).rstrip().endswith("the end")


async def test_doing_it_again_takes_two_presses_and_a_free_phone(console: Open) -> None:
    def start_session(op: SessionReplay) -> Reply:
        configure(seat.core, "g1", "Go there")
        return Reply(submission_id="x", session_id="g1")

    def with_a_free_phone(core: FakeCore) -> None:
        recorded(core)
        core.tell(DeviceChanged(device=phone("phone-2", driver="s2")))
        core.tell(DeviceChanged(device=phone("phone-3", name="Shelf")))

    async with console(play=with_a_free_phone) as seat:
        seat.core.answers[SessionReplay] = start_session
        await replaying(seat, "r1")
        await seat.press("a")
        await seat.see("a again repeats the session on Shelf")
        await seat.press("a")
        op = SessionReplay(session_id="r1", serial="phone-3")
        await seat.until(lambda: op in seat.core.ops, "the replay")
        await seat.until(lambda: seat.deck.selected == "g1", "the new session on the Deck")


async def test_a_moment_before_the_first_step_asks_for_nothing(console: Open) -> None:
    async with console(play=recorded) as seat:
        screen = await replaying(seat, "r1")
        pane = screen.query_one(SessionPane)
        draft = SessionView(session=Session(session_id="r1", goal="Go there", created_ms=1))
        assert draft.session.state is SessionState.CREATED
        pane.show_view(draft, devices={}, now_ms=2, is_stored=True)
        assert pane.transcript.empty == "Nothing had happened yet at this moment."
        pane.show_view(draft, devices={}, now_ms=2)
        assert "Press p to start it" in pane.transcript.empty
