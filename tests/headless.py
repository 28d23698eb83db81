"""Textual without a terminal, as tests drive it: at rest by its loop, drawn when looked at.

Textual's own pilot takes a process for idle that has used next to no CPU for 20 ms. That is a
poll at each key, and on a busy machine, or beside an animation, it never comes true. Here a
console is at rest as soon as its event loop has nothing left to do.

Without a terminal Textual still draws every change, up to sixty times a second, and throws the
picture away. Here the parts that changed are kept in mind and drawn by `look`.

Every app reads the same style sheets; here they are parsed once, and their rules are compared as
the objects that they are, without a call for each.

A selector is compared with the whole path to a widget, although most do not fit the widget itself;
here that is asked first. And the parameters of each callback are counted by its signature; here by
its code, where that says the same. The methods that hear a message are sought in every class of a
widget's at each message; here once for each kind of widget and message.

Textual keeps two colours for each widget that was drawn, and with them the widget's lines, for as
long as the process lives. Here they are kept for the colours alone.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any

import textual._callback
import textual.app
import textual.css.match
import textual.css.stylesheet
import textual.pilot
from textual._context import visible_screen_stack
from textual._styles_cache import StylesCache
from textual.app import App
from textual.color import Color
from textual.css.model import RuleSet, Selector
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Region
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.style import Style

_QUIET_TURNS = 3
"""How often the loop must find nothing to do: a task takes two turns to be woken by another."""
_TURNS = 5_000  # What never rests is looked at as it is.


async def at_rest(*_: object) -> None:
    """Let the loop work until nothing is left that could be done now."""
    ready = asyncio.get_running_loop()._ready  # type: ignore[attr-defined]
    quiet = 0
    for _turn in range(_TURNS):
        await asyncio.sleep(0)
        quiet = 0 if ready else quiet + 1
        if quiet == _QUIET_TURNS:
            return


_draw = Screen._compositor_refresh


def _draw_later(screen: Screen[Any]) -> None:
    """Draw a change, on a terminal; without one only note what lies under the mouse."""
    if screen.app.is_headless and screen is screen.app.screen:
        screen._dirty_widgets.clear()
        screen.app._update_mouse_over(screen)
    else:
        _draw(screen)


def look(app: App[Any]) -> None:
    """Draw what has changed since the last look; what cannot be drawn raises or is reported."""
    screen, compositor = app.screen, app.screen._compositor
    if not screen.is_running or app._batch_count or not compositor._dirty_regions:
        return
    changed = Region.from_union(list(compositor._dirty_regions))
    compositor._dirty_regions.clear()
    visible_screen_stack.set(app._background_screens)
    # The lines of each widget, without joining them to a picture.
    deque(compositor._get_renders(changed.intersection(compositor.size.region)), maxlen=0)


_parse = Stylesheet._parse_rules
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def _parse_once(sheet: Stylesheet, css: str, *places: Any, **more: Any) -> list[RuleSet]:
    key = (css, *places, *more.items(), *sheet._variables.items())
    if key not in _parsed:
        _parsed[key] = _parse(sheet, css, *places, **more)
    return _parsed[key]


matches_whole_path = textual.css.match._check_selectors
count_by_signature = textual._callback._count_parameters


def matches(selectors: list[Selector], path: list[DOMNode]) -> bool:
    """Return whether selectors fit the last node of a path."""
    return bool(selectors) and selectors[-1].check(path[-1]) and matches_whole_path(selectors, path)


def count_parameters(function: Callable[..., Any]) -> int:
    """Count the parameters of a function."""
    if type(function) is not FunctionType or function.__dict__:
        return count_by_signature(function)
    code = function.__code__
    more = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + more


_Handler = Callable[[Message], Awaitable[Any]]
seek_handlers = MessagePump._get_dispatch_methods
known_handlers: dict[tuple[type, type, str], list[tuple[type, str, Any]] | None] = {}
"""By the kinds of widget and message and the name of a method: what classes of the widget have, and
under which name. None where it depends on the widgets that a message is about. What a test replaces
is noticed; one that gives a class a handler where it had none puts an empty dict in its place."""


def handlers(widget: MessagePump, name: str, message: Message) -> Iterator[tuple[type, _Handler]]:
    """Yield the methods that hear a message, as `MessagePump._get_dispatch_methods`."""
    key = type(widget), type(message), name
    if key not in known_handlers:
        known_handlers[key] = _handlers_of(*key)
    listed = known_handlers[key]
    if listed is None or any(kind.__dict__.get(own) is not at for kind, own, at in listed):
        yield from seek_handlers(widget, name, message)
        return
    for kind, _, method in listed:
        if message._no_default_action:
            return
        yield kind, method.__get__(widget, kind)


def _handlers_of(widget: type, message: type, name: str) -> list[tuple[type, str, Any]] | None:
    listed: list[tuple[type, str, Any]] = []
    for kind in widget.__mro__:
        has = kind.__dict__
        decorated = has.get("_decorated_handlers", {})
        if any(one in decorated for one in message.__mro__):
            return None
        own = f"_{name}" if has.get(f"_{name}") else name
        method = has.get(own)
        if method is not None and not getattr(method, "_textual_on", None):
            listed.append((kind, own, method))
    return listed


_pair = StylesCache.get_inner_outer.__wrapped__


@lru_cache(1024)
def _colours(base: Color, background: Color) -> tuple[Style, Style]:
    return _pair(None, base, background)


def _inner_outer(_cache: StylesCache, base: Color, background: Color) -> tuple[Style, Style]:
    return _colours(base, background)


def install() -> None:
    """Have every app of this process rest and draw so."""
    textual.app.wait_for_idle = at_rest
    textual.pilot.wait_for_idle = at_rest
    Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]
    RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]
    Screen._compositor_refresh = _draw_later  # type: ignore[method-assign]
    textual.css.match._check_selectors = matches
    textual.css.stylesheet._check_selectors = matches
    textual._callback._count_parameters = count_parameters
    MessagePump._get_dispatch_methods = handlers  # type: ignore[method-assign,assignment]
    StylesCache.get_inner_outer = _inner_outer  # type: ignore[method-assign,assignment]
