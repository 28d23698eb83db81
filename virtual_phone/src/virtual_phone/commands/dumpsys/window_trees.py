"""What `uiautomator dump --windows` writes: every window of every display, each with its tree.

The form is that of AOSP's `AccessibilityNodeInfoDumper.dumpWindowRec`, Android 11 and later. Not
the writing of one tree (`virtual_phone.ui.dump`). Invariant: a display without a window is left
out.
"""

from typing import TYPE_CHECKING

from virtual_phone.ui.dump import HEAD, dump, escape
from virtual_phone.uiautomator.nodes import windows

if TYPE_CHECKING:
    from virtual_phone.display.scene import Surface
    from virtual_phone.phone import Phone


def dump_displays(phone: "Phone", *, compressed: bool) -> str:
    parts = [HEAD, "<displays>"]
    for display in phone.displays.all():
        found = windows(phone.compositor.scene(display.id))
        if not found:
            continue
        rotation = phone.rotation.quarters if display.id == 0 else 0
        parts.append(f'<display id="{display.id}">')
        for index, surface in enumerate(found):
            xml = dump(surface.root, surface.package, rotation, compressed=compressed)
            parts.append(_window(surface, index, len(found)))
            parts += [xml.removeprefix(HEAD), "</window>"]
        parts.append("</display>")
    parts.append("</displays>")
    return "".join(parts)


def _window(surface: "Surface", index: int, count: int) -> str:
    frame = surface.frame
    active = "true" if index == 0 else "false"
    kind = "TYPE_APPLICATION" if surface.type == "BASE_APPLICATION" else "TYPE_SYSTEM"
    return (
        f'<window index="{index}" title="{escape(surface.title)}" '
        f'bounds="[{frame.left},{frame.top}][{frame.right},{frame.bottom}]" active="{active}" '
        f'focused="{active}" accessibility-focused="false" id="{surface.token}" '
        f'layer="{count - index}" type="{kind}">'
    )
