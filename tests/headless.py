"""Textual without a terminal, as tests drive it: at rest by its loop, drawn when looked at.

Textual's own pilot takes a process for idle that has used next to no CPU for 20 ms. That is a
poll at each key, and on a busy machine, or beside an animation, it never comes true. Here a
console is at rest as soon as its event loop has nothing left to do.

Without a terminal Textual still draws every change, up to sixty times a second, and throws the
picture away. Here the parts that changed are kept in mind and drawn by `look`.

Every app reads the same style sheets; here they are parsed once, and their rules are compared as
the objects that they are, without a call for each.

Textual keeps two colours for each widget that was drawn, and with them the widget's lines, for as
long as the process lives. Here they are kept for the colours alone.
"""

import asyncio
from collections import deque
from functools import lru_cache
from typing import Any

import textual.app
import textual.pilot
from textual._context import visible_screen_stack
from textual._styles_cache import StylesCache
from textual.app import App
from textual.color import Color
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region
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
    StylesCache.get_inner_outer = _inner_outer  # type: ignore[method-assign,assignment]
