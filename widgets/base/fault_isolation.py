"""Isolate faults of widgets: an exception becomes a message, and the message pump continues.

Textual ends the message pump of a widget whose handler raised, and the app with it. Invariants: an
error in drawing, layout or handling never takes down the screen or the app, and is never swallowed:
`WidgetFailed` bubbles to the app, which logs and shows it; effects of a key are tracked through
every widget (`widgets.base.causality`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.visual import Visual, visualize

from widgets.base import causality, deferred_layout
from widgets.base.causality import Cause

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode
    from textual.widget import Widget

    _Drawn = Widget
    _Run = App[Any]
else:
    _Drawn = _Run = object

_log = logging.getLogger(__name__)


class WidgetFailed(Message):
    """A widget raised."""

    def __init__(self, error: Exception, where: str) -> None:
        super().__init__()
        self.error = error
        self.where = where


class FaultIsolated(_Drawn):
    """Isolate a widget's faults. Put it before the widget class.

    Not a widget itself: Textual takes the default styles of the first base that is one.
    """

    drawing_broke = False  # Whether drawing it failed, which is said once.

    async def _dispatch_message(self, message: Message) -> None:
        with causality.dispatching(message):
            try:
                await super()._dispatch_message(message)
            except Exception as error:
                _tell(self, error, f"on {type(message).__name__}")

    def post_message(self, message: Message) -> bool:
        causality.posted(self, message)
        return super().post_message(message)

    def call_next(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        super().call_next(causality.with_cause(callback, *args, **kwargs))

    def _render(self) -> Visual:
        # Also asked for how much room it takes: one that raised would keep all from being laid out.
        try:
            return super()._render()
        except Exception as error:
            _tell_once(self, error)
            return visualize(self, "", markup=False)

    def render_lines(self, crop: Region) -> list[Strip]:
        try:
            return super().render_lines(crop)
        except Exception as error:
            _tell_once(self, error)
            return [Strip.blank(crop.width)] * crop.height


def _tell_once(widget: FaultIsolated, error: Exception) -> None:
    # Drawing repeats at every refresh; once is enough to know.
    if not widget.drawing_broke:
        widget.drawing_broke = True
        _tell(widget, error, "while drawing")


def is_leaving(widget: Widget) -> bool:
    """Return whether a widget is being taken away, or what it is in, or has been."""
    nodes = widget.ancestors_with_self
    return any(node._pruning or node._closing for node in nodes) or not widget.is_attached


def _tell(widget: Widget, error: Exception, doing: str) -> None:
    if is_leaving(widget):
        # What it would have shown is gone, and so is what it looked for.
        _log.debug("%s, which is leaving, %s: %s", type(widget).__name__, doing, error)
        return
    widget.app.post_message(WidgetFailed(error, f"{type(widget).__name__} {doing}"))


def isolate_faults(widget: Widget) -> None:
    """Isolate the faults of a widget that is not `FaultIsolated`, such as Textual's own, or
    that draws its own lines.
    """
    kind: Any = type(widget)
    guarded: Any = widget
    if not isinstance(widget, FaultIsolated):

        async def dispatch(message: Message) -> None:
            with causality.dispatching(message):
                try:
                    await kind._dispatch_message(widget, message)
                except Exception as error:
                    _tell(widget, error, f"on {type(message).__name__}")

        def post(message: Message) -> bool:
            causality.posted(widget, message)
            return bool(kind.post_message(widget, message))

        def call_next(callback: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
            kind.call_next(widget, causality.with_cause(callback, *args, **kwargs))

        guarded._dispatch_message = dispatch
        guarded.post_message = post
        guarded.call_next = call_next
    if kind.render_lines is not FaultIsolated.render_lines:
        has_broken = False

        def lines(crop: Region) -> list[Strip]:
            nonlocal has_broken
            try:
                drawn: list[Strip] = kind.render_lines(widget, crop)
            except Exception as error:
                if not has_broken:
                    has_broken = True
                    _tell(widget, error, "while drawing")
                return [Strip.blank(crop.width)] * crop.height
            return drawn

        guarded.render_lines = lines


class FaultIsolatedApp(_Run):
    """Isolate the faults of an app and all its widgets. Put it before the app class."""

    open_cause: Cause | None = None  # The newest key's, until what it caused is over.

    def follow(self, cause: Cause | None) -> None:
        """Attribute layout and drawing to a cause from now on; None ends that."""
        self.open_cause = cause

    @contextmanager
    def in_open_cause(self) -> Iterator[None]:
        """Attribute the block's work to the open cause, if it has no other."""
        cause = self.open_cause
        if cause is None or cause.is_over or causality.current() is not None:
            yield
            return
        with cause.running():
            yield

    def lay_out(self) -> bool:
        """Lay the screen out; return whether there was anything to do."""
        return deferred_layout.bring_up_to_date(self)

    def _register_child(
        self, parent: DOMNode, child: Widget, before: int | None, after: int | None
    ) -> None:
        isolate_faults(child)
        if isinstance(child, Screen):
            deferred_layout.follow(child, self.in_open_cause)
        super()._register_child(parent, child, before, after)

    def post_message(self, message: Message) -> bool:
        causality.posted(self, message)
        return super().post_message(message)

    def call_next(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        super().call_next(causality.with_cause(callback, *args, **kwargs))

    async def _dispatch_message(self, message: Message) -> None:
        with causality.dispatching(message):
            await self._dispatch_sturdily(message)

    async def _dispatch_sturdily(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            # Textual would end the app's pump, and with it every key.
            self._handle_exception(error)
