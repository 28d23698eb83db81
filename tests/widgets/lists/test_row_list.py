"""A press on a list is for the row that was seen there."""

from time import monotonic

from textual.app import App, ComposeResult

from tests.console.waiting import wait_for
from widgets.base.causality import Cause
from widgets.base.rows import Line, Row
from widgets.lists.marking_list import MarkingList


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Desk(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield MarkingList(id="rows", clock_s=self.clock)

    def on_mount(self) -> None:
        self.rows.show_rows(rows("abcdefgh"))

    @property
    def rows(self) -> MarkingList:
        return self.query_one(MarkingList)

    def on_row_list_highlighted(self, event: MarkingList.Highlighted) -> None:
        if event.by_operator:
            self.chosen.append(event.key)

    def on_marking_list_marked(self, event: MarkingList.Marked) -> None:
        self.chosen.append(f"✔{event.key}")


def rows(keys: str) -> list[Row]:
    return [Row(key, (Line(((key, ""),)),)) for key in keys]


async def test_a_row_that_moves_under_the_pointer_takes_no_press_meant_for_another() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.rows.show_rows(rows("xabcdefgh"))
        await pilot.click(app.rows, offset=(3, 2))
        await pilot.click(app.rows, offset=(3, 4), control=True)
        # A moment later it was seen where it is.
        app.clock.now_s += 1.0
        await pilot.click(app.rows, offset=(3, 2))
        assert app.chosen == ["c", "✔e", "b"]


async def test_a_line_that_is_cut_behind_a_part_cut_before_has_one_ellipsis() -> None:
    app = Desk()
    async with app.run_test(size=(20, 5)):
        room = app.rows.text_width
        part = f"{'x' * (room - 2)}…"
        cut = Row("b", (Line(((part, ""), (" · of what", ""))),))
        app.rows.show_rows([*rows("a"), cut])
        assert app.rows.render_line(1).text.strip() == part


async def test_a_press_on_a_row_that_has_just_gone_is_for_no_other() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.rows.show_rows(rows("abdefgh"))
        await pilot.click(app.rows, offset=(3, 2))
        assert app.chosen == []


async def test_what_the_operator_moved_is_pressed_where_it_is() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        with Cause(monotonic()).running():
            app.rows.show_rows(rows("xabcdefgh"))
        await pilot.click(app.rows, offset=(3, 2))
        assert app.chosen == ["b"]


async def test_rows_are_where_the_cursor_is_in_the_first_picture_of_a_size() -> None:
    app = Desk()
    async with app.run_test(size=(40, 30)) as pilot:
        keys = [f"row {number}" for number in range(60)]
        app.rows.show_rows([Row(key, (Line(((key, ""),)),)) for key in keys])
        app.rows.move_to(keys[25])
        await pilot.pause()
        first: list[int] = []
        laid_out = app.screen.screen_layout_refresh_signal
        # Once it has drawn, and before anything is told of the new size.
        laid_out.subscribe(app.rows, lambda _: first.append(app.rows.scroll_offset.y), True)
        app.rows.styles.height = 10
        await wait_for(pilot, lambda: first, "the layout")
        at = keys.index(app.rows.cursor_key)
        assert all(line <= at < line + 10 for line in first)


async def test_sizes_in_between_do_not_move_rows() -> None:
    app = Desk()
    async with app.run_test(size=(40, 30)) as pilot:
        app.rows.show_rows(rows("abcdefghijkl"))
        app.rows.move_to("d")
        for height in (11, 2, 11):
            app.rows.styles.height = height
            await pilot.pause()
        assert app.rows.scroll_offset.y == 0
        # What the operator scrolled to stays.
        app.rows.styles.height = 6
        await pilot.pause()
        with Cause(monotonic()).running():
            app.rows.scroll_to(y=3, animate=False, immediate=True)
        for height in (2, 6):
            app.rows.styles.height = height
            await pilot.pause()
        assert app.rows.scroll_offset.y == 3
