"""The form of a job: phone, title, type and its next runs; the review of a job on its screen."""

import pytest
from textual.widgets import Input

from agent.protocol import JobChanged, JobCreate, RequestUserInput, UserInputAnswer
from agent.records import JobType as Type
from agent.records import Question, QuestionKind, QuestionOption, ReviewTicket
from console.screens.jobs.jobs import JobsScreen
from tests.console.conftest import Open, Seat
from tests.console.fakes import FakeCore, job
from tests.console.script import evening
from widgets.lists.job_rows import job_rows
from widgets.questions.question_card import QuestionCard


def jobs(seat: Seat) -> JobsScreen:
    screen = seat.app.screen
    assert isinstance(screen, JobsScreen)
    return screen


@pytest.mark.parametrize("size", [(160, 50), (100, 30), (60, 24)])
async def test_a_job_is_written_with_its_title_phone_and_type_and_selected(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size=size) as seat:
        serial = min(seat.app.bridge.state.devices)
        await seat.press("3", "n", *"water the plants", "enter", *"10m", "enter", *"1d")
        await seat.see("next runs")
        await seat.press("tab", *"Plants", "tab", *serial, "tab", *"heartbeat", "enter")
        await seat.until(lambda: any(isinstance(o, JobCreate) for o in seat.core.ops), "the job")
        made = next(op for op in seat.core.ops if isinstance(op, JobCreate))
        assert (made.title, made.prompt, made.serial) == ("Plants", "water the plants", serial)
        assert (made.job_type, made.interval_ms) == (Type.HEARTBEAT, 86_400_000)
        newest = max(seat.app.bridge.state.jobs)
        await seat.until(lambda: jobs(seat).table.cursor_key == str(newest), "it is selected")


async def test_the_next_three_runs_are_shown_while_it_is_written(console: Open) -> None:
    async with console() as seat:
        await seat.press("3", "n", *"tea", "enter", "enter", *"30 7 * * *")
        await seat.see("next runs")
        await seat.until(lambda: seat.text().count("07:30") == 3, "three times")
        beside = [line for line in seat.text().splitlines() if "next runs" in line]
        assert "07:30" in beside[0], "the times stand beside their name"
        await seat.press("backspace", "backspace")
        await seat.until(lambda: "07:30" not in seat.text(), "no time of half a schedule")


async def test_an_unknown_phone_is_refused_and_nothing_that_was_typed_is_lost(
    console: Open,
) -> None:
    async with console() as seat:
        await seat.press("3", "n", *"tea", "enter", "enter", "tab", "tab", *"nowhere", "enter")
        await seat.see("There is no phone 'nowhere'.")
        assert seat.app.screen.query_one("#job-phone", Input).value == "nowhere"
        assert not any(isinstance(op, JobCreate) for op in seat.core.ops)


def reviewed(core: FakeCore) -> None:
    evening(core)
    core.tell(
        JobChanged(
            job=job(
                7,
                title="Send the report",
                status="awaiting_review",
                pending_tool_request_json={"summary": "Tap Send"},
                checkpoint_json={"session_id": "s1"},
            )
        )
    )
    question = Question(
        question_id="q-review",
        session_id="s1",
        text="Tap Send?",
        asked_ms=1,
        kind=QuestionKind.APPROVAL,
        options=(QuestionOption(label="Approve"), QuestionOption(label="Deny")),
        review=ReviewTicket(
            confirmation_id="c", job_id=7, tool="tap", params_digest="p", screen_digest="s"
        ),
    )
    core.tell(RequestUserInput(question=question), "s1")


async def test_a_review_is_read_and_answered_on_the_jobs_screen(console: Open) -> None:
    async with console(play=reviewed) as seat:
        await seat.press("3")
        jobs(seat).table.move_to("7")
        await seat.see("Tap Send?")
        card = jobs(seat).query_one("#job-card", QuestionCard)
        card.clock_s = lambda: 1e9
        await seat.press("a")
        assert seat.app.focused is card
        assert not any(isinstance(op, UserInputAnswer) for op in seat.core.ops)
        await seat.press("a")
        answers = [op for op in seat.core.ops if isinstance(op, UserInputAnswer)]
        assert [one.answer for one in answers] == ["Approve"]
        await seat.until(lambda: seat.app.focused is jobs(seat).table, "the list")


@pytest.mark.parametrize("width", [70, 120])
def test_a_time_of_hours_and_minutes_is_not_cut(width: int) -> None:
    at_ms = (23 * 3_600 + 59 * 60 + 58) * 1_000
    (row,) = job_rows([job(1, next_run_at=at_ms)], now_ms=0, width=width)
    assert "in 23:59:58 " in "".join(
        text for line in row.lines for part in line for text, _ in part
    )


def test_a_row_tells_the_notice_of_a_run_and_never_its_result() -> None:
    told = job(
        1, last_run_at=5, last_result="secret result", delivery_json={"notification_text": "Tea!"}
    )
    (row,) = job_rows([told], now_ms=10, width=140)
    shown = "".join(text for line in row.lines for part in line for text, _ in part)
    assert "Tea!" in shown
    assert "secret" not in shown
