"""`dumpsys display` and `dumpsys input`: the panels, and what touches them.

The lines of `display` are in the table of that name. Invariant: each value is a state that the
phone really has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virtual_phone.phone import Phone
    from virtual_phone.state.records import DisplayState

FIRST_PHYSICAL_ID = 4_619_827_259_835_644_672


def physical_id(display: int) -> str:
    """Return the long id that SurfaceFlinger gives a display."""
    return str(FIRST_PHYSICAL_ID + display)


def dump_display(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys display`."""
    del words
    table = phone.form_factor.lines("display")
    found = [_values(phone, entry) for entry in phone.displays.all()]
    count = {"count": str(len(found))}
    on = "ON" if phone.power.screen_on else "OFF"
    viewports = ", ".join(line for one in found for line in table["viewport"].lines(one))
    head = {"state": on, "viewports": viewports, "next_id": str(int(found[-1]["id"]) + 1)}
    rows = [*table["head"].lines(head), *table["states"].lines(count)]
    for one in found:
        rows += table["state"].lines(one)
    rows += table["devices"].lines(count)
    for one in found:
        rows += table["device"].lines(one)
    rows += table["logical"].lines(count)
    for one in found:
        rows += table["display"].lines(one)
    return "\n".join(rows + table["tail"].lines(head))


def _values(phone: Phone, entry: DisplayState) -> dict[str, str]:
    width, height, density = phone.displays.size(entry.id)
    built = phone.form_factor.posture if entry.id == 0 else entry
    further = phone.form_factor.profile.further(entry.id)
    kind = "INTERNAL" if entry.id == 0 else further.type if further else "VIRTUAL"
    local = f"local:{physical_id(entry.id)}"
    return {
        "id": str(entry.id),
        "name": entry.name,
        "unique": local if kind != "VIRTUAL" else f"virtual:com.android.shell,2000,{entry.name},0",
        "type": kind,
        "width": str(built.width),
        "height": str(built.height),
        "density": str(density),
        "now_width": str(width),
        "now_height": str(height),
        "shortest": str(min(width, height)),
        "longest": str(max(width, height)),
        "rotation": str(phone.rotation.quarters if entry.id == 0 else 0),
        "touch": "INTERNAL" if entry.id == 0 and phone.form_factor.profile.touchscreen else "NONE",
        "state": "ON" if phone.power.screen_on else "OFF",
        "flags": ", FLAG_ALLOWED_TO_BE_DEFAULT_DISPLAY" if entry.id == 0 else "",
    }


def dump_input(phone: Phone, words: list[str]) -> str:
    """Return `dumpsys input`."""
    del words
    width, height = phone.displays.width, phone.displays.height
    focus = phone.windows.focused
    rows = ["INPUT MANAGER (dumpsys input)", "", "Event Hub State:", "  Devices:"]
    if phone.form_factor.profile.touchscreen:
        rows += [
            "    2: virtual_touchscreen",
            "      Classes: KEYBOARD | TOUCH | TOUCH_MT",
            "      Path: /dev/input/event1",
            "",
            "Input Reader State:",
            "  Device 2: virtual_touchscreen",
            "    Touch Input Mapper (mode - DIRECT):",
            f"      SurfaceWidth: {width}px",
            f"      SurfaceHeight: {height}px",
            f"      SurfaceOrientation: {phone.rotation.quarters}",
        ]
    else:
        rows += [
            "    2: virtual_remote",
            "      Classes: KEYBOARD | DPAD",
            "      Path: /dev/input/event1",
            "",
            "Input Reader State:",
            "  Device 2: virtual_remote",
        ]
    top = phone.displays.top
    return "\n".join(
        [
            *rows,
            "",
            "Input Dispatcher State:",
            f"  FocusedDisplayId: {top}",
            "  FocusedApplications:",
            f"    displayId=0, name='{phone.windows.focused_app}', dispatchingTimeout=5000ms",
            "  FocusedWindows:",
            f"    displayId=0, name='{focus.token_hex + ' ' + focus.title if focus else ''}'",
        ]
    )
