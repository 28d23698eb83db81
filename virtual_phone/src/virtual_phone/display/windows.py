"""The windows of a phone as `dumpsys window` and `uiautomator dump` see them."""

from typing import TYPE_CHECKING

from virtual_phone.display.scene import Scene, Surface
from virtual_phone.state.records import NotIdleError, NullRootError, WindowInfo
from virtual_phone.task_stack import short_component
from virtual_phone.ui.dump import dump

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class Windows:
    """Look at the windows of one phone."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone

    def all(self, display: int = 0) -> list[WindowInfo]:
        """Return the windows of a display, topmost first."""
        scene = self._phone.compositor.scene(display)
        focused = scene.focused()
        return [_info(s, scene, focused) for s in reversed(scene.surfaces)]

    @property
    def focused(self) -> WindowInfo | None:
        """The window that has the focus on the default display."""
        scene = self._phone.compositor.scene()
        surface = scene.focused()
        return None if surface is None else _info(surface, scene, surface)

    @property
    def focused_app(self) -> str:
        """The component in front on the default display, as `pkg/.Activity`."""
        top = self._phone.tasks.top()
        return "" if top is None else short_component(top[0].package, top[1].activity)

    def dump(self, *, compressed: bool = False, display: int = 0) -> str:
        """Return the focused window's tree as `uiautomator dump` writes it.

        Raises:
            NotIdleError: something is moving on the screen.
            NullRootError: no window has a tree.
        """
        if not self._phone.animations.idle:
            raise NotIdleError(
                "ERROR: could not get idle state.", "Wait until the animation has ended."
            )
        surface = self._phone.compositor.scene(display).focused()
        if surface is None:
            raise NullRootError(
                "ERROR: null root node returned by UiTestAutomationBridge.",
                "Wake the screen or start an activity.",
            )
        quarters = self._phone.rotation.quarters if not display else 0
        return dump(surface.root, surface.package, quarters, compressed=compressed)


def _info(s: Surface, scene: Scene, focused: Surface | None) -> WindowInfo:
    return WindowInfo(
        s.title,
        s.package,
        s.activity,
        s.token,
        s.type,
        s.frame,
        scene.display,
        s.task_id,
        s is focused,
        s.secure,
    )
