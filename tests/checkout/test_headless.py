"""An app without a terminal: at rest when its loop is, drawn when looked at."""

import asyncio

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.strip import Strip
from textual.widgets import Static

from tests.headless import at_rest, look


class Counting(Static):
    """Counts how often it is drawn, and may fail at it."""

    drawn = 0
    fails = False

    def render_line(self, y: int) -> Strip:
        self.drawn += 1
        if self.fails:
            raise ValueError("it cannot be drawn")
        return Strip([Segment(f"drawn {self.drawn}")])


class OneWidget(App[None]):
    CSS = "Counting { width: 20; height: 1; }"

    def compose(self) -> ComposeResult:
        yield Counting()


async def test_what_changes_often_is_drawn_once_when_it_is_looked_at() -> None:
    app = OneWidget()
    async with app.run_test() as pilot:
        look(app)
        counting = app.query_one(Counting)
        before = counting.drawn
        for _ in range(20):
            counting.refresh()
            await pilot.pause()
        assert counting.drawn == before
        look(app)
        assert counting.drawn == before + 1
        look(app)
        assert counting.drawn == before + 1, "nothing has changed since"


async def test_a_widget_that_cannot_be_drawn_fails_the_look() -> None:
    app = OneWidget()
    async with app.run_test() as pilot:
        counting = app.query_one(Counting)
        counting.fails = True
        counting.refresh()
        await pilot.pause()
        with pytest.raises(ValueError, match="cannot be drawn"):
            look(app)
        counting.fails = False


async def test_rest_comes_after_everything_that_was_begun() -> None:
    done: list[int] = []

    async def step(left: int) -> None:
        await asyncio.sleep(0)
        done.append(left)
        if left:
            await asyncio.create_task(step(left - 1))

    begun = asyncio.create_task(step(50))
    await at_rest()
    assert begun.done()
    assert done == list(range(50, -1, -1))
