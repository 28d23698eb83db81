"""A mistake anywhere in the console is logged and said, and the console goes on."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from textual.events import AppBlur
from textual.widgets import Input

from agent.protocol import Interrupt
from console.screens.history.history import HistoryScreen
from tests import headless
from tests.console.conftest import Open, Seat, select
from widgets.base.header_line import PartsLine
from widgets.base.row_list import RowList
from widgets.pictures.frame_view import FrameView
from widgets.transcript.transcript_view import TranscriptView
from widgets.wall.wall_view import WallView

SAID = "a slip"


def broken(*_: object, **__: object) -> Any:
    raise RuntimeError(SAID)


async def broken_later(*_: object, **__: object) -> None:
    raise RuntimeError(SAID)


async def expect_keys_work(
    seat: Seat, caplog: pytest.LogCaptureFixture, mend: pytest.MonkeyPatch
) -> None:
    """Expect that it is said and logged, and that once it is mended keys do what they did."""
    await seat.see(SAID)
    assert any(SAID in str(record.exc_info) for record in caplog.records if record.exc_info)
    mend.undo()
    seat.app.navigation.do_screen_deck()
    await select(seat, "s1")
    seat.core.ops.clear()
    await seat.press("x")
    await seat.until(lambda: Interrupt(session_id="s1") in seat.core.ops, "the key that stops")
    assert seat.app.is_running and not seat.app._exit
    # The next one is to be said again.
    caplog.clear()
    seat.app.clear_notifications()
    seat.app._said_s.clear()
    seat.app.errors.recent_s.clear()
    await seat.until(lambda: SAID not in seat.text(), "the notice being gone")


Inject = Callable[[Seat, pytest.MonkeyPatch], None]


def in_a_timer(seat: Seat, _patch: pytest.MonkeyPatch) -> None:
    seat.app.set_timer(0.01, broken)


def in_a_timer_of_a_widget(seat: Seat, _patch: pytest.MonkeyPatch) -> None:
    seat.deck.query_one(TranscriptView).set_timer(0.01, broken)


def in_a_callback_of_the_app(seat: Seat, _patch: pytest.MonkeyPatch) -> None:
    seat.app.call_later(broken)


def in_a_callback_of_a_plain_widget(seat: Seat, _patch: pytest.MonkeyPatch) -> None:
    seat.deck.query_one("#body").call_later(broken)


def after_a_refresh(seat: Seat, _patch: pytest.MonkeyPatch) -> None:
    seat.deck.call_after_refresh(broken)


def in_a_worker(seat: Seat, _patch: pytest.MonkeyPatch) -> None:
    seat.app.spawn(broken_later(), "working beside")


def in_a_worker_of_textuals(seat: Seat, _patch: pytest.MonkeyPatch) -> None:
    seat.deck.run_worker(broken_later(), name="bare")


def in_drawing_rows(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RowList, "render_line", broken)
    for rows in seat.deck.query(RowList):
        rows.refresh()


def in_rendering_a_line_of_parts(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PartsLine, "render", broken)
    for line in seat.deck.query(PartsLine):
        line.refresh(layout=True)


def in_drawing_the_picture(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FrameView, "render_lines", broken)
    seat.deck.query_one(FrameView).refresh()


def in_what_watches_a_value(seat: Seat, _patch: pytest.MonkeyPatch) -> None:
    seat.app.watch(seat.app, "app_focus", lambda has_focus: has_focus or broken(), init=False)
    seat.app.post_message(AppBlur())


def in_a_handler_of_the_screen(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(type(seat.deck.panes), "on_resize", broken)
    seat.deck.post_message(_resize())


def in_a_handler_of_the_app(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(type(seat.app), "on_tick", broken)
    seat.app.bridge.touch()


def _resize() -> Any:
    from textual.events import Resize
    from textual.geometry import Size

    return Resize(Size(160, 50), Size(160, 50))


IN_HANDLING: tuple[Inject, ...] = (
    in_a_timer,
    in_a_timer_of_a_widget,
    in_a_callback_of_the_app,
    in_a_callback_of_a_plain_widget,
    after_a_refresh,
    in_a_worker,
    in_a_worker_of_textuals,
    in_what_watches_a_value,
    in_a_handler_of_the_screen,
    in_a_handler_of_the_app,
)
IN_DRAWING: tuple[Inject, ...] = (
    in_drawing_rows,
    in_rendering_a_line_of_parts,
    in_drawing_the_picture,
)


@pytest.mark.parametrize("injected", [IN_HANDLING, IN_DRAWING], ids=["handling", "drawing"])
async def test_a_mistake_is_said_and_the_console_goes_on(
    console: Open, caplog: pytest.LogCaptureFixture, injected: tuple[Inject, ...]
) -> None:
    caplog.set_level(logging.ERROR)
    async with console() as seat:
        await select(seat, "s1")
        for inject in injected:
            with pytest.MonkeyPatch.context() as patch:
                inject(seat, patch)
                await expect_keys_work(seat, caplog, patch)


async def press_action(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(type(seat.deck.session_control), "do_session_pause", broken)
    patch.setattr(type(seat.app.controls), "do_app_theme", broken)
    await seat.app.action_act("app.theme")


async def open_wall(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(WallView, "on_mount", broken, raising=False)
    patch.setattr(headless, "known_handlers", {})
    await seat.press("2")


async def open_history(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(HistoryScreen, "compose_body", broken)
    await seat.press("4")


async def type_into_a_field(seat: Seat, patch: pytest.MonkeyPatch) -> None:
    await seat.press("4", "slash")
    patch.setattr(Input, "insert_text_at_cursor", broken)
    await seat.press("a")
    await seat.press("escape")


async def test_a_mistake_on_a_key_is_said_and_the_console_goes_on(
    console: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    async with console() as seat:
        await select(seat, "s1")
        for act in (press_action, open_wall, open_history, type_into_a_field):
            with pytest.MonkeyPatch.context() as patch:
                await act(seat, patch)
                await expect_keys_work(seat, caplog, patch)
