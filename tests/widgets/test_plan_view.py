"""The plan over a transcript: as many lines as it may have, each under its own beginning."""

from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.pilot import Pilot

from agent.records import PlanItem, PlanStatus
from tests.console.waiting import wait_for
from widgets.base.status import ASKS
from widgets.transcript.plan_view import PlanView

LONG = "Send “I will be ten minutes late” to Ben, who waits at the station in the rain"


class Desk(App[None]):
    def compose(self) -> ComposeResult:
        with Vertical():
            yield PlanView(id="plan")

    def drawn(self) -> list[str]:
        strips = self.screen._compositor.render_strips()
        plan = self.query_one(PlanView)
        lines = strips[plan.region.y : plan.region.bottom]
        return [strip.text.rstrip() for strip in lines if strip.text.strip()]


async def _drawn(pilot: Pilot[None], app: Desk, first: str) -> list[str]:
    await wait_for(pilot, lambda: app.drawn() and app.drawn()[0].startswith(first), "the plan")
    return app.drawn()


async def test_the_item_that_is_worked_on_goes_on_under_its_own_beginning() -> None:
    app = Desk()
    async with app.run_test(size=(40, 20)) as pilot:
        plan = (
            PlanItem(step=LONG, status=PlanStatus.COMPLETED),
            PlanItem(step=LONG, status=PlanStatus.IN_PROGRESS),
            PlanItem(step="Go home", status=PlanStatus.PENDING),
        )
        app.query_one(PlanView).show_plan(plan)
        first, second, third, last = await _drawn(pilot, app, " plan ✓ Send")
        assert first.endswith("…"), "what is done has one line"
        assert second.startswith(" 1/3  ▸ Send")
        assert third.startswith("        "), "under its own beginning"
        assert third.strip()
        assert third.endswith("…")
        assert last.strip() == "○ Go home"
        await pilot.resize_terminal(120, 20)
        await wait_for(pilot, lambda: "rain" in app.drawn()[0], "the wider plan")
        assert len(app.drawn()) == 3


async def test_the_word_of_a_part_stays_whole_beside_a_long_goal() -> None:
    app = Desk()
    async with app.run_test(size=(40, 20)) as pilot:
        app.query_one(PlanView).show_parts_of([(ASKS, LONG)] * 9)
        lines = await _drawn(pilot, app, " subtasks ? Send")
        assert all(line.endswith("asks you") for line in lines[:7])
        assert lines[7].strip() == "… 2 more"
