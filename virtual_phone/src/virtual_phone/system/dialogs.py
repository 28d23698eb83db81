"""Dialogs that the system shows over an app: permissions, crashes, an app that hangs.

What is asked is kept in a page state, so it survives a restart. Invariant: every dialog has an
answer that leaves the phone usable.
"""

from collections.abc import Callable

from virtual_phone.app import Host
from virtual_phone.state.records import PageState
from virtual_phone.system.power_menu import power_menu
from virtual_phone.ui.patterns import alert
from virtual_phone.ui.views import MATCH, Align, TextStyle, View
from virtual_phone.ui.vocabulary import TITLE, button, column, edges, icon, row, styled, text

PERMISSION_UI = "com.android.permissioncontroller"
QUESTIONS: dict[str, tuple[str, str]] = {
    "android.permission.CAMERA": ("camera", "take pictures and record video"),
    "android.permission.READ_CONTACTS": ("contacts", "access your contacts"),
    "android.permission.SEND_SMS": ("chat", "send and view SMS messages"),
    "android.permission.RECORD_AUDIO": ("mic", "record audio"),
    "android.permission.ACCESS_FINE_LOCATION": ("location", "access this device's location"),
    "android.permission.POST_NOTIFICATIONS": ("bell", "send you notifications"),
    "android.permission.READ_MEDIA_IMAGES": ("image", "access photos on this device"),
}
ONE_TIME = {
    "android.permission.CAMERA",
    "android.permission.RECORD_AUDIO",
    "android.permission.ACCESS_FINE_LOCATION",
}


def title_of(prompt: PageState) -> str:
    if prompt.local.get("kind") == "power":
        return "GlobalActions"
    package = prompt.local.get("package", "")
    if prompt.local.get("kind") == "permission":
        return f"{PERMISSION_UI}/{activity_of(prompt)}"
    if prompt.local.get("kind") == "crash":
        return f"Application Error: {package}"
    return f"Application Not Responding: {package}"


def activity_of(prompt: PageState) -> str:
    """Return the activity of a dialog, empty for windows of the system itself."""
    if prompt.local.get("kind") == "permission":
        return "com.android.permissioncontroller.permission.ui.GrantPermissionsActivity"
    return ""


def prompt(host: Host, state: PageState) -> tuple[View, str, Callable[[], bool]]:
    """Return a dialog's view, the package of its window, and what Back does."""
    package = state.local.get("package", "")
    info = host.packages.get(package)
    label = info.label if info is not None else package

    def back() -> bool:
        kind = state.local.get("kind", "")
        host.prompts.answer({"permission": "deny", "power": "nothing"}.get(kind, "close"))
        return True

    if state.local.get("kind") == "permission":
        return _permission(host, state, label), PERMISSION_UI, back
    if state.local.get("kind") == "power":
        return power_menu(host.prompts.answer), "com.android.systemui", back
    crash = state.local.get("kind") == "crash"
    title = f"{label} keeps stopping" if crash else f"{label} isn't responding"
    names = [("aerr_app_info", "info", "App info"), ("aerr_close", "close", "Close app")]
    if not crash:
        names = [("aerr_close", "close", "Close app"), ("aerr_wait", "clock", "Wait")]

    def option(name: str, drawing: str, label: str) -> View:
        return row(
            icon(drawing, 22, "text2"),
            text(label, TextStyle(16, 400), weight=1),
            on_click=lambda: host.prompts.answer(name.removeprefix("aerr_")),
            id=f"android:id/{name}",
            cls="android.widget.Button",
            desc="",
            width=MATCH,
            min_height=54,
            gap=18,
            pad=edges(4, 0),
            radius=14,
        )

    body = column(*(option(*n) for n in names), margin=(0, 12, 0, 0))
    return alert(title, "", body=body), "android", back


def _permission(host: Host, state: PageState, label: str) -> View:
    permission = state.local.get("permission", "")
    drawing, what = QUESTIONS.get(permission, ("security", permission.rpartition(".")[2].lower()))
    one_time = permission in ONE_TIME
    ids = "com.android.permissioncontroller:id/permission_allow"
    choices = [(f"{ids}_button", "allow", "Allow")]
    if one_time:
        choices = [
            (f"{ids}_foreground_only_button", "allow", "While using the app"),
            (f"{ids}_one_time_button", "once", "Only this time"),
        ]
    choices.append(
        ("com.android.permissioncontroller:id/permission_deny_button", "deny", "Don't allow")
    )

    def choice(id: str, answer: str, label: str) -> View:
        return button(
            label,
            lambda: host.prompts.answer(answer),
            look="tonal",
            id=id,
            width=MATCH,
            height=54,
            radius=18,
        )

    return column(
        icon(
            drawing,
            30,
            "accent",
            halign=Align.CENTER,
            id="com.android.permissioncontroller:id/permission_icon",
        ),
        text(
            f"Allow {label} to {what}?",
            styled(TITLE, size=20, align=Align.CENTER),
            id="com.android.permissioncontroller:id/permission_message",
            width=MATCH,
        ),
        column(*(choice(*c) for c in choices), gap=4, margin=(0, 10, 0, 0)),
        width=MATCH,
        pad=(24, 28, 24, 24),
        gap=14,
        fill="surface",
        radius=28,
        elevation=8,
        id="com.android.permissioncontroller:id/grant_dialog",
    )
