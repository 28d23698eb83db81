"""An app without a terminal: at rest when its loop is, drawn when looked at."""

import asyncio
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import pytest
from rich.segment import Segment
from textual import events, on
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.css.parse import parse_selectors
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Button, Input, Static

from tests.headless import (
    at_rest,
    count_by_signature,
    count_parameters,
    handlers,
    look,
    matches,
    matches_whole_path,
    seek_handlers,
)


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


class Tree(App[None]):
    def compose(self) -> ComposeResult:
        with Vertical(classes="a"):
            yield Static("x", id="two", classes="b")
            with Vertical(id="one"):
                yield Static("y", classes="a b")
                yield Button("z")


SELECTORS = (
    *("*", "Static", ".a", ".b", "#one", "Vertical Static", "Vertical > Static", "Screen .a .b"),
    *("Vertical .a", "Vertical > .a.b", ".a > .b", "Screen > Static", "#one Static"),
    *("Button:focus", "Static:first-child", "Vertical:hover Static", ".a Static.b"),
    *("App Screen Vertical #two", "Vertical Vertical", "Button, Static.a"),
)


async def test_a_selector_fits_what_it_fits_by_the_whole_path() -> None:
    app = Tree()
    async with app.run_test():
        came = set()
        for text in SELECTORS:
            for one in parse_selectors(text):
                for node in (app, app.screen, *app.screen.walk_children()):
                    asked = one.selectors, node.css_path_nodes
                    assert matches(*asked) is matches_whole_path(*asked), (text, node)
                    came.add(matches(*asked))
        assert came == {True, False}


class Called:
    def method(self, one: int, *, two: int = 0) -> None: ...

    def __call__(self, one: int) -> None: ...


def many(one: int, *rest: int, two: int = 0, **more: int) -> None: ...


@wraps(many)
def hides() -> None: ...


def test_as_many_parameters_are_counted_as_a_signature_has() -> None:
    functions: list[Callable[..., Any]] = [
        *(Called().method, Called.method, Called(), Called, many, hides, partial(many, 1), len),
        *(lambda: None, lambda one, /, two, *three: one),
    ]
    wrong = [one for one in functions if count_parameters(one) != count_by_signature(one)]
    assert wrong == []


class Hears(Button):
    def on_key(self, event: events.Key) -> None: ...

    @on(events.Click)
    def on_click_of_any(self) -> None: ...

    async def _on_mount(self, event: events.Mount) -> None: ...


class HearsMore(Hears):
    def on_key(self, event: events.Key) -> None:
        event.prevent_default()

    def on_click(self, event: events.Click) -> None: ...


class Hearing(App[None]):
    def compose(self) -> ComposeResult:
        yield HearsMore("a", id="one")
        yield Hears("b", id="two")
        yield Input()

    @on(Button.Pressed, "#one")
    def on_one(self) -> None: ...

    def on_button_pressed(self, event: Button.Pressed) -> None: ...


def heard_by(seek: Any, widget: Any, name: str, message: Message) -> list[tuple[type, str]]:
    """List what hears a message; a handler may be told apart by its class and name."""
    found = []
    for kind, method in seek(widget, name, message):
        found.append((kind, method.__qualname__))
        if method.__qualname__ == "HearsMore.on_key":
            method(message)
    message._no_default_action = False
    return found


async def test_what_hears_a_message_is_what_is_found_by_seeking_in_every_class() -> None:
    app = Hearing()
    async with app.run_test():
        one, two = app.query_one("#one", Hears), app.query_one("#two", Hears)
        click = events.Click(one, 0, 0, 0, 0, 1, False, False, False)
        messages: list[Message] = [
            *(events.Key("a", "a"), events.Mount(), events.Idle(), events.Focus(), click),
            *(Button.Pressed(one), Button.Pressed(two), Input.Changed(app.query_one(Input), "a")),
        ]
        for message in messages:
            message._sender = one
        widgets: list[App[None] | Widget] = [app, app.screen, *app.screen.walk_children()]
        came = 0
        for _ in range(2):
            for widget in widgets:
                for message in messages:
                    asked = widget, message.handler_name, message
                    sought = heard_by(seek_handlers, *asked)
                    assert heard_by(handlers, *asked) == sought, (widget, message)
                    came += len(sought)
        key = heard_by(handlers, one, "on_key", messages[0])
        assert [name for _, name in key] == ["HearsMore.on_key"], "the rest was prevented"
        assert came > 40
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Hears, "_on_mount", HearsMore.on_click)
            mount = one, "on_mount", messages[1]
            assert (Hears, "HearsMore.on_click") in heard_by(handlers, *mount)
