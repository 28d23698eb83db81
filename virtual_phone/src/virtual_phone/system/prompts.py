"""The system's dialogs over an app: a permission, an app that stopped, the power menu.

Not what they look like (`virtual_phone.system.dialogs`). Invariant: at most one is shown.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from virtual_phone.running import Change
from virtual_phone.state.records import PageState

if TYPE_CHECKING:
    from virtual_phone.phone import Phone


class Prompts:
    """Ask, and do what is answered.

    Args:
        phone: over whose apps they are shown.
    """

    def __init__(self, phone: "Phone") -> None:
        self._phone = phone
        self._after: Callable[[], None] | None = None
        self.last_anr: tuple[float, str] = (0.0, "")
        """When an app last did not respond, and what the window manager kept of that."""

    def require_permission(self, package: str, permission: str, then: Callable[[], None]) -> None:
        """Do something that needs a permission: at once when granted, else ask."""
        if permission in self._phone.permissions.of(package):
            then()
            return
        self._after = then
        self._show(kind="permission", package=package, permission=permission)

    def crash(self, package: str, *, hangs: bool = False) -> None:
        """Show the dialog of an app that stopped, or of one that hangs."""
        if not hangs:
            self._phone.processes.end(package, Change.CRASHED)
            self._phone.tasks.remove(package)
        self._show(kind="anr" if hangs else "crash", package=package)

    def show_power_menu(self) -> None:
        """Show what a power button that is held offers."""
        self._phone.shade.shown = ""
        self._show(kind="power")

    def answer(self, answer: str) -> None:
        """Answer the dialog that is shown."""
        phone = self._phone
        prompt = phone.state_record.system.pop("prompt", None)
        then, self._after = self._after, None
        if prompt is None:
            return
        package = prompt.local.get("package", "")
        if prompt.local.get("kind") == "permission":
            if answer in ("allow", "once"):
                phone.permissions.grant(package, prompt.local.get("permission", ""))
                if then is not None:
                    phone.run(then)
        elif prompt.local.get("kind") == "power":
            if answer == "lock":
                phone.power.sleep()
            elif answer in ("restart", "power_off") and phone.power.on_power is not None:
                phone.power.on_power("" if answer == "restart" else "shutdown")
        elif answer == "close":
            phone.tasks.remove(package)
        elif answer == "app_info":
            phone.activities.open(
                PageState(""),
                "com.android.settings",
                "com.android.settings.applications.InstalledAppDetails",
                {"package": package},
            )
        phone.invalidate()

    def forget(self) -> None:
        """Do nothing after an answer: the phone is another from now on."""
        self._after = None
        self.last_anr = (0.0, "")

    def _show(self, **about: str) -> None:
        record = self._phone.state_record
        record.system["prompt"] = PageState("prompt", local=about)
        record.keyboard_shown = False
        self._phone.invalidate()
