"""A press on a line of keys is for the key that was seen there."""

from time import monotonic

from textual.app import App, ComposeResult

from tests.widgets.lists.test_row_list import Clock
from widgets.base.action_line import ActionLine
from widgets.base.causality import Cause

PAUSE = ((" ", ""), ("x", ""), (" stop", ""), ("   p", ""), (" pause", ""))
RESUME = ((" ", ""), ("p", ""), (" resume", ""), ("   x", ""), (" stop 3 of 4", ""))
ANSWER = ((" ", ""), ("x", ""), (" stop", ""), ("   p", ""), (" answer", ""))
BY_PAUSE = {1: "x", 2: "x", 3: "p", 4: "p"}
BY_RESUME = {1: "p", 2: "p", 3: "x", 4: "x"}


class Desk(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.pressed: list[str] = []

    def compose(self) -> ComposeResult:
        yield ActionLine(clock_s=self.clock)

    def on_mount(self) -> None:
        with Cause(monotonic()).running():
            self.line.show_pressable(PAUSE, BY_PAUSE)

    @property
    def line(self) -> ActionLine:
        return self.query_one(ActionLine)

    def on_action_line_pressed(self, event: ActionLine.Pressed) -> None:
        self.pressed.append(event.name)


async def test_a_key_that_moves_under_the_pointer_takes_no_press_meant_for_another() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.line.show_pressable(RESUME, BY_RESUME)
        # Where x stood is p now, and where p stood x; neither is meant.
        await pilot.click(app.line, offset=(2, 0))
        await pilot.click(app.line, offset=(13, 0))
        assert app.pressed == []
        # A moment later it was seen where it is.
        app.clock.now_s += 1.0
        await pilot.click(app.line, offset=(2, 0))
        await pilot.click(app.line, offset=(13, 0))
        assert app.pressed == ["p", "x"]


async def test_a_key_that_does_something_else_since_a_moment_takes_no_press() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.line.show_pressable(ANSWER, BY_PAUSE)
        await pilot.click(app.line, offset=(10, 0))
        assert app.pressed == []
        # What stands beside it did not change.
        await pilot.click(app.line, offset=(2, 0))
        assert app.pressed == ["x"]
        # It changed elsewhere since, and not in this place.
        app.clock.now_s += 0.2
        app.line.show_pressable((*ANSWER, ("   n", "")), {**BY_PAUSE, 5: "n"})
        app.clock.now_s += 0.2
        await pilot.click(app.line, offset=(10, 0))
        assert app.pressed == ["x", "p"]


async def test_a_count_that_changes_keeps_no_press_away() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        with Cause(monotonic()).running():
            app.line.show_pressable(RESUME, BY_RESUME)
        app.line.show_pressable((*RESUME[:-1], (" stop 2 of 4", "")), BY_RESUME)
        await pilot.click(app.line, offset=(13, 0))
        assert app.pressed == ["x"]


async def test_what_the_operator_changed_is_pressed_where_it_is() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        with Cause(monotonic()).running():
            app.line.show_pressable(RESUME, BY_RESUME)
        await pilot.click(app.line, offset=(2, 0))
        assert app.pressed == ["p"]


async def test_the_second_press_of_a_double_click_is_for_the_key_of_the_first() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await pilot.click(app.line, offset=(2, 0), times=2)
        assert app.pressed == ["x", "x"]
        await pilot.click(app.line, offset=(10, 0))
        with Cause(monotonic()).running():
            app.line.show_pressable(RESUME, BY_RESUME)
        await pilot.click(app.line, offset=(10, 0), times=2)
        assert app.pressed == ["x", "x", "p"]
