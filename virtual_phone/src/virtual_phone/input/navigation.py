"""System navigation: Back, Home, Recents and the shade, by buttons and by swipes from an edge."""

from typing import TYPE_CHECKING

from virtual_phone.display.scene import Scene
from virtual_phone.input.touch import EDGE_DP

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class Navigation:
    """Navigate one phone."""

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone

    def zone(self, scene: Scene, x: float, y: float) -> str:
        """Return which edge a touch starts at, if system gestures start there."""
        from virtual_phone.display.overlays import nav_dp
        from virtual_phone.system.bars import STATUS_DP

        phone = self._phone
        if scene.display != 0:
            return ""
        m = scene.metrics
        if y < m.px(STATUS_DP) and not phone.shade.shown:
            return "top"
        if phone.power.locked or phone.settings.get("secure", "navigation_mode") == "0":
            return ""
        if y >= scene.height - m.px(nav_dp(phone)):
            return "bottom"
        if x < m.px(EDGE_DP):
            return "left"
        return "right" if x >= scene.width - m.px(EDGE_DP) else ""

    def go(self, name: str) -> bool:
        """Do `back`, `home`, `recents`, `drawer`, `shade` or `quick_settings`."""
        match name:
            case "back":
                return self._back()
            case "home":
                self._phone.activities.go_home()
            case "recents" | "drawer":
                self._phone.activities.go_home(name)
            case "shade" | "quick_settings":
                self._phone.state_record.keyboard_shown = False
                self._phone.animations.begin()
                self._phone.shade.open(expanded=name == "quick_settings")
            case _:
                return False
        return True

    def _back(self) -> bool:
        phone = self._phone
        if phone.focus.keyboard_shown:
            phone.focus.hide_keyboard()
            return True
        surface = phone.compositor.scene().focused()
        if surface is None:
            return False
        if surface.on_back is not None:
            handled = False

            def act() -> None:
                nonlocal handled
                handled = bool(surface.on_back and surface.on_back())

            phone.run(act, surface)
            if handled:
                return True
        if phone.tasks.task_of(surface.page) is None:
            return False
        phone.activities.close(surface.page)
        return True
