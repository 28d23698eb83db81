"""Fingers on the screen: from down, move and up to taps, long presses, scrolls and system swipes.

Works on the current scene; not drawing and not app logic. Invariant: content
moves exactly as far as the finger did, and glides on only where the finger was lifted in motion.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from virtual_phone.display.scene import Surface
from virtual_phone.input import caret, editing
from virtual_phone.input.fling import Glide, Trail, glide_of
from virtual_phone.timing import Timer
from virtual_phone.ui.bind import field_state, path_at
from virtual_phone.ui.views import Kind, View

if TYPE_CHECKING:
    from virtual_phone.phone import Phone

SLOP_DP = 8
LONG_PRESS_S = 0.5
TAP_TIMEOUT_S = 0.1
"""How long a finger rests on what scrolls until it counts as a press (ViewConfiguration)."""
EDGE_DP = 18
SWIPE_DP = 30


@dataclass(slots=True)
class _Finger:
    display: int
    x: float
    y: float
    last_x: float
    last_y: float
    zone: str
    surface: Surface | None
    trail: Trail
    path: list[View] = field(default_factory=list)
    moved: bool = False
    done: bool = False
    """It has been used up: by a long press, a system swipe or a second finger."""
    stopped: bool = False
    """It went down on what was gliding and held it, so that it presses nothing."""
    scroller: View | None = None
    travel: float = 0
    dragging: View | None = None
    timers: list[Timer] = field(default_factory=list)


class Touch:
    """Follow the fingers on one phone's displays."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone
        self._fingers: dict[tuple[int, int], _Finger] = {}
        self._glides: dict[tuple[int, str], Glide] = {}
        """By display and the key of what glides there."""
        self.clicks: Callable[[Callable[[], None]], None] = lambda click: click()
        """How a click takes effect: at once, unless the panel is worn or the app slow."""

    @property
    def touched(self) -> bool:
        """Whether a finger is on the panel."""
        return bool(self._fingers)

    @property
    def gliding(self) -> bool:
        """Whether content of any display still moves after a swipe."""
        return bool(self._glides)

    def stop_gliding(self) -> None:
        """Let all content stay where it is, as when another page comes."""
        for glide in list(self._glides.values()):
            glide.stop()

    def cancel_all(self) -> None:
        """Forget every finger, as when the screen turns off."""
        self.stop_gliding()
        for finger in self._fingers.values():
            self._stop_timer(finger)
        self._fingers.clear()
        self._phone.pressed.show("")

    def down(
        self, pointer: int, x: float, y: float, display: int = 0, *, stays: bool = True
    ) -> None:
        """Put a finger down at a point in display pixels.

        Args:
            stays: whether it may stay long enough for a long press; a tap never does, however
                busy the machine is meanwhile.
        """
        scene = self._phone.compositor.scene(display)
        if scene.off:
            return
        self._phone.displays.bring_to_top(display)
        self._phone.power.note_use()
        others = [f for (d, _), f in self._fingers.items() if d == display]
        surface = scene.surface_at(x, y)
        zone = self._phone.navigation.zone(scene, x, y)
        trail = Trail(y, self._phone.timing)
        finger = _Finger(display, x, y, x, y, zone, surface, trail)
        self._fingers[display, pointer] = finger
        if others:
            for other in [*others, finger]:
                self._stop_timer(other)
                other.done = True
            self._phone.pressed.show("")
            return
        if surface is None:
            return
        finger.path = path_at(surface.root, x, y)
        for view in finger.path:
            glide = self._glides.get((display, view.key)) if view.scrolls else None
            if glide is not None:
                glide.stop()
                finger.stopped = True
        if finger.stopped:
            return
        self._show_pressed(finger)
        slide = next((v for v in reversed(finger.path) if v.kind is Kind.SLIDER), None)
        if slide is not None:
            finger.dragging = slide
        if stays:
            self._later(finger, LONG_PRESS_S, self._long_press)

    def _show_pressed(self, finger: _Finger) -> None:
        """Show what the finger is on as pressed: at once, or where it may scroll, if it rests."""
        target = self._target(finger)
        if target is None or target.kind is Kind.FIELD:
            return
        key = target.key
        if self._scroller(finger) is None:
            self._phone.pressed.show(key)
        else:
            self._later(finger, TAP_TIMEOUT_S, lambda _: self._phone.pressed.show(key))

    def _later(self, finger: _Finger, delay_s: float, call: Callable[[_Finger], None]) -> None:
        """Call something if the finger stays where it is; not where no loop runs."""
        timer = self._phone.timing.later(delay_s, lambda: call(finger))
        if timer is not None:
            finger.timers.append(timer)

    def move(self, pointer: int, x: float, y: float, display: int = 0) -> None:
        finger = self._fingers.get((display, pointer))
        if finger is None:
            return
        dx, dy = x - finger.last_x, y - finger.last_y
        finger.last_x, finger.last_y = x, y
        if dx or dy:
            finger.trail.add(y)
        if finger.done:
            return
        if not finger.moved:
            slop = self._phone.compositor.scene(display).metrics.px(SLOP_DP)
            if max(abs(x - finger.x), abs(y - finger.y)) <= slop:
                return
            finger.moved = True
            self._stop_timer(finger)
            self._phone.pressed.show("")
            dx, dy = x - finger.x, y - finger.y
            if self._claim_system(finger, dx, dy):
                return
            if finger.dragging is None and abs(dy) >= abs(dx):
                finger.scroller = self._scroller(finger)
        if finger.zone.startswith("claimed"):
            return
        if finger.dragging is not None:
            self._drag(finger, x)
        elif finger.scroller is not None and finger.surface is not None:
            self._scroll(finger, dy)

    def up(
        self, pointer: int, x: float, y: float, display: int = 0, *, speed: float | None = None
    ) -> None:
        """Lift a finger.

        Args:
            speed: how fast it moved down the screen in pixels per second, if that is known better
                than from when its moves came.
        """
        self.move(pointer, x, y, display)
        finger = self._fingers.pop((display, pointer), None)
        if finger is None:
            return
        self._stop_timer(finger)
        self._phone.pressed.show("")
        if finger.done:
            return
        if finger.zone.startswith("claimed"):
            self._finish_system(finger, x, y)
        elif finger.moved:
            if not self._swiped(finger, x, y):
                self._throw(finger, finger.trail.speed() if speed is None else speed)
        elif not finger.stopped:
            self.clicks(lambda: self._click(finger))

    def cancel(self, pointer: int, display: int = 0) -> None:
        """Give up a finger's gesture without an effect."""
        finger = self._fingers.pop((display, pointer), None)
        if finger is not None:
            self._stop_timer(finger)
            self._phone.pressed.show("")

    def scroll_wheel(self, x: float, y: float, dy: float, display: int = 0) -> None:
        """Scroll what is under a point by `dy` pixels, as a mouse wheel does."""
        surface = self._phone.compositor.scene(display).surface_at(x, y)
        if surface is None:
            return
        trail = Trail(y, self._phone.timing)
        finger = _Finger(display, x, y, x, y, "", surface, trail, path_at(surface.root, x, y))
        finger.scroller = self._scroller(finger)
        if finger.scroller is not None:
            self._scroll(finger, dy)

    def _stop_timer(self, finger: _Finger) -> None:
        for timer in finger.timers:
            timer.cancel()
        finger.timers.clear()

    def _target(self, finger: _Finger) -> View | None:
        for view in reversed(finger.path):
            if (view.acts or view.on_long_click is not None) and view.clickable is not False:
                return view
        return None

    def _scroller(self, finger: _Finger) -> View | None:
        for view in reversed(finger.path):
            if view.scrolls and view.scroll_range > 0:
                return view
        return None

    def _scroll(self, finger: _Finger, dy: float) -> None:
        view, surface = finger.scroller, finger.surface
        if view is None or surface is None:
            return
        finger.travel += dy
        whole = int(finger.travel)
        if not whole:
            return
        finger.travel -= whole
        before = surface.page.scroll.get(view.key, view.scroll_y)
        step = whole if view.reverse else -whole
        after = min(max(before + step, 0), view.scroll_range)
        if after != before:
            surface.page.scroll[view.key] = after
            self._phone.compositor.scrolled(finger.display, surface.page, view.key)

    def _throw(self, finger: _Finger, speed: float) -> None:
        view, surface, display = finger.scroller, finger.surface, finger.display
        if view is None or surface is None:
            return
        far, length_s = glide_of(speed, self._phone.compositor.scene(display).metrics.scale)
        key, page, limit = view.key, surface.page, view.scroll_range
        start = page.scroll.get(key, view.scroll_y)
        if not far or start == (limit if (far > 0) == view.reverse else 0):
            return

        def move(way: int) -> bool:
            after = start + (way if view.reverse else -way)
            inside = min(max(after, 0), limit)
            if page.scroll.get(key, start) != inside:
                page.scroll[key] = inside
                self._phone.compositor.scrolled(display, page, key)
            return after == inside

        def over() -> None:
            self._glides.pop((display, key), None)

        glide = self._glides[display, key] = Glide(far, length_s, move, over, self._phone.timing)
        glide.begin()

    def _drag(self, finger: _Finger, x: float) -> None:
        view = finger.dragging
        if view is None or view.on_value is None or finger.surface is None:
            return
        value = min(max((x - view.rect.left) / max(1, view.rect.width), 0.0), 1.0)
        change = view.on_value
        self._phone.run(lambda: change(value), finger.surface)

    def _claim_system(self, finger: _Finger, dx: float, dy: float) -> bool:
        """Take a swipe that starts at an edge for the system, if it goes the right way."""
        zone = finger.zone
        vertical = abs(dy) > abs(dx)
        if (
            (zone == "bottom" and vertical and dy < 0)
            or (zone == "top" and vertical and dy > 0)
            or (zone == "left" and not vertical and dx > 0)
            or (zone == "right" and not vertical and dx < 0)
        ):
            finger.zone = f"claimed {zone}"
            return True
        return False

    def _finish_system(self, finger: _Finger, x: float, y: float) -> None:
        zone = finger.zone.removeprefix("claimed ")
        far = self._phone.compositor.scene(finger.display).metrics.px(SWIPE_DP)
        if max(abs(x - finger.x), abs(y - finger.y)) < far:
            return
        name = {"bottom": "home", "top": "shade", "left": "back", "right": "back"}[zone]
        if zone == "top" and finger.x > self._phone.compositor.scene(finger.display).width * 0.75:
            name = "quick_settings"
        self._phone.navigation.go(name)

    def _swiped(self, finger: _Finger, x: float, y: float) -> bool:
        """Offer a finished swipe to the nearest view that takes swipes; return whether one did."""
        if finger.surface is None or finger.dragging is not None:
            return False
        dx, dy = x - finger.x, y - finger.y
        if finger.scroller is not None and abs(dy) > abs(dx):
            return False
        scene = self._phone.compositor.scene(finger.display)
        if max(abs(dx), abs(dy)) < scene.metrics.px(SWIPE_DP):
            return False
        if abs(dx) > abs(dy):
            direction = "left" if dx < 0 else "right"
        else:
            direction = "up" if dy < 0 else "down"
        return any(
            view.on_swipe is not None and self._offer(view.on_swipe, direction, finger.surface)
            for view in reversed(finger.path)
        )

    def _offer(self, swipe: Callable[[str], bool], direction: str, surface: Surface) -> bool:
        """Let a view have a swipe; return whether it took it, or failed trying."""
        taken: list[bool] = []
        self._phone.run(lambda: taken.append(swipe(direction)), surface)
        return taken != [False]

    def _long_press(self, finger: _Finger) -> None:
        surface = finger.surface
        if finger.done or finger.moved or surface is None:
            return
        for view in reversed(finger.path):
            if view.on_long_click is not None and view.enabled:
                finger.done = True
                self._phone.pressed.show("")
                self._phone.run(view.on_long_click, surface)
                return
            if view.kind is Kind.FIELD and view.enabled:
                finger.done = True
                self._phone.focus.view(surface, view, keyboard=True)
                state = field_state(surface.page, view)
                m = self._phone.compositor.scene(finger.display).metrics
                editing.select_word(state, caret.offset_at(view, m, finger.x, finger.y))
                self._phone.focus.offer_text_tools(surface.page)
                return
            if view.acts:
                return

    def _click(self, finger: _Finger) -> None:
        surface = finger.surface
        if surface is None:
            return
        scene = self._phone.compositor.scene(finger.display)
        current = scene.surface_at(finger.x, finger.y)
        if current is None or not _same_window(current, surface):
            return
        surface = finger.surface = current
        finger.path = path_at(surface.root, finger.x, finger.y)
        if not surface.frame.contains(finger.x, finger.y) or not finger.path:
            if surface.modal and surface.on_dismiss is not None:
                self._phone.run(surface.on_dismiss, surface)
            return
        if finger.dragging is not None:
            self._drag(finger, finger.x)
            return
        target = self._target(finger)
        if target is None or not target.enabled:
            return
        if target.kind is Kind.FIELD:
            self._phone.focus.view(surface, target, keyboard=True)
            state = field_state(surface.page, target)
            m = scene.metrics
            editing.move_to(state, caret.offset_at(target, m, finger.x, finger.y))
            self._phone.invalidate()
        if target.on_click is not None:
            self._phone.run(target.on_click, surface)


def _same_window(one: Surface, other: Surface) -> bool:
    """Return whether two scenes' surfaces are the same window; scenes are new at each change."""
    return one.page is other.page and (one.title, one.type) == (other.title, other.type)
