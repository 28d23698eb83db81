"""How input reaches the phone: gestures with real durations, keys, text, and system swipes.

The rules are in `touch` and `keys`; here is what they act on. Invariant: a coroutine returns when
its gesture has been delivered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from virtual_phone.core import MOVE_STEP_S, TAP_S
from virtual_phone.display.scene import Scene, Surface
from virtual_phone.display.scroll_cache import rescroll
from virtual_phone.errors import PhoneError
from virtual_phone.input import keys
from virtual_phone.input.touch import EDGE_DP, LONG_PRESS_S, Touch
from virtual_phone.services import Services
from virtual_phone.state.records import PageState
from virtual_phone.timing import Timing
from virtual_phone.ui.bind import field_state, find, path_to
from virtual_phone.ui.views import Kind, View

SOON_S = 1e-6
"""What is less is no time: a clock may not be able to tell it."""


class Gestures(Services):
    """Take input in display pixels and key codes."""

    def __init__(
        self,
        home: Path,
        *,
        name: str,
        seed: int,
        clock: Callable[[], float],
        timing: Timing | None = None,
    ) -> None:
        super().__init__(home, name=name, seed=seed, clock=clock, timing=timing)
        self._touch = Touch(self)
        self._scrolls: dict[int, tuple[Scene, PageState, str]] = {}
        """By display: the scene that differs from what is shown by one view's scrolling alone."""

    def scrolled(self, display: int, page: PageState, key: str) -> None:
        """Note that a view of a page was scrolled, and nothing else happened."""
        before = self._scrolls.get(display)
        scene = self._scenes.get(display)
        if before is not None and before[1] is page and before[2] == key:
            scene = scene or before[0]
        elif scene is not None and scene.scrolled is not None:
            # Else scenes would hang on one another while a hand goes from list to list.
            scene = replace(scene, scrolled=None)
        self.invalidate()
        if scene is not None:
            self._scrolls[display] = (scene, page, key)

    def _forget_scenes(self) -> None:
        super()._forget_scenes()
        self._scrolls.clear()

    def scene(self, display: int = 0) -> Scene:
        """Return the current scene of a display, built or moved when something changed since."""
        _ = self.frame_version
        scrolled = self._scrolls.get(display)
        if scrolled is not None and display not in self._scenes:
            moved = rescroll(*scrolled)
            if moved is not None:
                self._scenes[display] = moved
        return super().scene(display)

    def scene_to_draw(self, display: int = 0) -> Scene:
        """Return what a picture of a display is made from; not for looking up what stands where."""
        _ = self.frame_version
        scrolled = self._scrolls.get(display)
        if scrolled is None or display in self._scenes:
            return self.scene(display)
        return rescroll(*scrolled, for_picture=True) or self.scene(display)

    async def tap(self, x: float, y: float, display: int = 0) -> None:
        """Tap a point in display pixels."""
        self._touch.down(0, x, y, display, stays=False)
        await self.timing.sleep(TAP_S)
        self._touch.up(0, x, y, display)

    def react(self, clicks: Callable[[Callable[[], None]], None]) -> None:
        """Set how a click takes effect from now on; the hook gets what would be done at once."""
        self._touch.clicks = clicks

    async def long_press(self, x: float, y: float, duration_ms: int, display: int = 0) -> None:
        """Hold a finger on a point."""
        self._touch.down(0, x, y, display)
        await self.timing.sleep(max(duration_ms, 0) / 1000)
        self._touch.up(0, x, y, display)

    @property
    def touched(self) -> bool:
        """Whether a finger is on the panel."""
        return self._touch.touched

    async def swipe(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        duration_ms: int,
        display: int = 0,
        *,
        throws: bool = True,
    ) -> None:
        """Move a finger in a straight line, taking `duration_ms`.

        Args:
            throws: whether it is lifted in motion, so that what it scrolled glides on.
        """
        now = self.timing.monotonic
        self._touch.down(0, x1, y1, display, stays=duration_ms >= LONG_PRESS_S * 1000)
        start, length = now(), max(duration_ms, 1) / 1000
        while (left := start + length - now()) > SOON_S:
            await self.timing.sleep(min(MOVE_STEP_S, left))
            part = min(1.0, (now() - start) / length)
            self._touch.move(0, x1 + (x2 - x1) * part, y1 + (y2 - y1) * part, display)
        # Of the two ends, as when its moves came tells how busy the machine is.
        self._touch.up(0, x2, y2, display, speed=(y2 - y1) / length if throws else 0.0)

    async def touch(
        self, action: str, pointer_id: int, x: float, y: float, display: int = 0
    ) -> None:
        """Do one step of a gesture: `down`, `move`, `up` or `cancel` of one finger.

        Raises:
            PhoneError: the action is none of these.
        """
        self.finger(action, pointer_id, x, y, display)

    def finger(self, action: str, pointer_id: int, x: float, y: float, display: int = 0) -> None:
        """Do one step of a gesture at once, as `touch` does."""
        match action:
            case "down":
                self._touch.down(pointer_id, x, y, display)
            case "move":
                self._touch.move(pointer_id, x, y, display)
            case "up":
                self._touch.up(pointer_id, x, y, display)
            case "cancel":
                self._touch.cancel(pointer_id, display)
            case _:
                raise PhoneError(f"Unknown touch action {action}.", "Use down, move, up or cancel.")

    async def scroll(self, x: float, y: float, dy: float, display: int = 0) -> None:
        """Turn a mouse wheel over a point; positive `dy` shows what is above, in pixels."""
        self._touch.scroll_wheel(x, y, dy, display)

    async def key(self, keycode: int, *, long_press: bool = False, meta: int = 0) -> bool:
        """Press and release a key; `meta` as in KeyEvent. Return whether it did anything."""
        self.text_tools = None
        return keys.press(self, keycode, long_press=long_press, meta=meta)

    async def type_text(self, text: str) -> bool:
        """Type text into the focused field; return False when no field has the focus."""
        return keys.type_text(self, text)

    def type_key(self, text: str) -> None:
        """Type what a soft key shows."""
        keys.type_text(self, text)

    def press_key(self, keycode: int) -> None:
        """Press a key of the soft keyboard."""
        keys.press(self, keycode)

    def press(self, key: str) -> None:
        """Show a view as pressed; the empty key shows none."""
        if not key and self._pressed is None:
            return
        surface_page = self._touched_page(key) if key else None
        self._pressed = (surface_page, key) if surface_page is not None else None
        self._forget_scenes()

    def _touched_page(self, key: str) -> PageState | None:
        for scene in self._scenes.values():
            for surface in reversed(scene.surfaces):
                if find(surface.root, key) is not None:
                    return surface.page
        return None

    def pressed_in(self, page: PageState) -> str:
        """Return the key of the view that is pressed on a page."""
        return self._pressed[1] if self._pressed and self._pressed[0] is page else ""

    def focus_view(self, surface: Surface, view: View, *, keyboard: bool) -> None:
        """Focus a view; a text field also shows the keyboard."""
        surface.page.focus = view.key
        self.text_tools = None
        if view.kind is Kind.FIELD:
            field_state(surface.page, view)
        self.state_record.keyboard_shown = keyboard and view.kind is Kind.FIELD
        self.invalidate()
        self._reveal(surface.page, view.key)

    def offer_text_tools(self, page: PageState) -> None:
        """Show cut, copy and paste over the field that has the focus."""
        self.text_tools = page
        self.invalidate()

    def use_text_tool(self, keycode: int, meta: int) -> None:
        """Do what a button of the bar over selected text says."""
        page, self.text_tools = self.text_tools, None
        keys.press(self, keycode, meta=meta)
        if meta:
            self.text_tools = page

    def _reveal(self, page: PageState, key: str) -> None:
        """Scroll what has the focus into view, as the keyboard may have come up over it."""
        surface = self.scene().surface_of(page)
        path = path_to(surface.root, key) if surface is not None else []
        if not path:
            return
        box = path[-1].rect
        for view in reversed(path[:-1]):
            if not view.scrolls or view.reverse or view.clip.empty:
                continue
            below = min(box.bottom - view.clip.bottom, box.top - view.clip.top)
            step = below if below > 0 else min(0, box.top - view.clip.top)
            if step:
                at = page.scroll.get(view.key, view.scroll_y)
                page.scroll[view.key] = min(max(at + step, 0), view.scroll_range)
                self.invalidate()
            return

    def gesture_zone(self, scene: Scene, x: float, y: float) -> str:
        """Return which edge a touch starts at, if system gestures start there."""
        from virtual_phone.display.overlays import nav_dp
        from virtual_phone.system.bars import STATUS_DP

        if scene.display != 0:
            return ""
        m = scene.metrics
        if y < m.px(STATUS_DP) and not self.shade:
            return "top"
        if self.locked or self.settings.get("secure", "navigation_mode") == "0":
            return ""
        if y >= scene.height - m.px(nav_dp(self)):
            return "bottom"
        if x < m.px(EDGE_DP):
            return "left"
        return "right" if x >= scene.width - m.px(EDGE_DP) else ""

    def navigate(self, name: str) -> None:
        """Do what a button of the navigation bar does."""
        self.system_gesture(name)

    def system_gesture(self, name: str) -> bool:
        """Do `back`, `home`, `recents`, `drawer`, `shade` or `quick_settings`."""
        match name:
            case "back":
                return self._back()
            case "home":
                self._went_home()
            case "recents" | "drawer":
                self._went_home()
                top = self.activities.top()
                if top is not None:
                    top[1].local["mode"] = name
                self.invalidate()
            case "shade" | "quick_settings":
                self.shade = "notifications" if name == "shade" else name
                self.state_record.keyboard_shown = False
                self.transition()
                self.invalidate()
            case _:
                return False
        return True

    def _back(self) -> bool:
        if self.keyboard_shown:
            self.hide_keyboard()
            return True
        surface = self.scene().focused()
        if surface is None:
            return False
        if surface.on_back is not None:
            handled = False

            def act() -> None:
                nonlocal handled
                handled = bool(surface.on_back and surface.on_back())

            self.run(act, surface)
            if handled:
                return True
        if self.activities.task_of(surface.page) is None:
            return False
        self.activities.finish(surface.page)
        self._left_page()
        return True
